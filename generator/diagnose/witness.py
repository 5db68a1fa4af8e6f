"""Who waited for whom: what the ranks that did not fail tell of the one that did."""

from __future__ import annotations

from dataclasses import dataclass, field

from .events import Event
from .exits import whole
from .knowledge import Knowledge
from .speaker import Line

STORE = ("store-", "rendezvous-")
BARRIER = "monitored-barrier-other"


@dataclass(slots=True)
class Waiting:
    """A rank's word that it waited: in which process group, at which step, in which operation."""

    rank: int
    group: str
    sequence: int
    operation: str = ""
    numel: str = ""
    waited: int = 0
    line: Line | None = None


@dataclass(slots=True)
class Status:
    """How far a rank was in a process group."""

    rank: int
    group: str
    enqueued: int
    completed: int


@dataclass(slots=True)
class Testimony:
    """All that waiting and surviving ranks told; ``innocent`` are those who told."""

    waiting: list[Waiting] = field(default_factory=list)
    status: list[Status] = field(default_factory=list)
    named: list[int] = field(default_factory=list)
    innocent: list[int] = field(default_factory=list)
    store: bool = False
    barrier: bool = False
    witnesses: int = 0
    reports: int = 0

    @property
    def waiters(self) -> list[int]:
        return sorted({each.rank for each in self.waiting})


@dataclass(slots=True)
class Inference:
    """Whom the testimony points at: ranks, how it is known, and what is missing to be sure."""

    ranks: list[int]
    code: str
    missing: str
    firm: bool = False
    line: Line | None = None


def hear(events: list[Event], knowledge: Knowledge) -> Testimony:
    """What the witnesses and the reports of others' deaths tell."""
    heard = Testimony()
    for event in events:
        if event.role in ("witness", "peer", "teardown", "advice"):
            _hear(event, knowledge, heard)
    _join_groups(heard)
    return heard


def _join_groups(heard: Testimony) -> None:
    """Gives a timeout line, which names no group, the group of the same rank's next line on that step."""
    groups = {(each.rank, each.sequence): each.group for each in reversed(heard.waiting) if each.group}
    for each in heard.waiting:
        each.group = each.group or groups.get((each.rank, each.sequence), "")


def _hear(event: Event, knowledge: Knowledge, heard: Testimony) -> None:
    text = event.line.text if event.kind != "exception" else event.whole
    patterns = knowledge.watchdog
    rank = _speaker(event, text, knowledge)
    match = patterns["group"].search(text)
    group = match.group(1) if match else ""
    if event.role == "witness":
        heard.witnesses += 1
    if event.role == "peer":
        heard.reports += 1
    if event.role in ("witness", "peer") and rank is not None and rank not in heard.innocent:
        heard.innocent.append(rank)
    if event.role in ("witness", "peer") and any(hit.item.id.startswith(STORE) for hit in event.hits):
        heard.store = True
    if event.role in ("witness", "peer") and any(hit.item.id == BARRIER for hit in event.hits):
        heard.barrier = True
    _hear_watchdog(event, text, rank, group, knowledge, heard)
    _hear_names(text, knowledge, heard)


def _hear_watchdog(
    event: Event, text: str, rank: int | None, group: str, knowledge: Knowledge, heard: Testimony
) -> None:
    patterns = knowledge.watchdog
    timeout = patterns["timeout"].search(text)
    if timeout and rank is not None:
        sequence, operation, inside, outside, _, waited = timeout.groups()
        numel = f"{inside or ''}/{outside or ''}"
        heard.waiting.append(Waiting(rank, group, int(sequence), operation, numel, int(waited), event.line))
    detected = patterns["detected"].search(text)
    if detected and rank is not None and not timeout:
        heard.waiting.append(Waiting(rank, group, int(detected.group(1)), line=event.line))
    status = patterns["progress"].search(text)
    if status and rank is not None:
        heard.status.append(Status(rank, group, int(status.group(1)), int(status.group(2))))


def _hear_names(text: str, knowledge: Knowledge, heard: Testimony) -> None:
    barrier = knowledge.single["barrier"].search(text)
    lists = [barrier.group(1)] if barrier else []
    finished = knowledge.watchdog["finished"].search(text)
    if finished:
        lists.append(finished.group(1))
    for each in lists:
        for number in map(whole, each.replace(" ", "").split(",")):
            if number is not None and number not in heard.named:
                heard.named.append(number)


def _speaker(event: Event, text: str, knowledge: Knowledge) -> int | None:
    if event.rank is not None:
        return event.rank
    match = knowledge.watchdog["rank"].search(text)
    if match:
        return int(match.group(1))
    match = knowledge.watchdog["group"].search(text) or knowledge.single["aborted"].search(text)
    if match:
        return int(match.groups()[-1])
    return event.line.said if event.line.said is not None else event.line.local


def infer(heard: Testimony, members: list[int], closed: bool) -> Inference | None:
    """Whom the silence points at. ``closed``: the members are known, not only those that were seen."""
    if heard.named:
        return Inference(sorted(heard.named), "named-by-witness", "log-of-rank")
    if heard.waiting:
        return _from_waiting(heard, members, closed)
    if heard.store and 0 not in heard.innocent:
        return Inference([0], "store-host", "log-of-rank")
    if heard.barrier and 0 not in heard.innocent:
        return Inference([0], "barrier-head", "log-of-rank")
    return _from_silence(heard.innocent, members) if heard.innocent else None


def _from_waiting(heard: Testimony, members: list[int], closed: bool) -> Inference | None:
    odd = _odd(heard)
    if odd:
        return Inference(odd, "odd-operation", "python-stack", line=_line_of(odd, heard))
    behind = _behind(heard)
    if behind:
        told = {each.rank for each in heard.status} | set(heard.waiters)
        return Inference(behind, "behind", "python-stack", firm=closed and told >= set(members))
    absent = [rank for rank in members if rank not in heard.waiters]
    if absent:
        return _from_silence(heard.waiters, members)
    slowest = _slowest(heard)
    return Inference(slowest, "lowest-sequence", "process-groups") if slowest else None


def _behind(heard: Testimony) -> list[int]:
    """Ranks that never started the step at which the others wait."""
    groups = sorted({each.group for each in heard.waiting})
    found: set[int] = set()
    for group in groups:
        first = min(each.sequence for each in heard.waiting if each.group == group)
        found |= {
            each.rank
            for each in heard.status
            if each.group == group and each.enqueued < first and each.rank not in heard.waiters
        }
    return sorted(found)


def _from_silence(spoke: list[int], members: list[int]) -> Inference | None:
    silent = [rank for rank in members if rank not in spoke]
    if not silent or 2 * len(silent) > max(2, len(members)):
        return None
    return Inference(silent, "silent", "log-of-rank")


def _odd(heard: Testimony) -> list[int]:
    """The ranks that ran another operation, or another size, at the same step: the minority.

    Of two that differ, the one that has come less far.
    """
    for group, sequence in sorted({(each.group, each.sequence) for each in heard.waiting}):
        kinds: dict[str, list[int]] = {}
        for each in heard.waiting:
            if (each.group, each.sequence) == (group, sequence) and each.operation:
                ranks = kinds.setdefault(f"{each.operation} {each.numel}", [])
                if each.rank not in ranks:
                    ranks.append(each.rank)
        if len(kinds) < 2:
            continue
        sides = sorted(kinds.values(), key=lambda ranks: (len(ranks), _furthest(ranks, group, heard)))
        first, second = sides[0], sides[1]
        if len(first) < len(second) or _furthest(first, group, heard) < _furthest(second, group, heard):
            return sorted(first)
    return []


def _furthest(ranks: list[int], group: str, heard: Testimony) -> int:
    """How far the ranks had come, by their last enqueued step."""
    told = [each.enqueued for each in heard.status if each.group == group and each.rank in ranks]
    return max(told, default=-1)


def _line_of(ranks: list[int], heard: Testimony) -> Line | None:
    return next((each.line for each in heard.waiting if each.rank in ranks), None)


def _slowest(heard: Testimony) -> list[int]:
    groups = {each.group for each in heard.waiting}
    if len(groups) != 1:
        return []
    lowest = min(each.sequence for each in heard.waiting)
    if all(each.sequence == lowest for each in heard.waiting):
        return []
    return sorted({each.rank for each in heard.waiting if each.sequence == lowest})
