"""Dates come in the order of what they tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..finding import Explanation, Finding
from .report import finding

CODES: Mapping[str, Explanation] = {
    "date-order": Explanation(
        "An entry is added first, then changed and reviewed; changes are listed newest first."
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    entry, positions = loaded.entry, loaded.positions
    if entry.reviewed < entry.added:
        message = f"reviewed on {entry.reviewed}, before it was added on {entry.added}"
        yield finding(positions, ("reviewed",), "date-order", message)
    for i, change in enumerate(entry.changes):
        where = ("changes", i, "date")
        if change.date < entry.added:
            message = f"changed on {change.date}, before it was added on {entry.added}"
            yield finding(positions, where, "date-order", message)
        if i and change.date > entry.changes[i - 1].date:
            yield finding(positions, where, "date-order", "this change is newer than the one above it")
