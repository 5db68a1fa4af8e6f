"""Markdown: no HTML, links only to the web, mail and this site, no images."""

from __future__ import annotations

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
from .report import finding_within
from .sections import hub_sections, line_sections, taxonomy_sections
from .texts import texts

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
    "image": Explanation("Texts hold no images: they can't be searched, compared, or read in a terminal."),
    "paragraph": Explanation(
        "This field is one paragraph; an empty line in it would start another. Longer texts have fields of their own."
    ),
}


MAX_FINDINGS = 20
"""In one text."""


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    yield from _check_part(loaded.entry, loaded.positions, ())


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


def _check_part(part: Part, positions: Positions, field: FieldPath) -> Iterator[Finding]:
    for text in texts(part, field):
        if text.kind in ("inline", "markdown"):
            yield from _check_text(positions, text.field, text.value, text.kind == "inline")


def _check_text(positions: Positions, field: FieldPath, text: str, inline: bool) -> Iterator[Finding]:
    if inline and (gap := re.search(r"\n[ \t]*\n", text)):
        message = "this field is one paragraph, and here another starts"
        yield finding_within(positions, field, text, gap.end(), "paragraph", message)
    if not _MAY_HOLD.search(text):
        return
    for offset, code, message, hint in islice(_problems(text, inline), MAX_FINDINGS):
        yield finding_within(positions, field, text, offset, code, message, hint)


_MAY_HOLD = re.compile(r"<|\]\(|\]\[|\]:|!\[")
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
