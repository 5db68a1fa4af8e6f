"""Runs as nobody would write them: logs of several files with other prefixes, telling lines, odd bytes and encodings.

The same seed gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from .mutated_logs import mutate

Log = list[tuple[str, bytes]]
"""Files of one run: names and bytes."""

MOST_MUTATIONS = 4
MOST_BYTES = 1 << 20
FILLER = b"[rank%d]: 2026-11-30 09:%02d:%02d,000 INFO train: step %d loss 2.31 lr 1.0e-04\n"
PREFIXES = (
    b"[rank3]: ", b"[default1]:", b"2: ", b" 7: ", b"(RayTrainWorker pid=4711, ip=192.0.2.7) ", b"[1,5]<stderr>:",
    b"node-3: ", b"worker-0  | ", b"node-1:4242:4343 [0] NCCL INFO ", b"[2026-11-30 09:12:44,120] [ERROR] ",
    b"Nov 30 09:12:44 node-2 kernel: ", b"[ 1234.567890] ", b"[rank0]:[E1130 09:12:44.120000000 ProcessGroupNCCL.cpp:632] ",
    b"INFO:train: ", b"WARNING 11-30 09:12:44 [core.py:12] ", b"  | ", b"  +---------------- 1 ----------------\n  | ",
    b"[Rank 2] ", b"ERROR: ", b" 45%|####5     | 45/100 [00:12<00:15,  3.66it/s]", b"stderr F ",
)  # fmt: skip
ODD_BYTES = (
    b"\x00", b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf", b"\x80",
    b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"\xc2\x85", b"\xe2\x80\xa8", b"\x1b[31m", b"\x1b[0m", b"\x1b]0;title\x07", b"\x1b",
    b"\x1b[2K", b"\x07", b"\x0b", b"\x0c", b"\x7f", b"\xc2\xa0", b"\t", b"\r", b"\r\n", b"\xc3\xa9",
)  # fmt: skip
SAID = (
    b"Traceback (most recent call last):", b"KeyError: 0", b"During handling of the above exception, another exception occurred:",
    b"The above exception was the direct cause of the following exception:", b"Killed", b"exits with return code = -9",
    b"exitcode  : " + b"9" * 30 + b" (pid: " + b"1" * 5000 + b")", b"failed (exitcode: -15) local_rank: 3 (pid: 99) of binary: x",
    b"world_size=512", b"Sending process 4711 closing signal SIGTERM", b"attempts left; will restart worker group",
    b"E   assert\xc2\xa0False and more", b"Retrying", b"Fatal Python error: Segmentation fault", b"NCCL WARN it broke",
    b"[PG ID 0 PG GUID 0(default_pg) Rank 3] failure detected by watchdog at work sequence id: 999999999999999999 PG status: "
    b"last enqueued work: 999999999999999999, last completed work: 5",
    b"[1,2," + b"7" * 900 + b"] finished collective #3, but didn't join collective #4",
)  # fmt: skip


def mutated(log: Log, others: Sequence[Log], random: Random) -> Log:
    """The log after one to four mutations."""
    files = list(log)
    for _ in range(random.randint(1, MOST_MUTATIONS)):
        at = random.randrange(len(files))
        name, content = files[at]
        mutate = random.choice(MUTATIONS)
        files[at] = (name, mutate(content, random)[:MOST_BYTES])
        if random.random() < 0.1:
            other = random.choice(others)
            files.append((f"{len(files)}/{other[0][0]}", other[0][1]))
    if random.random() < 0.1:
        name, content = files[0]
        files[0] = (name, _in_another_encoding(content, random))
    return files


def _lines(content: bytes) -> list[bytes]:
    return content.split(b"\n")


def _cut_bytes(content: bytes, random: Random) -> bytes:
    if not content:
        return content
    at = random.randrange(len(content))
    return content[at:] if random.random() < 0.3 else content[:at]


def _prefixed(content: bytes, random: Random) -> bytes:
    """Another prefix on all lines, or on some."""
    share = random.choice((0.1, 0.5, 1))
    chosen = random.sample(PREFIXES, random.randint(1, 3))
    return b"\n".join(
        random.choice(chosen) + line if random.random() < share else line for line in _lines(content)
    )


def _ranks_changed(content: bytes, random: Random) -> bytes:
    for rank in range(4):
        content = content.replace(b"[rank%d]" % rank, b"[rank%d]" % random.randrange(600))
    return content


def _odd_bytes(content: bytes, random: Random) -> bytes:
    parts = bytearray(content)
    for _ in range(random.randint(1, 30)):
        at = random.randint(0, len(parts))
        parts[at:at] = random.choice(ODD_BYTES) * random.choice((1, 1, 1, 3))
    return bytes(parts)


def _said(content: bytes, random: Random) -> bytes:
    """Telling lines that were not there."""
    lines = _lines(content)
    for _ in range(random.randint(1, 6)):
        at = random.randint(0, len(lines))
        lines.insert(at, random.choice((b"", random.choice(PREFIXES))) + random.choice(SAID))
    return b"\n".join(lines)


def _long_line(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    at = random.randrange(len(lines))
    filler = random.choice((b"x", b"\xc3\xa9", b"\xf0\x9f\x98\x80", b"ab ", b"Error: "))
    half = random.randint(1, 60_000) // len(filler)
    lines[at] = filler * half + lines[at] + filler * random.randint(0, half)
    return b"\n".join(lines)


def _spread(content: bytes, random: Random) -> bytes:
    """So much between two lines that the scan has to choose."""
    lines = _lines(content)
    at = random.randint(0, len(lines))
    count = random.randint(500, 6_000)
    steps = [FILLER % (step % 8, step // 60 % 60, step % 60, step) for step in range(count)]
    return b"\n".join(lines[:at]) + b"\n" + b"".join(steps) + b"\n".join(lines[at:])


def _repeated(content: bytes, random: Random) -> bytes:
    lines = _lines(content)
    start = random.randrange(len(lines))
    block = lines[start : start + random.randint(1, 12)]
    return b"\n".join(lines[:start] + block * random.randint(2, 200) + lines[start:])


def _in_another_encoding(content: bytes, random: Random) -> bytes:
    text = content.decode("utf-8", "replace")
    if random.random() < 0.3:
        return b"\xef\xbb\xbf" + content
    mark, encoding = random.choice(((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")))
    coded = bytearray(mark + text.encode(encoding))
    for _ in range(random.choice((0, 0, 3))):
        at = random.randrange(2, len(coded) + 1)
        coded[at:at] = random.choice((b"\x00\xd8", b"\xd8\x00", b"\xdc\x00", b"\x00"))
    return bytes(coded)


MUTATIONS: tuple[Callable[[bytes, Random], bytes], ...] = (
    mutate,
    mutate,
    mutate,
    _cut_bytes,
    _prefixed,
    _ranks_changed,
    _odd_bytes,
    _said,
    _long_line,
    _spread,
    _repeated,
)
