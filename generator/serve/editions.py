"""Styles and scripts that a browser may keep: a page links each under its edition, which is another when one may differ.

A page that is reloaded after an edit asks for nothing else anew.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_FOLDERS = ("css", "js")
_LINK = re.compile(rb'((?:href|src)="(?:\.{1,2}/)*/?(?:css|js)/[a-z-]+\.(?:css|js))"')
"""What a page itself links. Modules that a script imports have no edition, and are not kept."""


class Editions:
    """The editions of what lies in ``static``; this program makes the styles of it, so each start has its own."""

    def __init__(self, static: Path) -> None:
        self._static = static
        self._begun = time.time_ns()

    def now(self) -> str:
        """The edition at this moment."""
        told = repr((self._begun, sorted(self._files()))).encode()
        return hashlib.sha256(told).hexdigest()[:16]

    def linked(self, page: bytes) -> bytes:
        """The page with links to this edition."""
        return _LINK.sub(rb"\1?edition=" + self.now().encode() + b'"', page)

    def _files(self) -> Iterator[tuple[str, int, int, int]]:
        for folder in _FOLDERS:
            with suppress(OSError), os.scandir(self._static / folder) as files:
                for file in files:
                    found = file.stat()
                    yield file.path, found.st_size, found.st_mtime_ns, found.st_ino
