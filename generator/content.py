"""What a content folder holds, loaded: entries with their places, taxonomy, hubs, lines, logs and texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Mapping

from .model import Entry, Family, Hub, LinePattern, Phase, System, Tag

FieldPath = tuple[str | int, ...]
"""The way to a field from a document's root, such as ``("signatures", 0, "text")``."""


@dataclass(frozen=True)
class Positions:
    """Where each field of a YAML document stands; lines and columns are 1-based."""

    path: str
    places: Mapping[FieldPath, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, field_path: FieldPath) -> tuple[int, int]:
        """Line and column of the field, or of the nearest ancestor that has a place."""
        while field_path and field_path not in self.places:
            field_path = field_path[:-1]
        return self.places.get(field_path, (1, 1))


@dataclass(frozen=True)
class LoadedEntry:
    """An entry, the folder that it stands in and the files beside it.

    ``files`` maps each other file's name in the folder to its bytes (logs, repro.py, evidence.json).
    """

    slug: str
    entry: Entry
    positions: Positions
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class TextPage:
    """A page of content/pages: front matter's title and description, then Markdown."""

    name: str
    title: str
    description: str
    body: str
    positions: Positions


@dataclass(frozen=True)
class Content:
    """All that was loaded, sorted: what the checks and the catalogue start from."""

    entries: tuple[LoadedEntry, ...]
    phases: tuple[Phase, ...]
    families: tuple[Family, ...]
    systems: tuple[System, ...]
    tags: tuple[Tag, ...]
    hubs: tuple[Hub, ...]
    lines: tuple[LinePattern, ...]
    pages: tuple[TextPage, ...]
    healthy: Mapping[str, bytes]
    positions: Mapping[str, Positions] = field(default_factory=lambda: MappingProxyType({}))
    """Of the documents that are not entries, by path."""
