"""Texts that would harm a page, a terminal or a reader, and what it means that they did not."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from generator.hidden import HIDDEN

CONTROLS = {
    "color": "\x1b[31mred\x1b[0m",
    "clear": "\x1b[2J\x1b[H",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;https://example.com/\x1b\\here\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "unended": "\x1b]0;owned",
    "device": "\x1bP$q\x1b\\\x1b_x\x1b\\\x1bc",
    "eight bit": "\x9b31m\x9d0;owned\x9c",
    "over": "bad\x08\x08\x08good\x7f",
    "nul": "a\x00b",
    "override": "\u202egnp.exe\u202c",
    "isolate": "\u2066if admin\u2069 \u2066begin",
    "marks": "\u200e\u200f\u061c",
    "separators": "one\u2028two\u2029three\x85four",
    "invisible": "a\u200bb\u2060c\xadd\ufeffe\U000e0041f",
}
"""What a terminal obeys, or what hides or reorders text."""

HTML = {
    "script": "<script>window.owned = 1</script>",
    "image": '<img src=x onerror="window.owned=1">',
    "drawing": '<svg onload="window.owned=1"/>',
    "frame": "<iframe srcdoc='<script>top.owned=1</script>'></iframe>",
    "ends": "</title></style></textarea></code></pre></script><b>",
    "comment": "a <!-- b --> c",
    "refresh": '<meta http-equiv="refresh" content="0;url=https://example.com/">',
}

LINKS = {
    "javascript": "[x](javascript:window.owned=1)",
    "mixed": "[x](JaVaScRiPt&colon;window.owned=1)",
    "entity": "[x](&#106;avascript:window.owned=1)",
    "data": "[x](data:text/html,<script>window.owned=1</script>)",
    "vbscript": "<vbscript:owned>",
    "autolink": "<javascript:window.owned=1>",
    "protocol-relative": "[x](//example.com/)",
    "backslashes": "[x](\\\\\\\\example.com/)",
    "slash and backslash": "[x](/\\\\example.com/)",
    "user": "[x](https://github.com@example.com/)",
    "file": "[x](file:///etc/passwd)",
    "picture": "![x](https://example.com/x.png)",
}

HARMLESS = {
    "attribute": "\" onmouseover=window.owned=1 x=' autofocus onfocus=window.owned=1",
    "entities": "&lt;script&gt;window.owned=1&lt;/script&gt; &#60;b&#62; &amp;lt;",
    "no tag to CommonMark": "<img src=x onerror=window.owned=1> <svg/onload=window.owned=1>",
    "template": "{% import 'os' %} ${7*7} #{7*7} <%= 7 %> {# x #}",
    "code like a URL": "javascript:window.owned=1 data:text/html,x //example.com/ C:\\x",
    "right to left letters": "\u05d0\u05d1\u05d2 123 \u0627\u0644\u062e\u0637\u0623",
    "combining": "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u0334\u0319\u0324",
    "long": "A" * 280,
}
"""What stays as it is and does nothing."""

CONTROL = re.compile(f"[{HIDDEN}\r\ud800-\udfff]")
ATTRIBUTES_THAT_LEAD = ("href", "src", "action", "formaction", "poster", "srcset", "data", "ping", "cite")


@dataclass
class Tags(HTMLParser):
    """The elements of a page, the attributes of each kind, and where its links lead."""

    text: str
    elements: Counter[str] = field(default_factory=Counter)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes |= {(tag, name) for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ATTRIBUTES_THAT_LEAD]

    def handle_data(self, data: str) -> None:
        self.shown.append(data)


def is_active(link: str) -> bool:
    """Whether a browser would run the link, or take it to another host though it looks like one of this site.

    As browsers read it (https://url.spec.whatwg.org): blanks around it and line ends in it dropped, \\ taken for /.
    """
    seen = re.sub("[\t\n\r]", "", link.strip("".join(map(chr, range(33))))).replace("\\", "/")
    if scheme := re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", seen):
        name = scheme[1].lower()
        return name != "mailto" and (name not in ("http", "https") or "@" in urlsplit(seen).netloc)
    return seen.startswith("//")


def harm_in_html(text: str, usual: Tags) -> list[str]:
    """What a page has that pages of that kind don't have: ``usual`` is such a page, of harmless content."""
    tags = Tags(text)
    return [
        *(f"<{name}>" for name in tags.elements if name not in usual.elements),
        *(f"<{tag} {name}>" for tag, name in tags.attributes - usual.attributes),
        *(f"link to {link!r}" for link in tags.links if is_active(link)),
        *(f"{tags.elements['script']} scripts",) * (tags.elements["script"] != usual.elements["script"]),
        *harm_in_terminal(text),
    ]


def harm_in_terminal(text: str) -> list[str]:
    """The characters in a text that a terminal would obey or not show."""
    return [f"U+{ord(each):04X}" for each in sorted(set(CONTROL.findall(text)))]


def harm_in_markdown(text: str) -> list[str]:
    """What another program that renders the text as Markdown, HTML included, would let in."""
    return [*active_markup(text), *harm_in_terminal(text)]


def active_markup(text: str) -> list[str]:
    """The HTML, the images and the active links that CommonMark finds in a text."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    tokens = [part for token in parser.parse(text) for part in (token, *(token.children or []))]
    return [
        *(token.content for token in tokens if token.type in ("html_inline", "html_block")),
        *(str(token.attrs["src"]) for token in tokens if token.type == "image"),
        *(
            str(token.attrs["href"])
            for token in tokens
            if token.type == "link_open" and is_active(str(token.attrs["href"]))
        ),
    ]


def texts_of(value: Any) -> list[str]:
    """All texts of a value that is JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *texts_of(item))]
    return [text for item in value for text in texts_of(item)] if isinstance(value, list) else []
