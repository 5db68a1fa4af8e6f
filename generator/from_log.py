"""A log of a failure that no entry explains → what a new entry says of it.

The JavaScript twin is ``static/engine/draft.js`` with ``static/js/draft-entry.js``.
"""

from __future__ import annotations

import zlib
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .diagnose.engine import Engine, Logs
from .diagnose.read import Source, sources_of
from .redact import Redaction, redacted, redactions_of

BEFORE, AFTER = 200, 80
"""Lines around the beginning that are kept of a log."""
LONGEST_LINE = 4000


@dataclass(frozen=True)
class Beginning:
    """The line that began it, as it stands in ``log``: the lines around it, with names replaced."""

    message: str
    line: int
    """1-based, in ``log``."""
    ranks: tuple[int, ...]
    symmetric: bool
    explained_by: str | None
    """The entry whose message the line is, where there is one."""
    log: str
    redactions: tuple[tuple[Redaction, int], ...]
    """What was replaced, and how often."""


def beginning_of(path: str, bundle: Mapping[str, Any]) -> Beginning:
    """Where the failure in a log begins. Raises OSError, and ValueError where it can't be read or no line tells it."""
    try:
        return _beginning_of(path, bundle)
    except (EOFError, zlib.error) as error:
        raise ValueError(f"{path}: {error}") from error


def _beginning_of(path: str, bundle: Mapping[str, Any]) -> Beginning:
    (source, *others) = sources_of([path])
    if isinstance(source, str):
        raise ValueError(source)
    if others:
        raise ValueError(f"{path}: a folder; name the log of the rank that failed first")
    engine, logs = Engine(bundle), Logs()
    engine.read(logs, source.name, source.open())
    answer = engine.conclude(logs).answer
    found = answer["initiating"] or {}
    if found.get("line") is None:
        if not answer["unmatched"]:
            raise ValueError(f"{path}: no line of it is known for an error; say --message instead")
        found = {**answer["unmatched"][0], "ranks": [], "symmetric": False, "entry": None}
    lines, at = _around(source, found["line"])
    log = "\n".join(lines) + "\n"
    redactions = redactions_of([log])
    clean = redacted(log, redactions)
    counts = Counter({each.found: log.count(each.found) for each in redactions})
    return Beginning(
        message=redacted(found["text"], redactions),
        line=at,
        ranks=tuple(found["ranks"]),
        symmetric=found["symmetric"],
        explained_by=found["entry"],
        log=clean,
        redactions=tuple((each, counts[each.found]) for each in redactions),
    )


def _around(source: Source, number: int) -> tuple[list[str], int]:
    """The lines around a line, and its place among them, 1-based."""
    before: deque[str] = deque(maxlen=BEFORE + 1)
    after: list[str] = []
    for at, line in enumerate(_lines(source), 1):
        if at <= number:
            before.append(line)
        elif at <= number + AFTER:
            after.append(line)
        else:
            break
    return [*before, *after], len(before)


def _lines(source: Source) -> Iterator[str]:
    """The log's lines, cut where they are endless."""
    stream = source.open()
    buffer = memoryview(bytearray(1 << 16))
    rest = b""
    while read := stream.readinto(buffer):
        *whole, rest = (rest + buffer[:read]).split(b"\n")
        for line in whole:
            yield _text(line)
        rest = rest[: 4 * LONGEST_LINE]
    if rest:
        yield _text(rest)


def _text(line: bytes) -> str:
    """The line as text. UTF-16 without a mark loses its zero bytes, so that what is to be replaced is seen."""
    bare = line.replace(b"\0", b"").removesuffix(b"\r")
    return bare.decode("utf-8", "replace")[:LONGEST_LINE]
