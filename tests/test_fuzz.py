"""No signature, log, address, text or query of a stranger's raises, hangs, or stands in a page unescaped.

Each test has a short form for ``make test`` and a long one for ``make soak``. YAML is fuzzed in test_load, damaged
real logs in test_diagnose_mutated.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page
from pydantic import TypeAdapter, ValidationError

from generator import model
from generator.bundle import BundleShape, bundle
from generator.catalogue import Catalogue
from generator.checks.markup import _problems
from generator.content import LoadedEntry, TextPage
from generator.diagnose.command import diagnose, printed
from generator.diagnose.engine import Engine, Logs
from generator.find import Finder
from generator.find_index import SearchShape, find_index
from generator.load import load
from generator.markdown import Markdown
from generator.model import Entry
from generator.pages import all_pages
from generator.render import Renderer
from generator.signature import TemplateError, compile_template

from . import golden
from .conftest import ROOT
from .hostile import CONTROLS, HARMLESS, HTML, LINKS, Tags, active_markup, harm_in_terminal, is_active
from .templates import KINDS, LITERALS, NOISE, lines_for

LENGTHS = pytest.mark.parametrize(
    "length", [1, pytest.param(30, marks=pytest.mark.soak)], ids=["short", "long"]
)
SECONDS = 5
"""Of processor time, for one input: thousands of times what it takes."""
SLUG = "zero3-weight-must-be-2-d"
HOSTILE = [*CONTROLS.values(), *HTML.values(), *LINKS.values(), *HARMLESS.values()]


def fuzzed(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))


@contextmanager
def bounded() -> Iterator[None]:
    started = time.process_time()
    yield
    assert time.process_time() - started < SECONDS


@cache
def real_bundle() -> dict[str, Any]:
    return bundle(Catalogue(load(ROOT / "content")[0]))


@cache
def engine() -> Engine:
    return Engine(real_bundle())


# --- signatures --------------------------------------------------------------------------------------

templates = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.one_of(
            st.sampled_from(
                [*LITERALS, *HOSTILE, "the message says ", "\n", "{", "}", "{int", "{:", "{any}{any}"]
            ),
            st.sampled_from(KINDS).map(lambda kind: f"{{{kind}}}"),
            st.text(max_size=8),
        ),
        max_size=12,
    ).map("".join),
)


@LENGTHS
def test_no_signature_raises_or_hangs(length: int) -> None:
    """From the model through bundle and index into their readers; refused is refused as such.

    What is found by a whole template is found by a cut one, too.
    """

    @fuzzed(80 * length)
    @given(st.data(), templates)
    def check(data: st.DataObject, template: str) -> None:
        try:
            with bounded():
                compile_template(template)
            entry = entry_with(signature=template)
        except (TemplateError, ValidationError):
            return
        template = entry.signatures[0].text
        with bounded():
            catalogue = golden_with(entry)
            made = bundle(catalogue)
            BundleShape.model_validate_json(json.dumps(made), strict=False)
            html = Renderer(catalogue).render(page_of(catalogue)).data.decode()
            assert set(Tags(html).elements) <= set(usual().elements)
            line = "\n".join(data.draw(lines_for(part)) for part in template.split("\n"))
            index = find_index(catalogue)
            SearchShape.model_validate_json(json.dumps(index), strict=False)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("generator.find_index.TEMPLATE_CHARACTERS", 0)
                cut = find_index(catalogue)
            by_whole, by_cut = (
                {one.entry for one in Finder(each).find(line) if one.how == "signature"}
                for each in (index, cut)
            )
            assert by_whole <= by_cut
            Engine(made).diagnose([("log", io.BytesIO(f"[rank0]: {line}\n".encode("utf-8", "replace")))])

    check()


def entry_with(signature: str) -> Entry:
    """The golden entry with another text in its first signature. Raises ValidationError."""
    value = golden.catalogue().by_slug[SLUG].entry.model_dump(by_alias=True)
    value["signatures"][0]["text"] = signature
    return Entry.model_validate(value)


def golden_with(entry: Entry) -> Catalogue:
    """The golden content with this entry alone."""
    content = golden.catalogue().content
    loaded = next(each for each in content.entries if each.slug == SLUG)
    return Catalogue(replace(content, entries=(LoadedEntry(SLUG, entry, loaded.positions, loaded.files),)))


def page_of(catalogue: Catalogue) -> Any:
    return next(page for page in all_pages(catalogue) if page.kind == "entry")


@cache
def usual() -> Tags:
    """The elements and attributes of all pages of the content in which nothing is hostile."""
    return Tags("".join(text for path, text in golden.rendered().items() if path.endswith(".html")))


# --- logs --------------------------------------------------------------------------------------------

log_bytes = st.one_of(
    st.binary(max_size=400),
    st.lists(
        st.one_of(
            st.sampled_from(
                [
                    *(text.encode() for text in [*HOSTILE, *NOISE[:-3]]),
                    *(b"\xed\xa0\x80", b"\xff\xfe", b"\xc0\x80", b"\r", b"\x00" * 9, b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"),
                    *(b"\n", b"\n[rank1]: ", b"\n3: ", b"\n(pid=7) ", b"\nworker-1 | ", b"\n[1,3]<stderr>:"),
                    *(b"Traceback (most recent call last):\n", b'  File "x.py", line 3, in f\n', b"ValueError: "),
                    *(b"exits with return code = -9", b"NCCL WARN ", b"CUDA error: ", b"Watchdog caught collective"),
                ]
            ),
            st.binary(max_size=20),
        ),
        max_size=40,
    ).map(b"".join),
)  # fmt: skip


@LENGTHS
def test_no_log_raises_hangs_or_reaches_the_terminal(length: int) -> None:
    @fuzzed(300 * length)
    @given(st.lists(st.tuples(st.text(max_size=12), log_bytes), min_size=1, max_size=3))
    def check(files: list[tuple[str, bytes]]) -> None:
        logs = Logs()
        with bounded():
            for name, data in files:
                engine().read(logs, name, io.BytesIO(data))
            conclusion = engine().conclude(logs)
            told = {fmt: printed(conclusion, real_bundle(), fmt) for fmt in ("text", "json", "markdown")}
        assert json.loads(told["json"]) == json.loads(json.dumps(conclusion.answer))
        assert {fmt: harm_in_terminal(text) for fmt, text in told.items()} == {fmt: [] for fmt in told}

    check()


@LENGTHS
def test_nothing_on_standard_input_raises(length: int) -> None:
    @fuzzed(30 * length)
    @given(log_bytes)
    def check(data: bytes) -> None:
        complaints: list[str] = []
        with pytest.MonkeyPatch.context() as patch, bounded():
            patch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
            text, code = diagnose(["-"], real_bundle(), "text", complaints.append)
        assert code in (0, 1)
        assert complaints == harm_in_terminal(text) == []

    check()


# --- addresses and marked-up text --------------------------------------------------------------------

SCHEMES = [
    *("javascript:", "JaVaScRiPt:", "java\tscript:", "data:text/html,", "vbscript:", "file:///", "http://", "https://"),
    *("mailto:", "//", "\\\\", "/\\", "\\/", "../", "#", "?", "", " ", "\x01", "\u2028", "&#106;avascript&colon;", "%6Aavascript:"),
    *("feature:", "x-y.z+1:", "blob:", "filesystem:", "view-source:", "about:", "ws://", "https:/\\", "https:", "http:\\\\"),
]  # fmt: skip
REST = [
    "example.com/",
    "a@example.com",
    "user:pass@example.com/",
    "alert(1)",
    "%0aalert(1)",
    "<b>",
    '" x="',
    "'",
    ")",
    "x y",
    "[::1]/",
    "é.example/",
]
addresses = st.lists(
    st.one_of(st.sampled_from([*SCHEMES, *REST]), st.text(max_size=5)), min_size=1, max_size=5
).map("".join)
markup = st.lists(
    st.one_of(
        st.sampled_from(
            [*HOSTILE, "`", "``", "```\n", "~~~", "\n", "\n\n", "- ", "1. ", "> ", "# ", "\\", "*", "**", "_", "![", "[", "]", "](", ")",
             "]: ", "<", ">", "&", "&lt;", "|a|b|\n|-|-|\n|", "    ", "\t", "---\n", "![x](y)", "[x][y]\n\n[y]: ", "``` \"><b\n"]
        ),
        addresses.map(lambda address: f"[x]({address})"),
        addresses.map(lambda address: f"[x](<{address}>)"),
        addresses.map(lambda address: f"<{address}>"),
        addresses.map(lambda address: f"[x][y]\n\n[y]: {address}\n\n"),
        st.text(max_size=10),
    ),
    max_size=12,
).map("".join)  # fmt: skip
BLOCKS = {
    *(
        "p",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "code",
        "em",
        "strong",
        "a",
        "hr",
        "br",
    ),
    *("div", "table", "thead", "tbody", "tr", "th", "td", "span"),
}
ATTRIBUTES = {
    *(
        ("a", "href"),
        ("a", "title"),
        ("ol", "start"),
        ("pre", "class"),
        ("pre", "tabindex"),
        ("span", "class"),
    ),
    *(("th", "scope"), ("th", "class"), ("td", "class"), ("code", "class")),
    *(("div", name) for name in ("class", "role", "aria-label", "tabindex")),
}


@LENGTHS
def test_no_markup_makes_more_than_text(length: int) -> None:
    """Whatever the checks say of it: elements of Markdown alone, links that are passive, all else is text."""

    @fuzzed(400 * length)
    @given(markup)
    def check(text: str) -> None:
        with bounded():
            made = [str(Markdown().blocks(text)), str(Markdown().inline(text))]
        for html in made:
            tags = Tags(html)
            assert set(tags.elements) <= BLOCKS
            assert tags.attributes <= ATTRIBUTES
            assert [link for link in tags.links if is_active(link)] == []

    check()


@LENGTHS
def test_the_check_finds_all_markup_that_would_do_something(length: int) -> None:
    @fuzzed(300 * length)
    @given(st.one_of(markup, addresses.map(lambda address: f"See [x]({address}) there.")))
    def check(text: str) -> None:
        with bounded():
            problems = list(_problems(text, False))
        assert problems or active_markup(text) == []

    check()


@LENGTHS
def test_no_address_that_the_model_takes_is_active(length: int) -> None:
    url = TypeAdapter(model.Url)

    @fuzzed(500 * length)
    @given(addresses)
    def check(address: str) -> None:
        try:
            taken = url.validate_python(address)
        except ValidationError:
            return
        assert not is_active(taken)
        assert not set(taken) & set('<>" \t\n\r')

    check()


@LENGTHS
def test_no_text_of_an_entry_or_page_stands_unescaped(length: int) -> None:
    """Pages whose plain texts and bodies are hostile have no element and no attribute that others lack."""
    plain = st.one_of(st.text(min_size=1, max_size=30), st.sampled_from(HOSTILE), addresses)

    @fuzzed(25 * length)
    @given(plain, plain, markup, addresses)
    def check(title: str, name: str, body: str, address: str) -> None:
        content = golden.catalogue().content
        loaded = next(each for each in content.entries if each.slug == SLUG)
        entry = loaded.entry
        # Without validation: what the model would refuse must not do harm either.
        reference = entry.references[0].model_copy(
            update={"title": name, "url": f"https://example.com/{address}"}
        )
        hostile = entry.model_copy(
            update={
                "title": title,
                "summary": body,
                "mechanism": body,
                "references": (reference, *entry.references[1:]),
            }
        )
        page = TextPage("about", title, name, body, content.pages[0].positions)
        changed = replace(
            content, entries=(LoadedEntry(SLUG, hostile, loaded.positions, loaded.files),), pages=(page,)
        )
        catalogue = Catalogue(changed)
        renderer = Renderer(catalogue, golden.BASE_URL)
        for each in all_pages(catalogue):
            if each.kind not in ("entry", "text", "home", "failures"):
                continue
            tags = Tags(renderer.render(each).data.decode())
            assert set(tags.elements) <= {*usual().elements, *BLOCKS}
            assert tags.attributes <= {*usual().attributes, *ATTRIBUTES}
            assert [link for link in tags.links if is_active(link)] == []

    check()


# --- search ------------------------------------------------------------------------------------------

words = st.sampled_from(
    [
        *HOSTILE,
        *NOISE,
        "gradient",
        "return code = -9",
        "CUDA error",
        "'weight' must be 2-D",
        "\n",
        "\r\n",
        " ",
        "__proto__",
        "constructor",
        "\ud800",
    ]
)
queries = st.one_of(
    st.text(max_size=80),
    st.lists(st.one_of(words, st.text(max_size=10)), max_size=12).map(" ".join),
    st.sampled_from("aA0.<'\"\\ \n").map(lambda character: character * 3_000),
)  # fmt: skip


@LENGTHS
def test_no_query_raises_or_hangs(length: int) -> None:
    finder = Finder(find_index(Catalogue(load(ROOT / "content")[0])))

    @fuzzed(200 * length)
    @given(queries)
    def check(text: str) -> None:
        with bounded():
            found = finder.find(text, 5)
        assert all(0 < one.score <= 1000 for one in found)
        assert len({one.entry for one in found}) == len(found) <= 5

    check()


ASK = """async (texts) => {
  const { SearchBox } = await import(new URL("js/search-box.js", document.querySelector("link[rel=icon]").href));
  const input = document.getElementById("q");
  const results = document.createElement("div");
  document.getElementById("search").append(results);
  const box = new SearchBox(document.getElementById("search"), input, results);
  input.focus();
  const found = { names: new Set(), attributes: new Set(), links: new Set(), slow: [] };
  for (const text of texts) {
    const started = performance.now();
    box.status.textContent = "";
    box.take(text);
    while (box.answered !== box.asked || (text.trim() !== "" && box.status.textContent === ""))
      await new Promise((resume) => setTimeout(resume));
    if (performance.now() - started > 5000) found.slow.push(text);
    for (const element of results.querySelectorAll("*")) {
      found.names.add(element.localName);
      for (const name of element.getAttributeNames()) found.attributes.add(name);
      if (element.hasAttribute("href")) found.links.add(element.href);
    }
  }
  return Object.fromEntries(Object.entries(found).map(([name, values]) => [name, [...values]]));
}"""
OF_THE_BOX = {"div", "a", "span", "p", "code", "mark"}


@LENGTHS
def test_no_query_harms_the_page(length: int, page: Page, address: str) -> None:
    """The search box in the browser; the fixture watches for errors and for other hosts."""
    page.goto(address + "about/")

    @fuzzed(2 * length)
    @given(st.lists(queries, min_size=25, max_size=25))
    def check(texts: list[str]) -> None:
        asked = [text.encode("utf-8", "replace").decode() for text in [*texts, "return code = -9"]]
        found = page.evaluate(ASK, asked)
        assert {"a", "code"} <= set(found["names"]) <= OF_THE_BOX
        assert [
            name for name in found["attributes"] if name.startswith("on") or name in ("src", "style")
        ] == []
        assert [link for link in found["links"] if not link.startswith(address)] == []
        assert found["slow"] == []
        assert page.evaluate("window.owned") is None

    check()
