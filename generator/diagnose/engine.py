"""Streams of bytes → the answer: the stages in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .attempts import last_attempt
from .clean import Raw
from .events import read_events
from .exits import Exits, read_exits
from .knowledge import Knowledge, load_data
from .match import Item, Text, find_hits, items_of
from .report import Input, Reporter, shown
from .roles import give_roles
from .scan import Finders, Keys, Stream, scan
from .speaker import Line, attribute
from .text import Shown
from .verdict import Scene, Verdict, judge
from .witness import hear

UNSCANNED = ("progress", "advice")
"""Roles of lines that are too frequent, and tell too little, to be looked for in gigabytes."""
MOST_RANKS = 100_000
CONTEXT = 2


@dataclass(slots=True)
class Logs:
    """What was read: the inputs, and of each the lines worth reading."""

    inputs: list[Input] = field(default_factory=list)
    kept: list[Raw] = field(default_factory=list)


@dataclass(frozen=True)
class Conclusion:
    """The answer, the lines around its beginning, and what the codes in it mean."""

    answer: dict[str, Any]
    context: list[Shown]
    why: Mapping[str, str]


class Engine:
    """Diagnoses logs by one bundle."""

    def __init__(self, bundle: Mapping[str, Any], finder: str = "") -> None:
        self._bundle = bundle
        self._tables = load_data()
        self.knowledge = Knowledge(self._tables)
        self._items = items_of(bundle)
        self._finders = Finders(keys_of(self._items, self.knowledge), finder)

    def diagnose(self, streams: Iterable[tuple[str, Stream]]) -> dict[str, Any]:
        """The answer of schema 1 for named streams. Raises what a stream raises."""
        logs = Logs()
        for name, stream in streams:
            self.read(logs, name, stream)
        return self.conclude(logs).answer

    def read(self, logs: Logs, name: str, stream: Stream) -> None:
        """Adds a stream to the logs, or nothing where it raises."""
        scanned = scan(stream, len(logs.inputs), self._finders)
        logs.inputs.append(Input(name, scanned.lines, scanned.size))
        logs.kept.extend(scanned.kept)

    def conclude(self, logs: Logs) -> Conclusion:
        scene, verdict = self.judged(logs)
        answer = Reporter(scene, verdict, logs.inputs, self._bundle, self._tables).answer()
        return Conclusion(answer, _context(scene, verdict), self._tables["why"])

    def judged(self, logs: Logs) -> tuple[Scene, Verdict]:
        """What is known of the last attempt, and what follows from it."""
        knowledge = self.knowledge
        names = [each.name for each in logs.inputs]
        lines = attribute(logs.kept, names, knowledge)
        text = Text(lines)
        told = read_events(lines, knowledge, find_hits(text, self._items))
        give_roles(told.events, text, knowledge)
        attempt = last_attempt(told, names, knowledge)
        exits = read_exits(attempt.events, _stated_world(lines, knowledge), knowledge)
        heard = hear(attempt.events, knowledge)
        members = _members(lines, exits)
        scene = Scene(attempt, exits, heard, text, members, exits.world > 0, knowledge)
        return scene, judge(scene)


def keys_of(items: list[Item], knowledge: Knowledge) -> Keys:
    """The literals of the scan, each once, sorted."""
    scanned = {item.compiled.literal: False for item in items if item.role not in UNSCANNED}
    scanned.update(dict.fromkeys(knowledge.literals, False))
    scanned.update({item.compiled.literal: True for item in items if item.role == "attempt"})
    literals = sorted(scanned)
    restarts = frozenset(number for number, literal in enumerate(literals) if scanned[literal])
    return Keys(tuple(literal.encode() for literal in literals), restarts)


def _stated_world(lines: list[Line], knowledge: Knowledge) -> int:
    """The largest number of ranks that a line states, or 0."""
    stated = 0
    for line in lines:
        for literal, pattern in knowledge.world:
            if literal in line.text:
                match = pattern.search(line.text)
                stated = max(stated, int(match.group(1)) if match else 0)
    return stated


def _members(lines: list[Line], exits: Exits) -> list[int]:
    """The ranks that there must be: as many as stated, and all below the highest that is named."""
    named = [rank for line in lines for rank in (line.rank, line.said) if rank is not None]
    named += [each.rank for each in exits.exits if each.rank is not None]
    return list(range(min(max([exits.world - 1, *named]) + 1, MOST_RANKS)))


def _context(scene: Scene, verdict: Verdict) -> list[Shown]:
    """The line that is named, with its neighbours of the same speaker."""
    line = verdict.initiating.line if verdict.initiating else None
    if line is None:
        return []
    near = scene.text.neighbours(line.order, CONTEXT, CONTEXT)
    return [Shown(each.number, shown(each.text), each is line) for each in near]
