"""What the engine knows before it knows an entry, read from the data that both engines share.

``knowledge.json`` holds expressions and small tables. Expressions are in the common subset of Python and
JavaScript: compiled there with the flags ``u`` and ``s``, here with ``ASCII`` and ``DOTALL``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any


class Pattern:
    """An expression that is searched. One that begins with ``^`` is tried at the text's start alone.

    Such an expression has no ``|`` outside parentheses.
    """

    def __init__(self, expression: str) -> None:
        compiled = re.compile(expression, re.ASCII | re.DOTALL)
        self.search = compiled.match if expression.startswith("^") else compiled.search
        self.finditer = compiled.finditer


def compile_expression(expression: str) -> Pattern:
    return Pattern(expression)


@dataclass(frozen=True)
class Tagged:
    """An expression with a name, and what its groups hold.

    It can match only a text that begins with one of ``starts`` and has one of ``literals``, where there are any.
    """

    id: str
    pattern: Pattern
    fields: tuple[str, ...] = ()
    starts: str = ""
    literals: tuple[str, ...] = ()
    grade: str = ""

    def search(self, text: str) -> re.Match[str] | None:
        if self.literals and not any(literal in text for literal in self.literals):
            return None
        return self.pattern.search(text)


class Table:
    """Tagged expressions in order, of which only those are tried that a text can match at all."""

    def __init__(self, rows: tuple[Tagged, ...]) -> None:
        self._always = tuple(row for row in rows if not row.starts)
        firsts = sorted({first for row in rows for first in row.starts})
        self._by_first = {
            first: tuple(row for row in rows if not row.starts or first in row.starts) for first in firsts
        }
        self._pairs = [(literal, number) for number, row in enumerate(rows) for literal in row.literals]
        self._rows = rows

    def by_first(self, text: str) -> tuple[Tagged, ...]:
        """The rows that a text with this first character can match, where rows tell how they start."""
        return self._by_first.get(text[:1], self._always)

    def by_literal(self, text: str) -> list[Tagged]:
        """The rows of which the text has a literal, where all rows have some."""
        numbers = [number for literal, number in self._pairs if literal in text]
        return [self._rows[number] for number in sorted(set(numbers))]


@dataclass(frozen=True)
class Explains:
    """A first line of which the later one is the consequence."""

    id: str
    first: Pattern
    then: Pattern


class Knowledge:
    """The tables, with their expressions compiled when first wanted."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    @cached_property
    def prefixes(self) -> Table:
        return Table(self._tagged("prefixes"))

    @cached_property
    def labels(self) -> tuple[Tagged, ...]:
        return self._tagged("labels")

    @cached_property
    def files(self) -> tuple[Tagged, ...]:
        return self._tagged("files")

    @cached_property
    def errors(self) -> Table:
        return Table(self._tagged("errors"))

    @cached_property
    def consequences(self) -> tuple[Tagged, ...]:
        return self._tagged("consequences")

    @cached_property
    def explains(self) -> tuple[Explains, ...]:
        return tuple(
            Explains(row["id"], compile_expression(row["first"]), compile_expression(row["then"]))
            for row in self._data["explains"]
        )

    @cached_property
    def python(self) -> dict[str, Pattern]:
        return {name: compile_expression(text) for name, text in self._data["python"].items()}

    @cached_property
    def words(self) -> dict[str, str]:
        """Fixed texts of Python's own that are looked for as they stand."""
        return dict(self._data["words"])

    @cached_property
    def watchdog(self) -> dict[str, Pattern]:
        return {name: compile_expression(text) for name, text in self._data["watchdog"].items()}

    @cached_property
    def single(self) -> dict[str, Pattern]:
        return {name: compile_expression(text) for name, text in self._data["single"].items()}

    @cached_property
    def wrapper_messages(self) -> tuple[Pattern, ...]:
        return tuple(compile_expression(text) for text in self._data["wrapper_messages"])

    @cached_property
    def world(self) -> tuple[tuple[str, Pattern], ...]:
        """Where a line tells how many ranks there are: a literal to look for first, and the expression."""
        return tuple((row["literal"], compile_expression(row["expression"])) for row in self._data["world"])

    @cached_property
    def types(self) -> dict[str, str]:
        """The last part of an exception's name → the role of its line."""
        return {name: role for role, names in self._data["types"].items() for name in names}

    @cached_property
    def signals(self) -> dict[str, int]:
        return dict(self._data["signals"])

    @cached_property
    def signals_of_errors(self) -> dict[str, int]:
        """By a shell's line on a death the signal that it tells."""
        return dict(self._data["signals_of_errors"])

    @cached_property
    def months(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._data["months"], 1)}

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """Keys of the byte scan beside those of the bundle."""
        return tuple(self._data["literals"])

    def _tagged(self, table: str) -> tuple[Tagged, ...]:
        return tuple(
            Tagged(
                row["id"],
                compile_expression(row["expression"]),
                tuple(row.get("fields", ())),
                row.get("starts", ""),
                tuple(row["literals"]),
                row.get("grade", ""),
            )
            for row in self._data[table]
        )


def load_data() -> dict[str, Any]:
    """The shared tables as they stand in the package."""
    text = files(__package__).joinpath("knowledge.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data
