"""All entries and the taxonomy, linked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .content import Content, LoadedEntry
from .model import Family, Hub, Phase, System, Tag


@dataclass(frozen=True)
class Catalogue:
    """Entries by slug, phase, family, system and tag; look-alikes in both directions.

    Withdrawn entries keep their page but stand in no list.
    """

    content: Content

    @cached_property
    def by_slug(self) -> dict[str, LoadedEntry]:
        return {loaded.slug: loaded for loaded in self.content.entries}

    @cached_property
    def current(self) -> tuple[LoadedEntry, ...]:
        """The entries that lists show, sorted by title."""
        shown = (loaded for loaded in self.content.entries if loaded.entry.status != "withdrawn")
        return tuple(sorted(shown, key=lambda loaded: loaded.order))

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that a folder of failures/ has: of entries, of those with errors, and former ones."""
        aliases = (alias for loaded in self.content.entries for alias in loaded.entry.aliases)
        return frozenset((*self.by_slug, *self.content.broken, *aliases))

    @cached_property
    def rank(self) -> dict[str, int]:
        """The place of each current entry among them."""
        return {loaded.slug: number for number, loaded in enumerate(self.current)}

    @cached_property
    def phases(self) -> dict[str, Phase]:
        return {phase.id: phase for phase in self.content.phases}

    @cached_property
    def families(self) -> dict[str, Family]:
        return {family.id: family for family in self.content.families}

    @cached_property
    def systems(self) -> dict[str, System]:
        return {system.id: system for system in self.content.systems}

    @cached_property
    def written_for(self) -> str:
        """The releases that entries speak of where they name none, in words; empty where no system has one."""
        releases = [f"{each.name} {each.written_for}" for each in self.content.systems if each.written_for]
        return f"{', '.join(releases)} and later" if releases else ""

    @cached_property
    def tags(self) -> dict[str, Tag]:
        return {tag.id: tag for tag in self.content.tags}

    @cached_property
    def hubs(self) -> dict[str, Hub]:
        return {hub.system: hub for hub in self.content.hubs}

    def in_phase(self, phase: str) -> tuple[LoadedEntry, ...]:
        return self._having.get(("phase", phase), ())

    def in_family(self, family: str) -> tuple[LoadedEntry, ...]:
        return self._having.get(("family", family), ())

    def in_system(self, system: str) -> tuple[LoadedEntry, ...]:
        return self._having.get(("system", system), ())

    def with_tag(self, tag: str) -> tuple[LoadedEntry, ...]:
        return self._having.get(("tag", tag), ())

    @property
    def groups(self) -> Collection[tuple[str, str]]:
        """Kind and name of every group that a current entry bears."""
        return self._having.keys()

    @cached_property
    def _having(self) -> Mapping[tuple[str, str], tuple[LoadedEntry, ...]]:
        """The current entries of each phase, family, system and tag."""
        having: dict[tuple[str, str], list[LoadedEntry]] = {}
        for loaded in self.current:
            for group in loaded.groups:
                having.setdefault(group, []).append(loaded)
        return {group: tuple(entries) for group, entries in having.items()}

    def members(self, kind: str, name: str) -> int:
        """The current entries of a phase, family, system or tag as a set of bits, each at its entry's ``rank``."""
        group = (kind, name)
        if group not in self._members:
            self._members[group] = self.bits(loaded.slug for loaded in self._having.get(group, ()))
        return self._members[group]

    @cached_property
    def _members(self) -> dict[tuple[str, str], int]:
        """The sets that were asked for."""
        return {}

    def bits(self, slugs: Iterable[str]) -> int:
        """The current ones of these entries as a set of bits."""
        rank = self.rank
        found = bytearray(len(rank) // 8 + 1)
        for slug in slugs:
            if (place := rank.get(slug)) is not None:
                found[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(found, "little")

    def first(self, bits: int, most: int) -> tuple[LoadedEntry, ...]:
        """The first ``most`` entries of a set of bits."""
        found: list[LoadedEntry] = []
        while bits and len(found) < most:
            lowest = bits & -bits
            found.append(self.current[lowest.bit_length() - 1])
            bits ^= lowest
        return tuple(found)

    @cached_property
    def linked_from(self) -> dict[str, tuple[LoadedEntry, ...]]:
        """For each slug, the current entries that name it as a look-alike."""
        back: dict[str, list[LoadedEntry]] = {}
        for loaded in self.current:
            for slug in loaded.names:
                back.setdefault(slug, []).append(loaded)
        return {slug: tuple(entries) for slug, entries in back.items()}
