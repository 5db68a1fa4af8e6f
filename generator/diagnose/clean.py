"""Raw bytes of a line → its text: no escapes, no control characters, nothing that a progress bar drew over."""

from __future__ import annotations

import re
from dataclasses import dataclass

HEAD_BYTES = 24 * 1024
TAIL_BYTES = 8 * 1024

_ESCAPE = re.compile(
    "\x1b\\[[0-9;:<=>?]{0,64}[ -/]{0,8}[@-~]|\x1b\\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\\\)?|\x1b[ -/]?[0-~]?"
)
# What is left of a colour where a terminal, an editor or a log viewer wrote the escape as text.
_WRITTEN_OUT = re.compile("(?:ESC|\\^\\[|\\\\x1b|\\\\033|\\\\u001b|\ufffd)\\[[0-9;]{0,16}m")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f\ufeff]")


@dataclass(frozen=True, slots=True)
class Raw:
    """A line as it stands in a file: what lies between two line ends or carriage returns.

    ``number`` counts line feeds, from 1, so that several of these can bear one number.
    """

    file: int
    number: int
    content: bytes


def cut(content: bytes) -> bytes:
    """A line of sane length: of a longer one its first 24 KiB and its last 8 KiB."""
    if len(content) <= HEAD_BYTES + TAIL_BYTES:
        return content
    return content[:HEAD_BYTES] + content[-TAIL_BYTES:]


def clean(content: bytes) -> str:
    """The text that a terminal would have shown, bytes that are no UTF-8 replaced by U+FFFD."""
    text = content.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "m" in text and "[" in text:
        text = _WRITTEN_OUT.sub("", text)
    return _CONTROL.sub("", text) if _CONTROL.search(text) else text
