"""What is wrong with content: one type for all of it, and its formats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, order=True)
class Finding:
    """Something wrong at a place in the content.

    ``path`` is relative to the content folder's parent; ``line`` and ``column`` are 1-based.
    """

    path: str
    line: int
    column: int
    code: str
    severity: Severity
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.path}:{self.line}:{self.column}: {self.severity} {self.code}: {self.message}{hint}"


@dataclass(frozen=True)
class Explanation:
    """What a code means, for ``check --explain``: why it is wrong, and YAML that is bad and good."""

    text: str
    bad: str = ""
    good: str = ""


def shown(value: str, limit: int = 60) -> str:
    """``value`` in quotes for a message: one line, no control characters, cut at ``limit``."""
    text = value if len(value) <= limit else value[: limit - 1] + "…"
    return "'" + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text) + "'"
