"""What a content folder holds, loaded: entries with their places, taxonomy, hubs, lines, logs and texts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from .model import Entry, Family, Hub, LinePattern, Package, Phase, System, Tag

FieldPath = tuple[str | int, ...]
"""The way to a field from a document's root, such as ``("signatures", 0, "text")``."""


PROSE = frozenset(
    {
        *("causes", "changes", "confirm", "do_now", "examples", "executive", "faq", "figures", "fixes"),
        *("in_deepspeed", "logs", "look_instead", "mechanism", "observe", "prevention", "quick_answer"),
        *("references", "reviewed", "summary", "symptoms"),
    }
)
"""Fields of an entry that no other entry's page or document reads."""
_SHOWN = frozenset(Entry.model_fields) - PROSE


@dataclass(frozen=True)
class Positions:
    """Where each field of a YAML document stands; lines and columns are 1-based.

    A scalar or flow collection stands where its value does, a block collection where its key does.
    ``scalars`` holds each text's first character in ``source`` and its YAML style.
    """

    path: str
    places: Mapping[FieldPath, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))
    source: str = ""
    scalars: Mapping[FieldPath, tuple[int, str]] = field(default_factory=lambda: MappingProxyType({}))

    def __reduce__(self) -> tuple[object, ...]:
        """To another process goes the text alone; there, places are looked for when one is asked for."""
        from .yaml_document import positions_of

        return positions_of, (self.path, self.source)

    def of(self, field_path: FieldPath) -> tuple[int, int]:
        """Line and column of the field, or of the nearest ancestor that has a place."""
        while field_path and field_path not in self.places:
            field_path = field_path[:-1]
        return self.places.get(field_path, (1, 1))

    def within(self, field_path: FieldPath, text: str, offset: int) -> tuple[int, int]:
        """Line and column of ``text[offset]``, where ``text`` is the value of the field.

        YAML folds and escapes white space alone, so the n-th visible character of the value
        is the n-th visible character of its source.
        """
        if field_path not in self.scalars:
            return self.of(field_path)
        start, style = self.scalars[field_path]
        visible = sum(not character.isspace() for character in text[:offset])
        index = _nth_visible(self.source, start, style, visible)
        return self.source.count("\n", 0, index) + 1, index - self.source.rfind("\n", 0, index)


def _nth_visible(source: str, start: int, style: str, n: int) -> int:
    """Index in ``source`` of the n-th (from 0) visible character of the scalar that starts there."""
    index = source.find("\n", start) + 1 if style in "|>" and style else start
    index += 1 if style in "'\"" and style else 0
    while index < len(source):
        character, width = _character(source, index, style)
        if not character.isspace():
            if n == 0:
                return index
            n -= 1
        index += width
    return start


def _character(source: str, index: int, style: str) -> tuple[str, int]:
    """The character that the scalar holds at ``index``, and how many characters spell it."""
    if style == "'" and source.startswith("''", index):
        return "'", 2
    if style != '"' or source[index] != "\\":
        return source[index], 1
    kind = source[index + 1 : index + 2]
    digits = {"x": 2, "u": 4, "U": 8}.get(kind, 0)
    if digits:
        return chr(int(source[index + 2 : index + 2 + digits], 16)), 2 + digits
    return (" " if kind in "tnvfr NLP_\n\t" else kind), 2


@dataclass(frozen=True)
class LoadedEntry:
    """An entry, the folder that it stands in and the files beside it.

    ``files`` maps each other file's name in the folder to its bytes (logs, repro.py, evidence.json).
    """

    slug: str
    entry: Entry
    positions: Positions
    files: Mapping[str, bytes]

    @cached_property
    def order(self) -> str:
        """By which lists are sorted: the title, whatever its case."""
        return self.entry.title.casefold()

    @cached_property
    def groups(self) -> tuple[tuple[str, str], ...]:
        """Kind and name of each phase, family, system and tag that it bears."""
        entry = self.entry
        systems = (("system", system.id) for system in entry.systems)
        tags = (("tag", tag) for tag in entry.tags)
        return tuple(dict.fromkeys([("phase", entry.phase), ("family", entry.family), *systems, *tags]))

    @cached_property
    def shown(self) -> bytes:
        """A digest of what pages and documents of other entries may show of it; known once it is loaded."""
        shown = self.entry.model_dump_json(include=set(_SHOWN))
        return hashlib.sha256(f"{self.slug}\0{shown}".encode()).digest()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The entries that it names as look-alikes, as often as it does."""
        return tuple(other.entry for other in self.entry.look_alikes if other.entry is not None)


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
    packages: tuple[Package, ...]
    hubs: tuple[Hub, ...]
    lines: tuple[LinePattern, ...]
    pages: tuple[TextPage, ...]
    healthy: Mapping[str, bytes]
    evidence: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    """What was recorded of all entries together, by file name; what is of one entry lies in its folder."""
    positions: Mapping[str, Positions] = field(default_factory=lambda: MappingProxyType({}))
    """Of the documents that are not entries, by path."""
    broken: frozenset[str] = frozenset()
    """Slugs of the entries that have errors and so did not load; their names are taken all the same."""
    damaged: tuple[LoadedEntry, ...] = ()
    """Of these the ones that checks can look at, with something right wherever they are wrong."""
