"""Markdown: no HTML, links only to the web, mail and this site, no images."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ..catalogue import Catalogue
from ..content import FieldPath, LoadedEntry, Positions
from ..finding import Explanation, Finding, shown
from ..markdown import is_safe_link
from ..model import Part
from ..validate import did_you_mean
from .report import finding_within
from .sections import hub_sections, line_sections, taxonomy_sections
from .texts import Kind, texts

CODES: Mapping[str, Explanation] = {
    "html": Explanation(
        "HTML in a text is shown as it stands, never interpreted. What looks like a tag is written as code.",
        "text: Set <name> first.",
        "text: Set `<name>` first.",
    ),
    "bad-link": Explanation(
        "Links lead to http, https, mailto, or to a page of this site by a relative address.",
        "text: See [this](javascript:alert).",
        "text: See [this](https://example.org/).",
    ),
    "dead-link": Explanation(
        "A link to a page of this site is relative to the page that holds it: `../other-entry/` from an entry, "
        "`../../verify/` for a page at the root. There is no such page.",
        "text: See [the other](/failures/other-entry/).",
        "text: See [the other](../other-entry/).",
    ),
    "image": Explanation("Texts hold no images: they can't be searched, compared, or read in a terminal."),
    "paragraph": Explanation(
        "This field is one paragraph; an empty line in it would start another. Longer texts have fields of their own."
    ),
}


MAX_FINDINGS = 20
"""In one text."""


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    home = f"failures/{loaded.slug}/"
    for text in texts(loaded.entry, wanted=_may_hold):
        yield from _check_text(loaded.positions, text.field, text.value, text.kind == "inline")
        if "](" in text.value:
            yield from _dead_links(catalogue, home, loaded.positions, text.field, text.value)


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    content = catalogue.content
    for hub, positions in hub_sections(content):
        yield from _check_part(hub, positions, ())
    for line, positions, field in line_sections(content):
        yield from _check_part(line, positions, field)
    for _, items, positions in taxonomy_sections(content):
        for i, item in enumerate(items):
            yield from _check_part(item, positions, (i,))
    for page in content.pages:
        yield from _check_text(page.positions, ("body",), page.body, False)
        yield from _dead_links(catalogue, f"{page.name}/", page.positions, ("body",), page.body)


_LINK = re.compile(r"\]\(([^()\s]+)\)")
OWN_PAGES = frozenset({"", "changes", "compare", "diagnose", "failures", "signatures", "symptoms"})
"""Pages at the root that every site has."""


def _dead_links(
    catalogue: Catalogue, home: str, positions: Positions, field: FieldPath, text: str
) -> Iterator[Finding]:
    """Links of the page ``home`` to pages of this site that there are not."""
    for match in _LINK.finditer(text):
        path = match[1].partition("#")[0].partition("?")[0]
        if not path or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:|//", path) or "\\" in path:
            continue
        target = posixpath.normpath(posixpath.join("/", home, path)).strip("/")
        if path.startswith("/") or not _is_page(catalogue, target):
            message = f"a link to {shown(match[1])}, where no page is"
            hint = did_you_mean(target.rpartition("/")[2], sorted(catalogue.by_slug))
            yield finding_within(positions, field, text, match.start(1), "dead-link", message, hint)


def _is_page(catalogue: Catalogue, target: str) -> bool:
    folder, _, name = target.partition("/")
    content = catalogue.content
    match folder:
        case "failures" if name:
            return name in catalogue.names
        case "phases" | "families":
            return name in getattr(catalogue, folder)
        case "systems":
            return bool(catalogue.in_system(name))
        case "tags":
            return bool(catalogue.with_tag(name))
        case "api" | "symptoms":
            return True
    pages = {page.name for page in content.pages} | catalogue.hubs.keys() | OWN_PAGES
    return not name and folder in pages


def _check_part(part: Part, positions: Positions, field: FieldPath) -> Iterator[Finding]:
    for text in texts(part, field, _may_hold):
        yield from _check_text(positions, text.field, text.value, text.kind == "inline")


def _may_hold(kind: Kind, text: str) -> bool:
    """Whether a text has markup, and a character without which nothing can be wrong with it."""
    return kind in ("inline", "markdown") and ("<" in text or "]" in text or "\n" in text)


def _check_text(positions: Positions, field: FieldPath, text: str, inline: bool) -> Iterator[Finding]:
    if inline and "\n" in text and (gap := _GAP.search(text)):
        message = "this field is one paragraph, and here another starts"
        yield finding_within(positions, field, text, gap.end(), "paragraph", message)
    if not _PROBLEMATIC.search(text):
        return
    for offset, code, message, hint in islice(_problems(text, inline), MAX_FINDINGS):
        yield finding_within(positions, field, text, offset, code, message, hint)


_GAP = re.compile(r"\n[ \t]*\n")
_PROBLEMATIC = re.compile(r"<[A-Za-z!/?]|\]\(|\]\[|\]:|!\[")
"""Only such a text can hold HTML, a link or an image: parsing the others would find nothing."""


def _problems(text: str, inline: bool) -> Iterator[tuple[int, str, str, str]]:
    """Offset, code, message and hint of each problem, in order."""
    tokens = _parser().parseInline(text) if inline else _parser().parse(text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    cursor = 0
    for token in tokens:
        if token.map:
            cursor = max(cursor, starts[min(token.map[0], len(starts) - 1)])
        for part in token.children or [token]:
            found = text.find(_needle(part), cursor) if _needle(part) else cursor
            cursor = max(cursor, found)
            problem = _problem(part)
            if problem is not None:
                yield cursor, *problem
            if _needle(part) and found >= 0:
                cursor += len(_needle(part))


def _needle(token: Token) -> str:
    """What the token's source is sure to hold, so that it can be found there."""
    return token.content.strip() if token.type in ("html_inline", "html_block", "text", "code_inline") else ""


def _problem(token: Token) -> tuple[str, str, str] | None:
    if token.type in ("html_inline", "html_block"):
        return (
            "html",
            f"HTML {shown(token.content.strip(), 30)}",
            "write it as code, in backticks, or leave it out",
        )
    if token.type == "link_open" and not is_safe_link(href := str(token.attrs.get("href", ""))):
        return "bad-link", f"a link to {shown(href)}", "http, https, mailto, or a relative address"
    return ("image", "an image", "say it in words") if token.type == "image" else None


@cache
def _parser() -> MarkdownIt:
    """A parser that recognises what must not be there: HTML is told from text, and no link is dropped."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser
