"""The last attempt of a run that was started several times, and faults that the run got over."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field

from .events import Event, Told
from .knowledge import Knowledge

FAULTS = ("cause", "ambiguous", "wrapper", "cut", "local", "death", "peer", "witness", "supervisor")
ENDS = ("supervisor", "death", "peer", "witness")
MAY_RECOVER = ("cause", "ambiguous", "wrapper", "cut", "weak", "local", "peer", "witness")
STEPS_AFTER = 3


@dataclass(slots=True)
class Attempt:
    """What belongs to the last attempt; ``starts`` are the orders of the lines that begin it, by file."""

    number: int = 1
    starts: dict[int, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    recovered: list[Event] = field(default_factory=list)


def last_attempt(told: Told, names: Sequence[str], knowledge: Knowledge) -> Attempt:
    """The events after the last start that follows a fault, without those that the run got over.

    A start that follows no fault (one a node, one a rank) begins no other attempt. Each file has its own.
    """
    attempt = Attempt()
    starts: dict[int, int] = {}
    numbers: dict[int, int] = {}
    failed: set[int] = set()
    for event in told.events:
        file = event.line.file
        if any(hit.item.role == "attempt" for hit in event.hits):
            if file in failed:
                failed.discard(file)
                numbers[file] = numbers.get(file, 1) + 1
            if numbers.get(file, 1) > 1:
                starts[file] = event.line.order
        if event.role in FAULTS:
            failed.add(file)
    folders = [_attempt_of(name, knowledge) for name in names]
    newest = max(folders, default=0)
    attempt.starts = starts
    attempt.number = max(max(numbers.values(), default=1), newest + 1)
    last = [
        event
        for event in told.events
        if event.line.order >= starts.get(event.line.file, 0) and folders[event.line.file] in (-1, newest)
    ]
    ended = any(event.role in ENDS for event in last)
    for event in last:
        recovered = event.role == "quiet" or (event.role in MAY_RECOVER and _went_on(event, told, ended))
        (attempt.recovered if recovered else attempt.events).append(event)
    return attempt


def _attempt_of(name: str, knowledge: Knowledge) -> int:
    """The attempt that a file's folder names, as torchrun's log folders do; -1 where none does."""
    match = knowledge.single["attempt_folder"].search(name)
    return int(match.group(1)) if match else -1


def _went_on(event: Event, told: Told, ended: bool) -> bool:
    """Whether the same rank went on after a fault.

    Where nothing tells who speaks, another rank's steps could be taken for the failed one's: then no launcher
    may tell of a failure.
    """
    if told.finished.get(event.line.file, -1) > event.line.order:
        return True
    if ended and event.rank is None and event.line.pid is None:
        return False
    steps = told.progress.get(event.line.stream, [])
    return len(steps) - bisect.bisect_right(steps, event.line.order) >= STEPS_AFTER
