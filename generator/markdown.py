"""Markdown → HTML: CommonMark and tables, with HTML off and links only to the web, mail and this site."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from .highlight import highlight

Environment = MutableMapping[str, Any]


class _Renderer(RendererHTML):
    """What differs from CommonMark's own output: no style attribute, highlighted code, tables that scroll alone."""

    def fence(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment) -> str:
        language = tokens[index].info.split(maxsplit=1)[0] if tokens[index].info.strip() else "text"
        return f'<pre class="code" tabindex="0"><code>{highlight(tokens[index].content, language)}</code></pre>\n'

    def code_block(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment) -> str:
        return self.fence(tokens, index, options, env)

    def table_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment) -> str:
        name = escape(", ".join(_heads(tokens, index)))
        return f'<div class="scroll" role="region" aria-label="Table: {name}" tabindex="0">\n<table>\n'

    def table_close(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment) -> str:
        return "</table>\n</div>\n"

    def th_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment) -> str:
        if not tokens[index + 1].content.strip():
            return "<td>"
        return f'<th scope="col"{_alignment(tokens[index])}>'

    def th_close(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment) -> str:
        return "</th>\n" if tokens[index - 1].content.strip() else "</td>\n"

    def td_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment) -> str:
        return f"<td{_alignment(tokens[index])}>"

    def heading_open(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment
    ) -> str:
        tag = _deeper(tokens[index].tag, env)
        anchor = _anchor(tokens[index + 1].content, env)
        return f'<{tag} id="{anchor}">' if anchor else f"<{tag}>"

    def heading_close(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Environment
    ) -> str:
        return f"</{_deeper(tokens[index].tag, env)}>\n"


_PLAIN = r"[^\\`*_\[<&\n\t]++|(?<=[A-Za-z0-9])_++(?=[A-Za-z0-9])|`[^`\n]++`(?!`)"
"""Parts of a line that are themselves, or code: no emphasis, link, entity, escape or tag can begin in them.

No group of them is possessive: Python before 3.11.5 takes such a group to match nothing.
"""
_PLAIN_LINE = re.compile(rf"(?:{_PLAIN})*")
_PLAIN_PARAGRAPHS = re.compile(
    rf"(?:(?=[A-Za-z`\"'(])(?!```)(?:{_PLAIN})+(?<!\s)(?:\n(?!\Z)|\n*\Z|\n\n+(?!\Z)))+"
)
"""Lines that begin as no heading, list, quote, table, rule or fence does, and paragraphs of them."""


class Markdown:
    """Renders the two kinds of marked-up text that the model has.

    Most texts have no markup but code; these are rendered here, twenty times as fast, and to the same HTML: a test
    compares every text of the encyclopedia.
    """

    def __init__(self) -> None:
        self._parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
        self._parser.enable("table").disable("image")
        # markdown-it looks this method up on the instance for every link and autolink.
        self._parser.validateLink = is_safe_link  # type: ignore[method-assign]
        # An answer is shown, and told to search engines, of the same page.
        self._parsed = lru_cache(64)(self._parse)

    def blocks(self, text: str, *, heading_level: int = 4, anchors: bool = False) -> Markup:
        """Blocks; the text's highest heading (``##`` or ``#``) becomes ``<h{heading_level}>``.

        With ``anchors`` each heading gets an id made of its words.
        """
        if _PLAIN_PARAGRAPHS.fullmatch(text) is not None:
            return Markup(
                "".join(f"<p>{_plain(part)}</p>\n" for part in re.split(r"\n\n+", text.strip("\n")))
            )
        return self._parsed(text, heading_level, anchors)

    def _parse(self, text: str, heading_level: int, anchors: bool) -> Markup:
        env: dict[str, Any] = {"level": heading_level, "anchors": set() if anchors else None}
        return Markup(self._parser.render(text, env))

    def inline(self, text: str) -> Markup:
        """One paragraph's content, without the paragraph's tags."""
        if _PLAIN_LINE.fullmatch(text) is not None:
            return Markup(_plain(text))
        return Markup(self._parser.renderInline(text))

    def unmarked(self, text: str) -> str:
        """The words that ``inline`` shows, with single blanks between them."""
        if _PLAIN_LINE.fullmatch(text) is not None:
            parts = (_code(part) if n % 2 else part for n, part in enumerate(text.split("`")))
            return " ".join("".join(parts).split())
        return str(self.inline(text).striptags())


def _plain(text: str) -> str:
    """A plain text as HTML: what is between backticks is code."""
    parts = (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").split("`")
    )
    return "".join(f"<code>{_code(part)}</code>" if n % 2 else part for n, part in enumerate(parts))


def _code(text: str) -> str:
    """One blank on each side is the writer's, where there is more than blanks."""
    return text[1:-1] if text[0] == text[-1] == " " and text.strip(" ") else text


def is_safe_link(url: str) -> bool:
    """Whether a link leads to a host of the web, to mail, or within this site."""
    scheme = re.match(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.\-]*):", url)
    if scheme is None:
        # Browsers take a backslash for a slash; markdown-it writes it %5C, which leads nowhere.
        return re.match(r"\s*(?://|/?(?:\\|%5C))", url, re.IGNORECASE) is None
    if scheme[1].lower() == "mailto":
        return True
    # A user name before the host is mostly meant to be taken for the host.
    return re.match(r"\s*https?://[^\s/?#\\@]+(?:[/?#]|$)", url, re.IGNORECASE) is not None


def plain(text: str) -> str:
    """Text without markup as Markdown: no HTML, link or image begins in it, whoever renders it."""
    return re.sub(r"(\\*)([<\[])", lambda match: f"{match[1] * 2}\\{match[2]}", text)


def anchor_of(text: str) -> str:
    """An id made of a heading's words: lower case, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "section"


def _heads(tokens: Sequence[Token], index: int) -> list[str]:
    """What the columns of the table that opens at ``index`` are called, without their markup."""
    names = []
    for token in tokens[index:]:
        if token.type == "thead_close":
            break
        if token.type == "inline" and token.content.strip():
            names.append("".join(part.content for part in token.children or ()))
    return names


def _alignment(token: Token) -> str:
    # markdown-it writes a style attribute, which the site's policy forbids.
    style = str(token.attrGet("style") or "")
    return ' class="end"' if "right" in style else ' class="center"' if "center" in style else ""


def _deeper(tag: str, env: Environment) -> str:
    return f"h{min(6, max(2, int(tag[1])) - 2 + int(env['level']))}"


def _anchor(text: str, env: Environment) -> str:
    taken: set[str] | None = env["anchors"]
    if taken is None:
        return ""
    anchor, n = anchor_of(text), 2
    while anchor in taken:
        anchor, n = f"{anchor_of(text)}-{n}", n + 1
    taken.add(anchor)
    return anchor


MARKDOWN = Markdown()
"""One for all who write pages, since they meet the same texts."""
