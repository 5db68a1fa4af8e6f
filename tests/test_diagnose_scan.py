"""What is kept of a stream: the same by every engine, whatever the chunks, in constant memory."""

from __future__ import annotations

import io
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.diagnose import scan as scanning
from generator.diagnose.literals import ENGINES
from generator.diagnose.scan import Finders, Keys, Scanned, scan

LITERALS = (
    b"RuntimeError: ",
    b"Error: Socket",
    b"aaaaaaaa",
    b"abababab",
    b"worker group",
    b"Traceback (most",
)
KEYS = Keys(LITERALS, frozenset({4}))


class Drip(io.RawIOBase):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data, self._sizes, self._at, self._turn = data, sizes, 0, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        size = min(self._sizes[self._turn % len(self._sizes)], len(buffer))
        self._turn += 1
        part = self._data[self._at : self._at + size]
        self._at += len(part)
        buffer[: len(part)] = part
        return len(part)


def noise(seed: int, size: int) -> bytes:
    """A log of about that size, with hits, long lines, carriage returns and bytes that are no UTF-8."""
    chance = random.Random(seed)
    parts: list[bytes] = []
    while sum(map(len, parts)) < size:
        parts.append(
            chance.choice(
                [
                    b"[rank%d]: step %d loss 2.0\n" % (chance.randrange(64), chance.randrange(9999)),
                    b"x" * chance.randrange(3000) + b"\n",
                    b"10%|#| 1/10 [00:01<00:09, 1.0it/s]\r" * chance.randrange(9) + b"\n",
                    b"\xff\xfe\x00\x1b[31m\n",
                    chance.choice(LITERALS) * chance.randrange(3) + b" of %d\n" % chance.randrange(9999),
                ]
            )
        )
    return b"".join(parts)


def kept(data: bytes, engine: str, sizes: list[int] | None = None) -> Scanned:
    return scan(Drip(data, sizes or [1 << 30]), 0, Finders(KEYS, engine))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*LITERALS, b"a", b"ab", b"\n", b"Error: ", b"\xff"]), max_size=60))
def test_finders_find_the_same(parts: list[bytes]) -> None:
    data = memoryview(b"".join(parts))
    found = {name: make(LITERALS).find(data) for name, make in ENGINES.items()}
    assert found["hyperscan"] == found["plain"]
    assert found["re2"] == found["plain"]


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_ten_thousand_literals_are_taken(name: str) -> None:
    """As many as an encyclopedia may come to have, as long as messages are: RE2 has a limit, which grows with them."""
    draw = random.Random(5)
    literals = [bytes(draw.choices(range(32, 127), k=60)) for _ in range(10_000)]
    data = b"xx" + literals[9_999] + b"yy" + literals[0] + literals[4_321][:-1]
    assert ENGINES[name](literals).find(data) == [(2, 9_999), (64, 0)]


@pytest.mark.parametrize("seed", range(4))
def test_chunks_do_not_matter(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = noise(seed, 600_000)
    whole = kept(data, "plain")
    monkeypatch.setattr(scanning, "CHUNK", 70_001)
    assert kept(data, "hyperscan", [1, 70_000, 333]) == whole
    assert kept(data, "re2", [65_536]) == whole


def test_small_logs_are_kept_whole() -> None:
    data = b"".join(b"line %d\n" % number for number in range(9_000))
    found = kept(data, "")
    assert [raw.content for raw in found.kept] == data.split(b"\n")[:-1]
    assert [raw.number for raw in found.kept] == list(range(1, 9_001))
    assert (found.lines, found.size) == (9_000, len(data))


def test_a_hit_in_the_middle_keeps_its_surroundings_and_number() -> None:
    lines = [b"step %d" % number for number in range(200_000)]
    lines[100_000] = b"RuntimeError: here"
    found = kept(b"\n".join(lines), "")
    numbers = {raw.number: raw.content for raw in found.kept}
    assert numbers[100_001] == b"RuntimeError: here"
    assert numbers[99_500] == b"step 99499"
    assert 50_000 not in numbers
    assert len(found.kept) < 20_000
    assert found.lines == 200_000


def test_each_of_many_alike_is_kept_as_a_line() -> None:
    filler = b"x" * 4_000 + b"\n"
    data = b"".join(
        b"[rank%d]: RuntimeError: bad shape %d\n" % (rank, rank) + filler * 10 for rank in range(512)
    )
    ranks = {raw.content for raw in kept(data, "hyperscan").kept if b"RuntimeError" in raw.content}
    assert len(ranks) == 512


def test_an_attempt_begins_the_counts_anew() -> None:
    errors = b"".join(b"RuntimeError: same\n" + b"y" * 3_000 + b"\n" for _ in range(3_000))
    data = (
        errors + b"worker group starts\n" + b"RuntimeError: same\nwhat stands after it\n" + b"z\n" * 400_000
    )
    found = [raw.content for raw in kept(data, "hyperscan").kept]
    assert b"what stands after it" in found


def test_memory_is_constant() -> None:
    """Of what is kept; what the process takes in all is measured in bench/."""
    line = b"[rank7]: RuntimeError: again and again\n" * 50 + b"step 1 loss 2.0\n" * 1_000
    sizes = [sum(len(raw.content) for raw in kept(line * count, "hyperscan").kept) for count in (500, 1_500)]
    assert sizes[1] <= sizes[0] + 1_000 < 5_000_000


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n", b"\r", b"a", b"a\n", b"\x00" * 10])
def test_the_smallest_streams(data: bytes) -> None:
    found = kept(data, "")
    assert found.lines == data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    assert found.size == len(data)


def test_one_line_of_many_megabytes() -> None:
    data = b"start\n" + b"q" * 20_000_000 + b" RuntimeError: in it " + b"q" * 20_000_000 + b"\nlast\n"
    found = kept(data, "hyperscan")
    assert found.lines == 3
    assert all(len(raw.content) <= 32 * 1024 for raw in found.kept)
    assert any(b"RuntimeError: in it" in raw.content for raw in found.kept)
    assert (found.kept[0].content, found.kept[-1].content) == (b"start", b"last")
