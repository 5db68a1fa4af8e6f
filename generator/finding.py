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
