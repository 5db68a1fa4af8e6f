"""Logs as they reach us: cut, shuffled between ranks, with other prefixes, escapes and broken bytes.

The same seed gives the same bytes, so that both engines can be given the same ones.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
MUTATIONS = 4


@cache
def samples() -> tuple[bytes, ...]:
    """The logs to start from: vectors, healthy runs, logs of entries."""
    folders = [
        ROOT / "tests" / "vectors" / "diagnose",
        ROOT / "content" / "healthy",
        ROOT / "content" / "failures",
    ]
    paths = sorted(path for folder in folders for path in folder.rglob("*.log"))
    return tuple(path.read_bytes() for path in paths)


def mutate(log: bytes, chance: Random) -> bytes:
    """The log with one to four things done to it."""
    for _ in range(chance.randrange(1, MUTATIONS + 1)):
        log = chance.choice(_CHANGES)(log, chance)
    return log


def _lines(log: bytes) -> list[bytes]:
    return log.split(b"\n")


def _cut_lines(log: bytes, chance: Random) -> bytes:
    lines = _lines(log)
    start = chance.randrange(len(lines))
    return b"\n".join(lines[start : start + chance.randrange(1, len(lines) + 1)])


def _drop_lines(log: bytes, chance: Random) -> bytes:
    return b"\n".join(line for line in _lines(log) if chance.random() > 0.2)


def _cut_columns(log: bytes, chance: Random) -> bytes:
    width = chance.randrange(10, 120)
    return b"\n".join(line[:width] for line in _lines(log))


def _wrap(log: bytes, chance: Random) -> bytes:
    width = chance.randrange(40, 120)
    return b"\n".join(line[at : at + width] for line in _lines(log) for at in range(0, len(line) or 1, width))


def _shuffle_near(log: bytes, chance: Random) -> bytes:
    lines = list(enumerate(_lines(log)))
    reach = chance.randrange(2, 30)
    return b"\n".join(line for _, line in sorted(lines, key=lambda pair: pair[0] + chance.randrange(reach)))


def _shuffle(log: bytes, chance: Random) -> bytes:
    lines = _lines(log)
    chance.shuffle(lines)
    return b"\n".join(lines)


def _other_prefix(log: bytes, chance: Random) -> bytes:
    prefix = chance.choice(
        (
            b"%d: ",
            b"[default%d]:",
            b"[1,%d]<stderr>:",
            b"(Worker pid=%d) ",
            b"node-%d: ",
            b"worker-%d  | ",
            b"[rank%d]: ",
        )
    )
    ranks = chance.randrange(1, 9)
    return b"\n".join(prefix % chance.randrange(ranks) + line for line in _lines(log))


def _no_prefix(log: bytes, chance: Random) -> bytes:
    return b"\n".join(
        line.split(b"]: ", 1)[-1] if line.startswith(b"[rank") else line for line in _lines(log)
    )


def _carriage_returns(log: bytes, chance: Random) -> bytes:
    return log.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\r\r\n")))


def _colours(log: bytes, chance: Random) -> bytes:
    return b"\n".join(b"\x1b[3%dm%s\x1b[0m" % (chance.randrange(8), line) for line in _lines(log))


def _broken_bytes(log: bytes, chance: Random) -> bytes:
    data = bytearray(log)
    for _ in range(1 + len(data) // 200):
        if data:
            data[chance.randrange(len(data))] = chance.choice(
                (0, 0xFF, 0xC3, 0x80, 0x1B, 0xE2, 0x0D, 0x0C, 0x85)
            )
    return bytes(data)


def _zeros(log: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(log) + 1)
    return log[:at] + b"\x00" * chance.randrange(1, 5_000) + log[at:]


def _long_line(log: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(log) + 1)
    return log[:at] + chance.choice((b"x", b"10%|#| ", b"]: ")) * chance.randrange(1, 60_000) + log[at:]


def _bars(log: bytes, chance: Random) -> bytes:
    bar = b"\r %2d%%|##| %d/100 [00:0%d<00:09, 1.01it/s]"
    return b"\n".join(
        bar % (n % 99, n % 99, n % 9) + line if chance.random() < 0.3 else line
        for n, line in enumerate(_lines(log))
    )


def _join(log: bytes, chance: Random) -> bytes:
    return log + chance.choice((b"", b"\n")) + chance.choice(samples())


def _repeat(log: bytes, chance: Random) -> bytes:
    return (log + b"\n") * chance.randrange(2, 4)


_CHANGES = (
    *(_cut_lines, _drop_lines, _cut_columns, _wrap, _shuffle_near, _shuffle, _other_prefix, _no_prefix),
    *(_carriage_returns, _colours, _broken_bytes, _zeros, _long_line, _bars, _join, _repeat),
)
