"""The last attempt of a run that was started several times, and faults that the run got over."""

from __future__ import annotations

from dataclasses import dataclass, field

from .events import Event
from .speaker import Line

FAULTS = ("cause", "ambiguous", "wrapper", "cut", "local", "death", "peer", "witness", "supervisor", "teardown")
STEPS_AFTER = 3


@dataclass(slots=True)
class Attempt:
    """What belongs to the last attempt."""

    number: int = 1
    start: int = 0
    events: list[Event] = field(default_factory=list)
    recovered: list[Event] = field(default_factory=list)


def last_attempt(events: list[Event], progress: list[Line]) -> Attempt:
    """The events after the last start that follows a fault, without those that the run got over.

    A start that follows no fault (one a node, one a rank) begins no other attempt.
    """
    attempt = Attempt()
    failed = False
    for event in events:
        starts = any(hit.item.role == "attempt" for hit in event.hits)
        if starts and failed:
            attempt.number += 1
            attempt.start = event.line.order
            attempt.events = []
            failed = False
        if event.role in FAULTS:
            failed = True
        attempt.events.append(event)
    _set_recovered_aside(attempt, progress)
    return attempt


def _set_recovered_aside(attempt: Attempt, progress: list[Line]) -> None:
    """Faults after which the same rank went on.

    Where nothing tells who speaks, another rank's progress could be taken for the failed one's: then the
    steps after it must be several and no launcher may tell of a failure.
    """
    ended = any(event.role in ("supervisor", "death", "peer", "witness") for event in attempt.events)
    kept = []
    for event in attempt.events:
        if event.role in ("quiet",) or (_may_recover(event) and _went_on(event, progress, ended)):
            attempt.recovered.append(event)
        else:
            kept.append(event)
    attempt.events = kept


def _may_recover(event: Event) -> bool:
    if event.role in ("overflow", "numeric"):
        return event.role == "overflow"
    return event.role in ("cause", "ambiguous", "wrapper", "cut", "weak", "local", "peer", "witness")


def _went_on(event: Event, progress: list[Line], ended: bool) -> bool:
    after = [line for line in progress if line.order > event.line.order]
    same = [line for line in after if line.stream == event.line.stream]
    if event.rank is not None or event.line.pid is not None:
        return len({line.number for line in same}) >= STEPS_AFTER
    return not ended and len({line.number for line in same}) >= STEPS_AFTER
