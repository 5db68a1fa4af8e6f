"""Literals → where they stand in a chunk of bytes: hyperscan, RE2, or one search a literal.

All three find the same: the start of every occurrence. Which one is used decides the speed only.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

RE2_BLOCK = 64 * 1024
RE2_MEMORY = (8 << 20, 256)
"""What RE2 may use: by itself, and for each byte of a literal. It takes a third of that, and refuses a set without it."""

Hits = list[tuple[int, int]]
"""Pairs of offset and number of the literal, sorted."""


class Finder(Protocol):
    """Finds the literals in a chunk; ``parallel`` where another thread can run meanwhile."""

    parallel: bool

    def find(self, chunk: bytes | memoryview) -> Hits: ...


class PlainFinder:
    """One search a literal: nothing to compile, so the best for small logs."""

    parallel = False

    def __init__(self, literals: Sequence[bytes]) -> None:
        self._literals = literals

    def find(self, chunk: bytes | memoryview) -> Hits:
        data = bytes(chunk)
        hits: Hits = []
        for number, literal in enumerate(self._literals):
            hits.extend(_occurrences(data, literal, number))
        return sorted(hits)


class HyperscanFinder:
    """All literals in one pass, with the vector units."""

    parallel = True

    def __init__(self, literals: Sequence[bytes]) -> None:
        hyperscan: Any = importlib.import_module("hyperscan")
        self._lengths = [len(literal) for literal in literals]
        self._database = hyperscan.Database()
        self._database.compile(
            expressions=[_escaped(literal) for literal in literals],
            ids=list(range(len(literals))),
            elements=len(literals),
            flags=0,
        )

    def find(self, chunk: bytes | memoryview) -> Hits:
        hits: Hits = []
        lengths = self._lengths

        def note(number: int, _start: int, end: int, _flags: int, _context: object) -> None:
            hits.append((end - lengths[number], number))

        self._database.scan(chunk, match_event_handler=note)
        return sorted(hits)


class Re2Finder:
    """RE2 says which literals a block holds, then each of those few is searched there."""

    parallel = True

    def __init__(self, literals: Sequence[bytes]) -> None:
        re2: Any = importlib.import_module("re2")
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = RE2_MEMORY[0] + RE2_MEMORY[1] * sum(map(len, literals))
        self._literals = literals
        self._overlap = max((len(literal) for literal in literals), default=1) - 1
        self._helper = ThreadPoolExecutor(1)
        self._set = re2.Set.SearchSet(options)
        for literal in literals:
            self._set.Add(_escaped(literal))
        self._set.Compile()

    def find(self, chunk: bytes | memoryview) -> Hits:
        """RE2 works without the interpreter's lock, so two threads share the blocks."""
        middle = len(chunk) // 2 // RE2_BLOCK * RE2_BLOCK
        half = self._helper.submit(self._find, chunk, 0, middle)
        return sorted(self._find(chunk, middle, len(chunk)) | half.result())

    def _find(self, chunk: bytes | memoryview, first: int, last: int) -> set[tuple[int, int]]:
        """The literals that begin in a run of blocks."""
        hits: set[tuple[int, int]] = set()
        for start in range(first, last, RE2_BLOCK):
            block = bytes(chunk[start : start + RE2_BLOCK + self._overlap])
            for number in self._set.Match(block) or ():
                found = _occurrences(block, self._literals[number], number)
                hits.update((start + at, number) for at, _ in found)
        return hits


ENGINES: dict[str, Callable[[Sequence[bytes]], Finder]] = {
    "hyperscan": HyperscanFinder,
    "re2": Re2Finder,
    "plain": PlainFinder,
}


def fast_finder(literals: Sequence[bytes]) -> Finder:
    """The fastest that is installed here."""
    for name in ("hyperscan", "re2"):
        try:
            return ENGINES[name](literals)
        except ImportError:
            continue
    return PlainFinder(literals)


def _occurrences(data: bytes, literal: bytes, number: int) -> Hits:
    hits: Hits = []
    at = data.find(literal)
    while at >= 0:
        hits.append((at, number))
        at = data.find(literal, at + 1)
    return hits


def _escaped(literal: bytes) -> bytes:
    """Every byte as an escape, so that no engine reads syntax or an encoding into it."""
    return b"".join(b"\\x%02x" % byte for byte in literal)
