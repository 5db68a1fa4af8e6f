"""Signatures and known lines of the bundle, looked for in the kept lines."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..signature import Compiled
from .speaker import Line

BLOCK_BEFORE = 200
BLOCK_AFTER = 50
_BLANKS = re.compile("[ \t]{2,}|\t")


@dataclass(frozen=True)
class Item:
    """A signature of an entry, or a known line that belongs to none."""

    id: str
    entry: str | None
    role: str
    compiled: Compiled
    needs: tuple[Compiled, ...] = ()
    unless: tuple[Compiled, ...] = ()
    own: bool = False
    """Whether the failing rank itself prints it."""


@dataclass(slots=True)
class Hit:
    """An item that matches a line, by its order. ``fits`` says whether its conditions hold."""

    item: Item
    order: int
    captures: dict[str, str]
    fits: bool = True


def items_of(bundle: Mapping[str, Any]) -> list[Item]:
    """All signatures, then all known lines, in the bundle's order."""
    return [_item(row) for row in (*bundle["signatures"], *bundle["lines"])]


def _item(row: Mapping[str, Any]) -> Item:
    return Item(
        row["id"],
        row.get("entry"),
        row["role"],
        _compiled(row),
        tuple(_compiled(condition) for condition in row.get("needs", ())),
        tuple(_compiled(condition) for condition in row.get("unless", ())),
        row.get("printed_by") == "failing-rank",
    )


def _compiled(row: Mapping[str, Any]) -> Compiled:
    return Compiled(row["literal"], row["key_line"], tuple(row["expressions"]), tuple(row["captures"]))


@dataclass
class Text:
    """The kept lines as texts to search: whole lines, and each stream's lines in order."""

    lines: list[Line]
    streams: dict[str, list[int]] = field(default_factory=dict)
    place: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for line in self.lines:
            members = self.streams.setdefault(line.stream, [])
            self.place.append(len(members))
            members.append(line.order)

    def neighbours(self, order: int, before: int, after: int) -> list[Line]:
        """Lines of the same stream around a line, itself included."""
        members = self.streams[self.lines[order].stream]
        at = self.place[order]
        return [self.lines[o] for o in members[max(0, at - before) : at + after + 1]]


def find_hits(text: Text, items: list[Item]) -> dict[int, list[Hit]]:
    """The hits by the line's order; of a template of several lines, by its first line."""
    joined, starts = _join(text.lines)
    hits: dict[int, list[Hit]] = {}
    for item in items:
        for order in _lines_with(item.compiled.literal, joined, starts):
            found = _match(item.compiled, order, text)
            if found is not None:
                first, captures = found
                hits.setdefault(first, []).append(Hit(item, first, captures))
    return hits


def _join(lines: list[Line]) -> tuple[str, list[int]]:
    """All lines as one text, runs of blanks as one, and where each line starts in it."""
    starts = []
    offset = 0
    texts = [_BLANKS.sub(" ", line.text) for line in lines]
    for text in texts:
        starts.append(offset)
        offset += len(text) + 1
    return "\n".join(texts), starts


def _lines_with(literal: str, joined: str, starts: list[int]) -> list[int]:
    """The orders of the lines that hold the literal."""
    orders = []
    at = joined.find(literal)
    while at >= 0:
        order = bisect.bisect_right(starts, at) - 1
        orders.append(order)
        following = starts[order + 1] if order + 1 < len(starts) else len(joined)
        at = joined.find(literal, following)
    return orders


def _match(compiled: Compiled, order: int, text: Text) -> tuple[int, dict[str, str]] | None:
    """The first line of a match that has the literal in this line, and the captures."""
    members = text.streams[text.lines[order].stream]
    first = text.place[order] - compiled.key_line
    span = members[first : first + len(compiled.expressions)] if first >= 0 else []
    match = compiled.search([text.lines[each].text for each in span])
    return None if match is None else (span[0], match.captures)


def conditions_hold(item: Item, order: int, text: Text) -> bool:
    """Whether what the item needs stands near the line, and what it excludes does not."""
    if not item.needs and not item.unless:
        return True
    block = text.neighbours(order, BLOCK_BEFORE, BLOCK_AFTER)
    return all(_stands(each, block) for each in item.needs) and not any(
        _stands(each, block) for each in item.unless
    )


def _stands(compiled: Compiled, block: list[Line]) -> bool:
    size = len(compiled.expressions)
    for at, line in enumerate(block):
        if compiled.literal in line.text:
            first = at - compiled.key_line
            span = block[first : first + size] if first >= 0 else []
            if compiled.search([each.text for each in span]) is not None:
                return True
    return False
