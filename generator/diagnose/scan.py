"""A stream of bytes → the lines worth reading: the head, the tail, and what stands around the literals.

Memory is constant: of any stream at most the head, the tail and two budgets of surroundings are kept. What
is kept depends on the bytes alone and not on the chunks that they come in, so both engines keep the same:
let U be the union of the first ``HEAD`` bytes and, for every occurrence of a literal at h, of the bytes from
h-BEFORE to h+AFTER; kept are the first ``BUDGET`` bytes of U, the last ``BUDGET`` bytes of U, and the last
``TAIL`` bytes of the stream. Lines are what lies between line feeds and carriage returns in these.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from .clean import Raw, cut
from .literals import ENGINES, Finder, Hits, PlainFinder, fast_finder

HEAD = 128 * 1024
TAIL = 128 * 1024
BEFORE = 24 * 1024
AFTER = 8 * 1024
BUDGET = 6 * 1024 * 1024
HITS_PER_KEY = 2_000
"""After so many hits of one literal further ones tell nothing new, until an attempt starts."""
LONG = 8 * 1024
"""A line that the border of what is kept cuts is dropped, unless so much of it is there."""
CHUNK = 4 * 1024 * 1024
SMALL = 768 * 1024
"""Up to so many bytes one search a literal is quicker than compiling them all."""
BLOCK = 64 * 1024


class Stream(Protocol):
    """What can be read into a buffer: a file, a pipe, a decompressor."""

    def readinto(self, buffer: memoryview, /) -> int | None: ...


@dataclass(frozen=True)
class Keys:
    """The literals of the scan; ``restarts`` are the numbers of those that start an attempt."""

    literals: tuple[bytes, ...]
    restarts: frozenset[int] = frozenset()

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        return tuple(len(literal) for literal in self.literals)

    @cached_property
    def longest(self) -> int:
        return max(self.lengths, default=1)


@dataclass(slots=True)
class Scanned:
    """What a stream held: line feeds (and a last line without one), bytes, the kept lines."""

    lines: int = 0
    size: int = 0
    kept: list[Raw] = field(default_factory=list)


class Finders:
    """Compiles the fast finder once, and only when a stream is long enough to need it."""

    def __init__(self, keys: Keys, engine: str = "") -> None:
        self.keys = keys
        self._engine = engine
        self._fast: Finder | None = None

    def of(self, size: int) -> Finder:
        """The quickest for a stream of which so much has been seen."""
        if size <= SMALL and not self._engine:
            return PlainFinder(self.keys.literals)
        if self._fast is None:
            make = ENGINES[self._engine] if self._engine else fast_finder
            self._fast = make(self.keys.literals)
        return self._fast


def scan(stream: Stream, file: int, finders: Finders) -> Scanned:
    """Reads the stream to its end. Raises what the stream raises."""
    window = _Window(stream)
    keeper = _Keeper(finders.keys)
    with ThreadPoolExecutor(1) as worker:
        while window.fill():
            short = window.ended and window.end <= HEAD + TAIL
            hits = [] if short else _find(window, finders, worker)
            keeper.take(window, hits)
            last = window.data[window.length - 1 : window.length]
    if not window.end:
        return Scanned()
    keeper.take_tail(window)
    lines = window.feeds_before(window.end) + (last != b"\n")
    return Scanned(lines, window.end, list(_raw_lines(keeper.pieces(), window.end, file)))


def _find(window: _Window, finders: Finders, worker: ThreadPoolExecutor) -> Hits:
    """The literals that end in the new bytes, with absolute places; line feeds are counted meanwhile."""
    finder = finders.of(window.end)
    start = max(0, window.fresh - finders.keys.longest + 1)
    view = memoryview(window.data)[start : window.length]
    if finder.parallel:
        future = worker.submit(finder.find, view)
        window.count()
        found = future.result()
    else:
        found = finder.find(view)
    lengths = finders.keys.lengths
    return [
        (at + start + window.start, number)
        for at, number in found
        if at + start + lengths[number] > window.fresh
    ]


class _Window:
    """A part of the stream: what was carried over, then the new bytes.

    ``start`` and ``end`` are places in the stream, ``fresh`` and ``length`` in ``data``.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.data = bytearray(TAIL + BLOCK)
        self.start = 0
        self.length = 0
        self.fresh = 0
        self.ended = False
        self._feeds_at_start = 0
        self._feeds: list[int] = []

    @property
    def end(self) -> int:
        return self.start + self.length

    def fill(self) -> bool:
        """Carries the tail over and reads on; False at the stream's end."""
        if self.ended:
            return False
        self._carry()
        self._read()
        self._feeds = []
        return self.length > self.fresh

    def _carry(self) -> None:
        drop = max(0, self.length - TAIL)
        if drop:
            self._feeds_at_start = self.feeds_before(self.start + drop)
            self.data[: self.length - drop] = self.data[drop : self.length]
        self.start += drop
        self.length -= drop
        self.fresh = self.length

    def _read(self) -> None:
        """Up to a chunk; the buffer grows only for streams that need it."""
        target = self.fresh + CHUNK
        while self.length < target:
            if self.length == len(self.data):
                self.data.extend(bytes(min(4 * len(self.data), TAIL + CHUNK) - len(self.data)))
            with memoryview(self.data) as view:
                count = self._stream.readinto(view[self.length : min(len(self.data), target)]) or 0
            if not count:
                self.ended = True
                return
            self.length += count

    def count(self) -> None:
        """Counts the line feeds of every block."""
        total = self._feeds_at_start
        self._feeds = [total]
        for at in range(0, self.length, BLOCK):
            total += self.data.count(b"\n", at, min(at + BLOCK, self.length))
            self._feeds.append(total)

    def feeds_before(self, place: int) -> int:
        """Line feeds before a place of the stream that lies in the window."""
        if not self._feeds:
            self.count()
        at = place - self.start
        block = at // BLOCK
        return self._feeds[block] + self.data.count(b"\n", block * BLOCK, at)

    def slice(self, start: int, end: int) -> bytes:
        return bytes(self.data[start - self.start : end - self.start])


@dataclass(slots=True)
class _Piece:
    """Bytes that are kept: where they start, and how many line feeds stand before."""

    start: int
    feeds: int
    content: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.content)


class _Keeper:
    """Collects U: first its first bytes, then a ring of its last ones."""

    def __init__(self, keys: Keys) -> None:
        self._restarts = keys.restarts
        self._counts: dict[int, int] = {}
        self._first: list[_Piece] = []
        self._last: deque[_Piece] = deque()
        self._sizes = [0, 0]
        self._taken = 0
        self._until = HEAD

    def take(self, window: _Window, hits: Hits) -> None:
        """Keeps what these hits call for, as far as the window reaches."""
        for place, number in hits:
            if not self._counts_in(number):
                continue
            start = max(0, place - BEFORE)
            if start > self._until:
                self._keep(window, self._until)
                self._taken = start
            self._until = max(self._until, place + AFTER)
        self._keep(window, min(self._until, window.end))

    def take_tail(self, window: _Window) -> None:
        self._taken = max(self._taken, window.end - TAIL)
        if self._taken < window.end:
            self._last.append(self._piece(window, window.end))

    def pieces(self) -> list[_Piece]:
        """What is kept, in order, pieces that touch joined."""
        joined: list[_Piece] = []
        parts: list[bytes] = []
        end = -1
        for piece in [*self._first, *self._last]:
            if piece.start == end:
                parts.append(piece.content)
            else:
                _finish(joined, parts)
                joined.append(piece)
                parts = [piece.content]
            end = piece.end
        _finish(joined, parts)
        return joined

    def _counts_in(self, number: int) -> bool:
        if number in self._restarts:
            self._counts = {}
        count = self._counts.get(number, 0)
        self._counts[number] = count + 1
        return count < HITS_PER_KEY

    def _keep(self, window: _Window, end: int) -> None:
        if self._taken >= end:
            return
        room = BUDGET - self._sizes[0]
        if room > 0:
            piece = self._piece(window, min(end, self._taken + room))
            self._first.append(piece)
            self._sizes[0] += len(piece.content)
        if self._taken < end:
            piece = self._piece(window, end)
            self._last.append(piece)
            self._sizes[1] += len(piece.content)
            self._trim()

    def _piece(self, window: _Window, end: int) -> _Piece:
        piece = _Piece(self._taken, window.feeds_before(self._taken), window.slice(self._taken, end))
        self._taken = end
        return piece

    def _trim(self) -> None:
        """Keeps no more than the budget of last bytes."""
        while self._sizes[1] > BUDGET:
            oldest = self._last[0]
            drop = min(self._sizes[1] - BUDGET, len(oldest.content))
            self._sizes[1] -= drop
            if drop == len(oldest.content):
                self._last.popleft()
            else:
                gone = oldest.content[:drop]
                self._last[0] = _Piece(
                    oldest.start + drop, oldest.feeds + gone.count(b"\n"), oldest.content[drop:]
                )


def _finish(joined: list[_Piece], parts: list[bytes]) -> None:
    if joined and len(parts) > 1:
        joined[-1] = _Piece(joined[-1].start, joined[-1].feeds, b"".join(parts))


def _raw_lines(pieces: list[_Piece], size: int, file: int) -> Iterator[Raw]:
    """The pieces' lines. What a border cuts is dropped; of CR LF, and of what a bar draws over, no empty part."""
    for piece in pieces:
        rows = piece.content.split(b"\n")
        if piece.end == size and not rows[-1]:
            rows.pop()
        for number, row in enumerate(rows):
            parts = row.split(b"\r") if b"\r" in row else [row]
            last_part = len(parts) - 1
            shown = False
            for at, part in enumerate(parts):
                cut_before = number == 0 and at == 0 and piece.start > 0
                cut_after = number == len(rows) - 1 and at == last_part and piece.end < size
                if (cut_before or cut_after) and len(part) < LONG:
                    shown = True
                    continue
                if part:
                    shown = True
                    yield Raw(file, piece.feeds + number + 1, cut(part))
            if not shown:
                yield Raw(file, piece.feeds + number + 1, b"")
