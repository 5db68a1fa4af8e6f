"""Markdown, code, words and pages as HTML: what is safe, relative, and the same every time."""

from __future__ import annotations

import pkgutil
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jinja2 import DictLoader, Environment, UndefinedError
from markupsafe import Markup

import generator
from generator import model, words
from generator.catalogue import Catalogue
from generator.checks.texts import texts
from generator.content import LoadedEntry
from generator.highlight import highlight, highlight_pair
from generator.load import load
from generator.markdown import _PLAIN_LINE, _PLAIN_PARAGRAPHS, Markdown, is_safe_link
from generator.model import Entry
from generator.pages import all_pages
from generator.render import (
    STYLES,
    STYLES_OF_PAGES,
    Compiled,
    Renderer,
    contents,
    family_symbols,
    stylesheets,
)

from . import golden

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def markdown() -> Markdown:
    return Markdown()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a <b>c</b>", "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("[x](../y/)", '<p><a href="../y/">x</a></p>\n'),
        ("<https://example.org/>", '<p><a href="https://example.org/">https://example.org/</a></p>\n'),
        ("![x](https://example.org/a.png)", '<p>!<a href="https://example.org/a.png">x</a></p>\n'),
        ("# a", "<h4>a</h4>\n"),
        ("## a", "<h4>a</h4>\n"),
        ("### a", "<h5>a</h5>\n"),
    ],
)
def test_blocks(markdown: Markdown, text: str, html: str) -> None:
    assert markdown.blocks(text, heading_level=4) == html


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://example.org", True),
        ("HTTP://example.org", True),
        ("mailto:a@example.org", True),
        ("../verify/#grades", True),
        ("#anchor", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("\x01javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("vbscript:x", False),
        ("file:///etc/passwd", False),
        ("//example.org/", False),
        ("\\\\example.org", False),
        ("/\\example.org", False),
        ("%5C%5Cexample.org", False),
        ("/about/", True),
    ],
)
def test_links(url: str, safe: bool) -> None:
    assert is_safe_link(url) is safe


def test_tables_have_no_style_attribute(markdown: Markdown) -> None:
    html = markdown.blocks("| a | b |\n|---|--:|\n| 1 | 2 |")
    assert '<th scope="col" class="end">b</th>' in html
    assert "style" not in html


def test_a_table_is_named_by_its_columns_and_an_empty_head_is_no_head(markdown: Markdown) -> None:
    html = markdown.blocks("| | `a` <b | c |\n|---|---|--:|\n| 1 | 2 | 3 |")
    assert 'aria-label="Table: a &lt;b, c"' in html
    assert "<tr>\n<td></td>\n<th" in html
    assert html.count("<th") - html.count("<thead") == html.count("</th>") == 2


def test_headings_with_anchors_that_differ(markdown: Markdown) -> None:
    html = markdown.blocks("## One `x`\n\n## One x\n", heading_level=2, anchors=True)
    assert re.findall(r'<h2 id="([^"]+)"', html) == ["one-x", "one-x-2"]


def test_code_is_escaped_with_and_without_a_lexer() -> None:
    for language in ("python", "text", "no-such-language"):
        assert "<script>" not in highlight("'<script>'", language)
    assert '<span class="k">' in highlight("while True: pass", "python")


def test_pair_marks_the_lines_that_differ() -> None:
    failing, repaired = highlight_pair("a = 1\nb = 2\n", "a = 1\nb = 3\nc = 4\n", "python")
    assert failing.count('class="line gone"') == 1
    assert repaired.count('class="line new"') == 2
    unlike = highlight_pair("a = 1\n", "b = 2\n", "python")
    assert "line" not in "".join(unlike)


@pytest.mark.parametrize(
    ("specifiers", "text"),
    [
        ("*", "any version"),
        (">=0.9.5,<=0.19.8", "0.9.5 to 0.19.8"),
        (">=1.0, <2", "1.0 to before 2"),
        (">=2.1", "2.1 and later"),
        ("<=0.13.1", "up to 0.13.1"),
        ("<3", "before 3"),
        ("==0.9.0", "0.9.0"),
        (">=1,<=1", "1"),
        ("~=1.4", "~=1.4"),
        (">=1,!=1.3", ">=1, !=1.3"),
    ],
)
def test_version_range(specifiers: str, text: str) -> None:
    assert words.version_range(specifiers) == text


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (model.Role, words.ROLES),
        (model.PrintedBy, words.PRINTED_BY),
        (model.Grade, words.GRADES),
        (model.Restart, words.RESTARTS),
        (model.Restart, words.RESTARTS_SHORT),
        (model.Effect, words.EFFECTS),
        (model.Domain, words.DOMAINS),
        (model.Touched, words.TOUCHED),
        (model.Stage, words.STAGES),
        (model.Offload, words.OFFLOADS),
        (model.Diagnosis, words.LOGS),
        (model.ReferenceKind, words.REFERENCES),
        (model.Snippet.model_fields["language"].annotation, words.LANGUAGES),
    ],
)
def test_every_name_of_the_model_has_words(names: Any, said: dict[str, str]) -> None:
    assert set(get_args(names)) == set(said)
    assert set(words.REACH) == set(model.Reach.model_fields)
    assert set(words.COSTS) == set(model.Cost.model_fields)


def test_each_family_has_a_sign_of_its_own() -> None:
    content, _ = load(ROOT / "content")
    signs = family_symbols(content.families)
    assert len(set(signs.values())) == len(content.families)
    assert (signs["zero"], signs["communication"], signs["configuration"]) == ("Ze", "Co", "Cn")


def test_contents_nest_and_carry_views() -> None:
    html = (
        '<section data-views="engineer on-call"><h2 id="a">A</h2>'
        '<section data-views="engineer" class="wide">\n<h3 id="b">B</h3></section></section>'
    )
    assert [(item.id, [below.id for below in item.below]) for item in contents(html)] == [("a", ["b"])]
    assert contents(html)[0].views == "engineer on-call"


def test_links_are_relative_and_404_knows_the_base_path() -> None:
    made = golden.rendered()
    for path, html in made.items():
        for url in re.findall(r'(?:href|src|action)="([^"]*)"', html):
            rooted = url.startswith("/")
            assert not rooted or (path == "404.html" and url.startswith("/manual/")), (path, url)
    assert f'<link rel="canonical" href="{golden.BASE_URL}about/">' in made["about/index.html"]


def test_without_an_address_there_is_no_canonical_link() -> None:
    content = golden.catalogue()
    renderer = Renderer(content)
    html = b"".join(renderer.render(page).data for page in all_pages(content)).decode()
    assert "canonical" not in html
    assert 'href="/css/site.css"' in html  # of 404.html


def test_the_search_form_takes_nothing_along() -> None:
    for html in golden.rendered().values():
        assert not re.search(r'<input id="q"[^>]* name=', html)


def test_compiled_templates_that_cannot_be_kept_are_no_error(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    environment = Environment(loader=DictLoader({"a": "{{ 1 + 1 }}"}), bytecode_cache=Compiled(str(gone)))
    assert environment.get_template("a").render() == "2"
    gone.mkdir()
    kept = Environment(loader=DictLoader({"a": "{{ 1 + 1 }}"}), bytecode_cache=Compiled(str(gone)))
    assert kept.get_template("a").render() == "2"
    assert len(list(gone.iterdir())) == 1


def test_two_renderings_are_alike() -> None:
    assert golden.rendered() == golden.rendered()


class Tags(HTMLParser):
    """Names of the elements, and of their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}


PAYLOAD = " \"'><img src=x onerror=alert(1)><script>alert(1)</script>{{{{ 7*7 }}}}&amp;"


def poisoned(value: Any) -> Any:
    """The value with the payload at the end of every sentence-like text."""
    if isinstance(value, dict):
        return {key: poisoned(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [poisoned(item) for item in value]
    if isinstance(value, str) and " " in value:
        return value + PAYLOAD
    return value


def test_hostile_text_stays_text() -> None:
    content = golden.catalogue().content
    loaded = next(item for item in content.entries if item.entry.status == "complete")
    entry = Entry.model_validate(poisoned(loaded.entry.model_dump(by_alias=True)))
    hostile = LoadedEntry(loaded.slug, entry, loaded.positions, loaded.files)
    catalogue = Catalogue(replace(content, entries=(hostile,)))
    renderer = Renderer(catalogue)
    for page in all_pages(catalogue):
        html = renderer.render(page).data.decode()
        tags = Tags(html)
        assert "img" not in tags.elements, page.path
        assert not {"style", "onerror"} & tags.attributes, page.path
        assert "<script>" not in html, page.path


def test_stylesheet_has_all_parts_and_no_comments() -> None:
    files = {path.stem for path in (ROOT / "static" / "css").glob("*.css")}
    assert files == {*STYLES, *STYLES_OF_PAGES}
    made = {file.path: file.data.decode() for file in stylesheets()}
    assert set(made) == {"css/site.css", *(f"css/{name}.css" for name in STYLES_OF_PAGES)}
    assert not any("/*" in text for text in made.values())
    text = made["css/site.css"]
    assert text.index("--paper") < text.index("@media print")


_SIGNS = (
    "word",
    "  ",
    "\n\n",
    "``",
    "- ",
    "[x](y)",
    "<b>",
    "&amp;",
    "://",
    "===",
    "1. ",
    "`x_y`",
    "a_b",
    "```",
    "~~~",
    "+ ",
)
_PIECES = st.lists(st.sampled_from([*_SIGNS, *"a1 \n`_*-#|&\"'<>\\!\té"]), max_size=12).map("".join)


@given(_PIECES)
@example("` `` `")
@example("a_ b_ c_d")
@settings(max_examples=400)
def test_the_fast_way_gives_what_the_parser_gives(markdown: Markdown, text: str) -> None:
    assert markdown.inline(text) == markdown._parser.renderInline(text)
    assert markdown.unmarked(text) == Markup(markdown._parser.renderInline(text)).striptags()
    assert markdown.blocks(text) == markdown._parser.render(text, {"level": 4, "anchors": None})


def test_every_text_is_the_same_in_the_fast_way(markdown: Markdown) -> None:
    fast = 0
    for loaded in load(ROOT / "content")[0].entries:
        for text in texts(loaded.entry):
            if text.kind == "inline":
                fast += _PLAIN_LINE.fullmatch(text.value) is not None
                slow = markdown._parser.renderInline(text.value)
                assert markdown.inline(text.value) == slow
                assert markdown.unmarked(text.value) == Markup(slow).striptags()
            elif text.kind == "markdown":
                fast += _PLAIN_PARAGRAPHS.fullmatch(text.value) is not None
                assert markdown.blocks(text.value) == markdown._parser.render(
                    text.value, {"level": 4, "anchors": None}
                )
    assert fast > 5000


def test_a_template_that_asks_for_what_is_not_there_ends_the_build(tmp_path: Path) -> None:
    for number, asked in enumerate(("{{ page.nothing }}", "{{ nothing }}", "{{ nothing.more }}")):
        templates = tmp_path / str(number) / "templates"
        shutil.copytree(ROOT / "templates", templates)
        (templates / "404.html").write_text(asked)
        renderer = Renderer(Catalogue(load(golden.CONTENT)[0]), root=templates.parent)
        with pytest.raises((AttributeError, UndefinedError), match="nothing"):
            renderer.render(next(page for page in all_pages(renderer._catalogue) if page.kind == "404"))


def _possessive_groups(parts: Any) -> Iterator[Any]:
    """Of an expression, possessive repeats of more than one character, and atomic groups."""
    for kind, what in parts:
        if kind is _constants.ATOMIC_GROUP or (
            kind is _constants.POSSESSIVE_REPEAT
            and [inner for inner, _ in what[2]]
            not in ([_constants.IN], [_constants.LITERAL], [_constants.ANY])
        ):
            yield kind
        for each in what if isinstance(what, (tuple, list)) else (what,):
            inside = each if isinstance(each, list) else [each]
            for part in inside:
                if isinstance(part, _parser.SubPattern):
                    yield from _possessive_groups(part)


def test_no_module_has_an_expression_with_a_possessive_group() -> None:
    """Before 3.11.5 Python takes one with choices in it to match nothing; plain Markdown went the slow way."""
    assert list(_possessive_groups(_parser.parse("a(?:b|[^c]++)*+"))) != []
    assert list(_possessive_groups(_parser.parse("(?:a|(?>b))"))) != []
    found = []
    for module in pkgutil.walk_packages(generator.__path__, "generator."):
        if module.name in ("generator.wheel", "generator.__main__"):
            continue
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, re.Pattern) and list(
                _possessive_groups(_parser.parse(value.pattern, value.flags))
            ):
                found.append(f"{module.name}.{name}")
    assert found == []
