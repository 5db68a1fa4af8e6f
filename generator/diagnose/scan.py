"""A stream of bytes → the lines worth reading: the head, the tail, and what stands around the literals.

Memory is constant, and what is kept depends on the bytes alone and not on the chunks that they come in, so
that both engines keep the same. Of a literal found at h, its family is what letters stand in the 120 bytes
from h on, up to the line's end. Kept are

- the first ``HEAD`` and the last ``TAIL`` bytes of the stream;
- around the first ``FULL`` hits of a family the bytes from h-BEFORE to h+AFTER, in all the first ``BUDGET``;
- of the first ``EACH`` hits of a family their own lines, from the line feed at h-OWN_BEFORE or later to the one
  before h+OWN_AFTER, in all the first ``BUDGET``: so hundreds of ranks that tell the same cost little;
- the last ``RING`` bytes of what lies from h-BEFORE to h+AFTER of any hit.

A hit that starts an attempt begins all counts anew. Lines are what lies between line feeds and carriage
returns in these; a line that a border cuts is dropped, unless ``LONG`` bytes of it are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event
from typing import Protocol

from .clean import Raw, cut
from .literals import ENGINES, Finder, Hits, PlainFinder, fast_finder

HEAD = 64 * 1024
TAIL = 64 * 1024
BEFORE = 24 * 1024
AFTER = 8 * 1024
OWN_BEFORE = 1024
OWN_AFTER = 2048
FULL = 4
EACH = 1_024
BUDGET = 2 * 1024 * 1024
RING = 256 * 1024
FAMILY_BYTES = 120
FAMILIES = 4_096
"""So many families are told apart; what comes after counts as one."""
KEY_HITS = 20_000
"""After so many hits of one literal no more families of it are told apart."""
LONG = 1024
CHUNK = 4 * 1024 * 1024
SMALL = 768 * 1024
"""Up to so many bytes one search a literal is quicker than compiling them all."""
BLOCK = 16 * 1024


_NO_LETTERS = re.compile(b"[^A-Za-z]+")


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
    keeper.take(window, [])  # hits that waited for a next window, where the last one was full
    keeper.take_tail(window)
    lines = window.feeds_before(window.end) + (last != b"\n")
    return Scanned(lines, window.end, list(_raw_lines(keeper.pieces(), window.end, file)))


def _find(window: _Window, finders: Finders, worker: ThreadPoolExecutor) -> Hits:
    """The literals that end in the new bytes, with absolute places; meanwhile line feeds are counted and what follows is read."""
    finder = finders.of(window.end)
    start = max(0, window.fresh - finders.keys.longest + 1)
    view = memoryview(window.data)[start : window.length]
    if finder.parallel:
        begun = Event()
        future = worker.submit(_begin, begun, finder, view)
        begun.wait()  # else the count holds the interpreter before the other thread has begun
        window.count()
        window.read_ahead()
        found = future.result()
    else:
        found = finder.find(view)
    lengths = finders.keys.lengths
    return [
        (at + start + window.start, number)
        for at, number in found
        if at + start + lengths[number] > window.fresh
    ]


def _begin(begun: Event, finder: Finder, view: memoryview) -> Hits:
    begun.set()
    return finder.find(view)


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
        self._ahead = bytearray(TAIL + BLOCK)
        """What will be ``data``, once it is read: its length, what of that is carried over, whether the stream ended."""
        self._next: tuple[int, int, bool] | None = None

    @property
    def end(self) -> int:
        return self.start + self.length

    def fill(self) -> bool:
        """Goes on to what is read next, after what is carried over; False at the stream's end."""
        if self.ended:
            return False
        self.read_ahead()
        assert self._next is not None
        drop = max(0, self.length - TAIL)
        if drop:
            self._feeds_at_start = self.feeds_before(self.start + drop)
        self.start += drop
        self.data, self._ahead = self._ahead, self.data
        (self.length, self.fresh, self.ended), self._next = self._next, None
        self._feeds = []
        return self.length > self.fresh

    def read_ahead(self) -> None:
        """Read up to a chunk, unless that is done or there is no more; the buffer grows only for streams that need it."""
        if self.ended or self._next is not None:
            return
        kept = length = min(TAIL, self.length)
        self._ahead[:kept] = self.data[self.length - kept : self.length]
        target, ended = kept + CHUNK, False
        while length < target and not ended:
            if length == len(self._ahead):
                self._ahead.extend(bytes(min(4 * length, TAIL + CHUNK) - length))
            with memoryview(self._ahead) as view:
                count = self._stream.readinto(view[length : min(len(self._ahead), target)]) or 0
            length, ended = length + count, not count
        self._next = length, kept, ended

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

    def family_at(self, place: int) -> bytes:
        """The letters from a place on."""
        at = place - self.start
        text = bytes(self.data[at : min(at + FAMILY_BYTES, self.length)])
        return _NO_LETTERS.sub(b"", text.split(b"\n", 1)[0])

    def line_around(self, place: int) -> tuple[int, int]:
        """The line at a place with the line feeds before and after it, or as much as is looked at."""
        at = place - self.start
        first = self.data.rfind(b"\n", max(0, at - OWN_BEFORE), at)
        last = self.data.find(b"\n", at, min(at + OWN_AFTER, self.length))
        start = self.start + first if first >= 0 else place - OWN_BEFORE
        return start, self.start + last + 1 if last >= 0 else place + OWN_AFTER

    def piece(self, start: int, end: int) -> _Piece:
        with memoryview(self.data) as view:
            content = bytes(view[start - self.start : end - self.start])
        return _Piece(start, self.feeds_before(start), content)


@dataclass(slots=True)
class _Piece:
    """Bytes that are kept: where they start, and how many line feeds stand before."""

    start: int
    feeds: int
    content: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.content)


class _Union:
    """Intervals of the stream that come sorted by their starts, as pieces: the first bytes of their union."""

    def __init__(self, until: int = 0) -> None:
        self._taken = 0
        self._until = until
        self._size = 0
        self.pieces: list[_Piece] = []

    def add(self, window: _Window, start: int, end: int) -> None:
        start = max(0, start)
        if start > self._until:
            self._keep(window, self._until)
            self._taken = start
        self._until = max(self._until, end)

    def flush(self, window: _Window) -> None:
        """Keeps what is wanted, as far as the window reaches."""
        self._keep(window, min(self._until, window.end))

    def _keep(self, window: _Window, end: int) -> None:
        end = min(end, self._taken + BUDGET - self._size)
        if self._taken < end:
            self.pieces.append(window.piece(self._taken, end))
            self._size += end - self._taken
            self._taken = end


class _Ring(_Union):
    """The last bytes of a union. What a window adds is taken at its end: most of it would be dropped again."""

    def __init__(self) -> None:
        super().__init__()
        self._added: list[tuple[int, int]] = []

    def flush(self, window: _Window) -> None:
        super().flush(window)
        for start, end in _last_bytes(self._added):
            self.pieces.append(window.piece(start, end))
            self._size += end - start
        self._added = []
        while self._size > RING:
            self._drop(self._size - RING)

    def _keep(self, window: _Window, end: int) -> None:
        if self._taken < end:
            self._added.append((self._taken, end))
            self._taken = end

    def _drop(self, count: int) -> None:
        oldest = self.pieces[0]
        self._size -= min(count, len(oldest.content))
        if count >= len(oldest.content):
            self.pieces.pop(0)
        else:
            feeds = oldest.feeds + oldest.content.count(b"\n", 0, count)
            self.pieces[0] = _Piece(oldest.start + count, feeds, oldest.content[count:])


def _last_bytes(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of intervals in order what covers the last ``RING`` bytes."""
    last: list[tuple[int, int]] = []
    room = RING
    for start, end in reversed(intervals):
        if room <= 0:
            break
        last.append((max(start, end - room), end))
        room -= end - last[-1][0]
    return last[::-1]


class _Keeper:
    """Decides around which hits to keep how much."""

    def __init__(self, keys: Keys) -> None:
        self._restarts = keys.restarts
        self._longest = keys.longest
        self._counts: dict[bytes, int] = {}
        self._key_counts: dict[int, int] = {}
        self._pending: Hits = []
        self._full = _Union(HEAD)
        self._each = _Union()
        self._ring = _Ring()
        self._tail: list[_Piece] = []

    def take(self, window: _Window, hits: Hits) -> None:
        """Keeps what these hits call for; those whose family is not all there wait for the next window."""
        margin = 0 if window.ended else max(OWN_AFTER, self._longest)
        due = sorted((*self._pending, *hits))
        self._pending = [hit for hit in due if hit[0] > window.end - margin]
        for place, number in due[: len(due) - len(self._pending)]:
            self._hit(window, place, number)
        for union in (self._full, self._each, self._ring):
            union.flush(window)

    def take_tail(self, window: _Window) -> None:
        self._tail.append(window.piece(max(window.start, window.end - TAIL), window.end))

    def pieces(self) -> list[_Piece]:
        """What is kept, in order, without what is kept twice, pieces that touch joined."""
        kept = [*self._full.pieces, *self._each.pieces, *self._ring.pieces, *self._tail]
        joined: list[_Piece] = []
        parts: list[bytes] = []
        end = -1
        for piece in sorted(kept, key=lambda piece: (piece.start, -piece.end)):
            if piece.end <= end:
                continue
            if piece.start <= end:
                parts.append(piece.content[end - piece.start :])
            else:
                _finish(joined, parts)
                joined.append(piece)
                parts = [piece.content]
            end = piece.end
        _finish(joined, parts)
        return joined

    def _hit(self, window: _Window, place: int, number: int) -> None:
        if number in self._restarts:
            self._counts, self._key_counts = {}, {}
        hits = self._key_counts.get(number, 0)
        if hits < KEY_HITS:
            self._key_counts[number] = hits + 1
            self._first_ones(window, place)
        self._ring.add(window, place - BEFORE, place + AFTER)

    def _first_ones(self, window: _Window, place: int) -> None:
        family = window.family_at(place)
        if len(self._counts) >= FAMILIES and family not in self._counts:
            family = b""
        count = self._counts.get(family, 0)
        self._counts[family] = count + 1
        if count < FULL:
            self._full.add(window, place - BEFORE, place + AFTER)
        elif count < EACH:
            self._each.add(window, *window.line_around(place))


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
