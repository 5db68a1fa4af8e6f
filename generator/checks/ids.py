"""Ids are unique where they are looked up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..catalogue import Catalogue
from ..content import FieldPath, LoadedEntry, Positions
from ..finding import Explanation, Finding, shown
from .report import finding
from .sections import hub_sections, line_sections, taxonomy_sections

CODES: Mapping[str, Explanation] = {
    "duplicate-id": Explanation(
        "Two items of a list have one name, so nobody can tell which is meant.",
        "causes:\n  - id: buffer\n  - id: buffer",
        "causes:\n  - id: buffer-too-small\n  - id: buffer-freed",
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    entry = loaded.entry
    lists: dict[str, Iterable[tuple[FieldPath, str]]] = {
        "signatures": (((i, "id"), item.id) for i, item in enumerate(entry.signatures)),
        "causes": (((i, "id"), item.id) for i, item in enumerate(entry.causes)),
        "fixes": (((i, "id"), item.id) for i, item in enumerate(entry.fixes)),
        "references": (((i, "id"), item.id) for i, item in enumerate(entry.references)),
        "systems": (((i, "id"), item.id) for i, item in enumerate(entry.systems)),
        "logs": (((i, "file"), item.file) for i, item in enumerate(entry.logs)),
        "tags": (((i,), tag) for i, tag in enumerate(entry.tags)),
        "aliases": (((i,), alias) for i, alias in enumerate(entry.aliases)),
    }
    for name, used in lists.items():
        placed = ((loaded.positions, (name, *field), value) for field, value in used)
        yield from _duplicates(name, placed)


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    for name, items, positions in taxonomy_sections(catalogue.content):
        yield from _duplicates(name, ((positions, (i, "id"), item.id) for i, item in enumerate(items)))
    for positions in catalogue.content.positions.values():
        if positions.path.endswith("/taxonomy/packages.yaml"):
            modules = (package.module for package in catalogue.content.packages)
            yield from _duplicates("packages", ((positions, (i, "module"), m) for i, m in enumerate(modules)))
    hubs = hub_sections(catalogue.content)
    yield from _duplicates("hubs", ((positions, ("system",), hub.system) for hub, positions in hubs))
    lines = line_sections(catalogue.content)
    yield from _duplicates(
        "lines", ((positions, (*field, "id"), line.id) for line, positions, field in lines)
    )


def _duplicates(name: str, used: Iterable[tuple[Positions, FieldPath, str]]) -> Iterator[Finding]:
    first: dict[str, tuple[Positions, FieldPath]] = {}
    for positions, field, value in used:
        if value in first:
            message = f"{shown(value)} stands twice in {name}"
            there, before = first[value]
            hint = f"it is first at {there.path}:{there.of(before)[0]}"
            yield finding(positions, field, "duplicate-id", message, hint)
        first.setdefault(value, (positions, field))
