"""Names come from the taxonomy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..catalogue import Catalogue
from ..content import FieldPath, LoadedEntry, Positions
from ..finding import Explanation, Finding, shown
from ..model import Entry
from ..validate import did_you_mean
from .report import finding
from .sections import hub_sections, is_whole, line_sections

CODES: Mapping[str, Explanation] = {
    "unknown-name": Explanation(
        "Families, phases, systems and tags are named in content/taxonomy. A new one is added there, with its "
        "definition; that is part of the same change.",
        "family: zerro",
        "family: zero",
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    entry, known = loaded.entry, _Known(catalogue)
    yield from known.look_up(loaded.positions, "family", [(("family",), entry.family)])
    yield from known.look_up(loaded.positions, "phase", [(("phase",), entry.phase)])
    yield from known.look_up(
        loaded.positions, "tag", [(("tags", i), tag) for i, tag in enumerate(entry.tags)]
    )
    yield from known.look_up(loaded.positions, "system", _systems_named(entry))


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    known = _Known(catalogue)
    for hub, positions in hub_sections(catalogue.content):
        yield from known.look_up(positions, "system", [(("system",), hub.system)])
    for line, positions, field in line_sections(catalogue.content):
        yield from known.look_up(positions, "system", [((*field, "source", "project"), line.source.project)])


class _Known:
    """The taxonomy's names by what they name, where it could be read."""

    def __init__(self, catalogue: Catalogue) -> None:
        lists: Mapping[str, tuple[str, Iterable[str]]] = {
            "family": ("families", catalogue.families),
            "phase": ("phases", catalogue.phases),
            "system": ("systems", catalogue.systems),
            "tag": ("tags", catalogue.tags),
        }
        content = catalogue.content
        self.files = {what: file for what, (file, _) in lists.items()}
        self.names = {what: names for what, (file, names) in lists.items() if is_whole(content, file)}

    def look_up(
        self, positions: Positions, what: str, used: Iterable[tuple[FieldPath, str]]
    ) -> Iterator[Finding]:
        names = self.names.get(what)
        if names is None:
            return
        for field, name in used:
            if name not in names:
                hint = did_you_mean(name, names) or _choices(self.files[what], names)
                yield finding(positions, field, "unknown-name", f"no {what} is named {shown(name)}", hint)


FEW = 12
"""So many names are told in a finding; of more, it tells the file."""


def _choices(file: str, names: Iterable[str]) -> str:
    """A hint that says what there is to choose from."""
    known = sorted(names)
    few = 0 < len(known) <= FEW
    return "one of: " + ", ".join(known) if few else f"see content/taxonomy/{file}.yaml"


def _systems_named(entry: Entry) -> Iterator[tuple[FieldPath, str]]:
    for i, system in enumerate(entry.systems):
        yield ("systems", i, "id"), system.id
    for i, signature in enumerate(entry.signatures):
        if signature.source is not None:
            yield ("signatures", i, "source", "project"), signature.source.project
    for i, fix in enumerate(entry.fixes):
        for j, fixed in enumerate(fix.fixed_in):
            yield ("fixes", i, "fixed_in", j, "system"), fixed.system
    if entry.affected is not None:
        for i, stack in enumerate(entry.affected.stacks):
            yield ("affected", "stacks", i, "system"), stack.system
        for i, stack in enumerate(entry.affected.not_affected):
            yield ("affected", "not_affected", i, "system"), stack.system
    for i, example in enumerate(entry.examples):
        yield ("examples", i, "stack"), example.stack
