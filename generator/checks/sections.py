"""What content holds beside entries, each thing with the document that it stands in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath

from ..content import Content, FieldPath, Positions
from ..model import Family, Hub, LinePattern, Phase, System, Tag

TaxonomyItem = Phase | Family | System | Tag


def _documents(content: Content, folder: str) -> list[Positions]:
    """The loaded documents of a folder, in the order in which they were loaded."""
    found = (p for path, p in content.positions.items() if PurePosixPath(path).parent.name == folder)
    return sorted(found, key=lambda positions: positions.path)


def is_whole(content: Content, taxonomy: str) -> bool:
    """Whether this list of the taxonomy loaded; of one that didn't, nobody knows what it names."""
    return any(path.endswith(f"/taxonomy/{taxonomy}.yaml") for path in content.positions)


def hub_sections(content: Content) -> Iterator[tuple[Hub, Positions]]:
    yield from zip(content.hubs, _documents(content, "hubs"), strict=True)


def line_sections(content: Content) -> Iterator[tuple[LinePattern, Positions, FieldPath]]:
    lines = iter(content.lines)
    for positions in _documents(content, "lines"):
        count = sum(1 for place in positions.places if len(place) == 2)
        for i, line in enumerate(islice(lines, count)):
            yield line, positions, ("lines", i)


def taxonomy_sections(content: Content) -> Iterator[tuple[str, Sequence[TaxonomyItem], Positions]]:
    """What the items are, the items, and their document."""
    lists: dict[str, Sequence[TaxonomyItem]] = {
        "families": content.families,
        "phases": content.phases,
        "systems": content.systems,
        "tags": content.tags,
    }
    for positions in _documents(content, "taxonomy"):
        name = PurePosixPath(positions.path).stem
        if name in lists:
            yield name, lists[name], positions
