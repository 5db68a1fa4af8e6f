"""What makes two messages the same fault, told by two ranks."""

from __future__ import annotations

import re

FAMILY_LENGTH = 60

_NO_LETTER = re.compile("[^A-Za-z]+")


def family_of(message: str) -> str:
    """The letters that a message begins with: ranks that differ in numbers, shapes or addresses fail alike."""
    return _NO_LETTER.sub(" ", message[:400])[:FAMILY_LENGTH]
