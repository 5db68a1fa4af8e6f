"""Take a machine's own paths and names out of an output.

Only what is known exactly is replaced; ``redact`` is for logs of which nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SYSTEM_FOLDERS = frozenset(("/", "/usr", "/usr/local", "/tmp", "/nonexistent"))
"""Paths that tell nothing of a machine."""
COMMON_NAMES = frozenset(
    ("", "localhost", "root", "user", "ubuntu", "runner", "admin", "localhost.localdomain")
)
"""Names of hosts and users that tell nothing, and that logs use as words."""


@dataclass(frozen=True)
class Replacement:
    pattern: re.Pattern[bytes]
    shown: bytes


def neutral(output: bytes, replacements: Iterable[Replacement]) -> bytes:
    """The output after all replacements, one after another."""
    for each in replacements:
        output = each.pattern.sub(each.shown, output)
    return output


def path_replacement(path: Path, shown: str) -> Replacement:
    """The path, wherever it stands as a whole or begins a longer one."""
    return _replacement(str(path), shown, rb"(?<![\w.-])%s(?![\w.-])", SYSTEM_FOLDERS)


def word_replacement(word: str, shown: str) -> Replacement:
    """The word, wherever it stands on its own."""
    return _replacement(word, shown, rb"(?<![\w.-])%s(?![\w-])", COMMON_NAMES)


def _replacement(found: str, shown: str, around: bytes, spared: frozenset[str]) -> Replacement:
    pattern = rb"(?!)" if found in spared else around % re.escape(found.encode())
    return Replacement(re.compile(pattern), shown.encode())
