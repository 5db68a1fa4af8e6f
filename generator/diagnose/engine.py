"""Kept lines → the answer of schema 1."""

from __future__ import annotations

from typing import Any

from .attempts import last_attempt
from .clean import Raw
from .events import read_events
from .exits import read_exits
from .knowledge import Knowledge
from .match import Item, Text, find_hits
from .roles import give_roles
from .speaker import attribute
from .verdict import Scene, Verdict, judge
from .witness import hear


def examine(raws: list[Raw], names: list[str], items: list[Item], knowledge: Knowledge) -> tuple[Scene, Verdict]:
    lines = attribute(raws, names, knowledge)
    text = Text(lines)
    told = read_events(lines, knowledge, find_hits(text, items))
    give_roles(told.events, text, knowledge)
    attempt = last_attempt(told.events, told.progress)
    exits = read_exits(attempt.events, lines, knowledge)
    heard = hear(attempt.events, knowledge)
    members, closed = _members(lines, knowledge)
    scene = Scene(attempt, exits, heard, text, members, closed, knowledge)
    return scene, judge(scene)


def _members(lines: list[Any], knowledge: Knowledge) -> tuple[list[int], bool]:
    """The ranks that there must be, and whether their number is stated."""
    seen = -1
    stated = 0
    for line in lines:
        for rank in (line.rank, line.said):
            if rank is not None:
                seen = max(seen, rank)
        for pattern in knowledge.world:
            match = pattern.search(line.text)
            if match:
                stated = max(stated, int(match.group(1)))
    return list(range(max(stated, seen + 1))), stated > 0
