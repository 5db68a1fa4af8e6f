"""Signatures and known lines of the bundle, looked for in the kept lines."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass, field
from typing import Any

from .speaker import Line

BLOCK_BEFORE = 200
BLOCK_AFTER = 50


@dataclass(frozen=True)
class Template:
    """A compiled template: an expression a line, and the literal in the line ``key_line``."""

    literal: str
    key_line: int
    patterns: tuple[re.Pattern[str], ...]
    captures: tuple[str, ...]

    def search(self, texts: list[str]) -> dict[str, str] | None:
        """What the holes hold where all lines match, else None."""
        groups: list[str] = []
        for pattern, text in zip(self.patterns, texts, strict=True):
            match = pattern.search(text)
            if match is None:
                return None
            groups.extend(group or "" for group in match.groups()[1:])
        return dict(zip(self.captures, groups, strict=True))


@dataclass(frozen=True)
class Item:
    """A signature of an entry, or a known line that belongs to none."""

    id: str
    entry: str | None
    role: str
    template: Template
    needs: tuple[Template, ...] = ()
    unless: tuple[Template, ...] = ()


@dataclass(slots=True)
class Hit:
    """An item that matches a line. ``fits`` is set once its conditions were looked at."""

    item: Item
    captures: dict[str, str]
    fits: bool = True


def template_of(row: dict[str, Any]) -> Template:
    return Template(
        row["literal"],
        row["key_line"],
        tuple(re.compile(expression) for expression in row["expressions"]),
        tuple(row["captures"]),
    )


def items_of(bundle: dict[str, Any]) -> list[Item]:
    """All signatures, then all known lines, in the bundle's order."""
    items = []
    for row in [*bundle["signatures"], *bundle["lines"]]:
        items.append(
            Item(
                row["id"],
                row.get("entry"),
                row["role"],
                template_of(row),
                tuple(template_of(need) for need in row.get("needs", ())),
                tuple(template_of(need) for need in row.get("unless", ())),
            )
        )
    return items


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
        for order in _lines_with(item.template.literal, joined, starts):
            found = _match(item, order, text)
            if found is not None:
                first, captures = found
                hits.setdefault(first, []).append(Hit(item, captures))
    return hits


def _join(lines: list[Line]) -> tuple[str, list[int]]:
    starts = []
    offset = 0
    for line in lines:
        starts.append(offset)
        offset += len(line.text) + 1
    return "\n".join(line.text for line in lines), starts


def _lines_with(literal: str, joined: str, starts: list[int]) -> list[int]:
    """The orders of the lines that hold the literal; blanks in it stand for runs of blanks."""
    orders: list[int] = []
    at = joined.find(literal)
    while at >= 0:
        order = bisect.bisect_right(starts, at) - 1
        if not orders or orders[-1] != order:
            orders.append(order)
        following = starts[order + 1] if order + 1 < len(starts) else len(joined)
        at = joined.find(literal, following)
    return orders


def _match(item: Item, order: int, text: Text) -> tuple[int, dict[str, str]] | None:
    template = item.template
    if len(template.patterns) == 1:
        captures = template.search([text.lines[order].text])
        return None if captures is None else (order, captures)
    members = text.streams[text.lines[order].stream]
    first = text.place[order] - template.key_line
    span = members[first : first + len(template.patterns)] if first >= 0 else []
    if len(span) != len(template.patterns):
        return None
    captures = template.search([text.lines[o].text for o in span])
    return None if captures is None else (span[0], captures)


def conditions_hold(item: Item, order: int, text: Text) -> bool:
    """Whether what the item needs stands near the line, and what it excludes does not."""
    if not item.needs and not item.unless:
        return True
    block = text.neighbours(order, BLOCK_BEFORE, BLOCK_AFTER)
    return all(_stands(t, block) for t in item.needs) and not any(_stands(t, block) for t in item.unless)


def _stands(template: Template, block: list[Line]) -> bool:
    size = len(template.patterns)
    for at, line in enumerate(block):
        if template.literal in line.text:
            first = at - template.key_line
            span = block[first : first + size] if first >= 0 else []
            if len(span) == size and template.search([each.text for each in span]) is not None:
                return True
    return False
