"""What pages show that no field says: derived from the catalogue, pure and sorted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from . import words
from .catalogue import Catalogue
from .content import LoadedEntry
from .corpora import confusion, recorded
from .diagrams import STATES
from .evidence import record
from .evidence.record import Found
from .model import Entry, Fix, Grade, Hub, HubPhase, Phase, Signature, System

GRADES: tuple[Grade, ...] = ("reproduced", "source", "maintainer", "reports", "inferred")
"""Strongest first."""
MIN_SAMPLE, MAX_SAMPLE = 24, 130
"""Characters of a sample line: long enough to tell something, short enough for one line of a box."""


@dataclass(frozen=True)
class Related:
    """An entry near another one, and what they share."""

    loaded: LoadedEntry
    reasons: tuple[str, ...]


def related(catalogue: Catalogue, loaded: LoadedEntry, most: int = 8) -> tuple[Related, ...]:
    """The nearest current entries: look-alikes in both directions first, then by shared tags, phase and family."""
    entry = loaded.entry
    named_by = catalogue.linked_from.get(loaded.slug, ())
    alike = catalogue.bits([*loaded.names, *(other.slug for other in named_by)])
    groups = [("family", entry.family), ("phase", entry.phase), *(("tag", tag) for tag in entry.tags)]
    # Sets of those that share so many groups at least: all, one, two, ...
    sharing = [(1 << len(catalogue.rank)) - 1] + [0] * len(groups)
    for number, group in enumerate(groups, 1):
        members = catalogue.members(*group)
        for count in range(number, 0, -1):
            sharing[count] |= sharing[count - 1] & members
    own = catalogue.bits([loaded.slug])
    near = _nearest(catalogue, [each & alike & ~own for each in sharing], most)
    near += _nearest(catalogue, [each & ~alike & ~own for each in sharing[1:]], most - len(near))
    return tuple(
        Related(
            other,
            (
                *(["look-alike"] if catalogue.bits([other.slug]) & alike else []),
                *_shared(catalogue, entry, other.entry),
            ),
        )
        for other in near
    )


def _nearest(catalogue: Catalogue, sets: list[int], most: int) -> tuple[LoadedEntry, ...]:
    """The first ``most`` entries, those of the last set first; each set holds the next one."""
    found: tuple[LoadedEntry, ...] = ()
    taken = 0
    for each in reversed(sets):
        found += catalogue.first(each & ~taken, most - len(found))
        taken = each
    return found


def _shared(catalogue: Catalogue, one: Entry, other: Entry) -> tuple[str, ...]:
    same = [name for name in ("family", "phase") if getattr(one, name) == getattr(other, name)]
    tags = [catalogue.tags[tag].name for tag in one.tags if tag in other.tags]
    return (*(f"same {name}" for name in same), *tags)


@dataclass(frozen=True)
class Alike:
    """A look-alike: the entry that it has, where it has one, and the telling difference.

    ``told_there`` where the difference is told by the other entry, and so from its side.
    """

    entry: str | None
    name: str
    difference: str
    told_there: bool = False


def look_alikes(catalogue: Catalogue, loaded: LoadedEntry) -> tuple[Alike, ...]:
    """Look-alikes in both directions, those with an entry first."""
    own = [
        Alike(other.entry if other.entry in catalogue.by_slug else None, other.name, other.difference)
        for other in loaded.entry.look_alikes
    ]
    named = {alike.entry for alike in own}
    others = [
        Alike(other.slug, other.entry.title, told.difference, told_there=True)
        for other in catalogue.linked_from.get(loaded.slug, ())
        if other.slug not in named
        for told in other.entry.look_alikes
        if told.entry == loaded.slug
    ]
    return tuple(sorted([*own, *others], key=lambda alike: alike.entry is None))


def neighbours(catalogue: Catalogue, loaded: LoadedEntry, most: int = 12) -> tuple[LoadedEntry, ...]:
    """Other current entries of this one's phase: all, or of many those of its family before those of others."""
    entry = loaded.entry
    others = catalogue.members("phase", entry.phase) & ~catalogue.bits([loaded.slug])
    if others.bit_count() <= most:
        return catalogue.first(others, most)
    family = others & catalogue.members("family", entry.family)
    return _nearest(catalogue, [others, family], most)


@dataclass(frozen=True)
class Appearance:
    """Counts that tell a reader what the page holds and how well it is founded."""

    grades: Mapping[Grade, int]
    logs: Mapping[str, int]
    sources: int


def appearance(entry: Entry) -> Appearance:
    grades = Counter(cause.grade for cause in entry.causes)
    return Appearance(
        grades={grade: grades[grade] for grade in GRADES if grades[grade]},
        logs=dict(sorted(Counter(log.made for log in entry.logs).items())),
        sources=sum(signature.source is not None for signature in entry.signatures),
    )


def evidence(loaded: LoadedEntry) -> dict[str, Found]:
    """Where the entry's messages stand upstream, by signature; nothing of one that changed since, or can't be read."""
    try:
        recorded = record.read(loaded.files.get(record.FILE))
    except ValueError:
        return {}
    found = {one.id: record.evidence_for(one, recorded) for one in loaded.entry.signatures}
    return {name: there for name, there in found.items() if there}


@dataclass(frozen=True)
class HubRow:
    """A phase of the hub, with its entries by the state that they touch."""

    number: int
    phase: Phase
    hub: HubPhase | None
    columns: Mapping[str, tuple[LoadedEntry, ...]]
    """By the names of ``STATES`` and, for all else, ``elsewhere``."""

    @property
    def entries(self) -> tuple[LoadedEntry, ...]:
        return tuple(loaded for column in self.columns.values() for loaded in column)


def hub_rows(catalogue: Catalogue, hub: Hub) -> tuple[HubRow, ...]:
    """The phases in the taxonomy's order, which is the order in which a run meets them."""
    told = {row.phase: row for row in hub.phases}
    return tuple(
        HubRow(number, phase, told.get(phase.id), _columns(catalogue, hub.system, phase.id))
        for number, phase in enumerate(catalogue.content.phases, start=1)
    )


_WORD = re.compile(r"[A-Za-z0-9]+(?:-[0-9]+)?")
_ACRONYMS = ("OOM", "GPU", "LR", "SSH")
"""What addresses hold and no taxonomy spells."""


class ShortNames(Mapping[str, str]):
    """What each current entry is called where a title is too long: the words of its address, spelled as the field does.

    The entry's own title decides on the spelling (``zero3`` is ZeRO-3, ``zero`` may be the number), then the taxonomy.
    A name is made when it is asked for.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        content = catalogue.content
        names = [
            *(system.name for system in content.systems),
            *(tag.name for tag in content.tags),
            *(family.name for family in content.families),
        ]
        self._terms = _spelled(" ".join([*names, *_ACRONYMS]))
        self._catalogue = catalogue

    def __getitem__(self, slug: str) -> str:
        if slug not in self._catalogue.rank:
            raise KeyError(slug)
        return _short_name(self._catalogue.by_slug[slug], self._terms)

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalogue.rank)

    def __len__(self) -> int:
        return len(self._catalogue.rank)


def _short_name(loaded: LoadedEntry, terms: Mapping[str, str]) -> str:
    title = loaded.entry.title
    spelled = {**terms, **{word: word for word in _WORD.findall(title) if word.islower()}, **_spelled(title)}
    return " ".join(spelled.get(word, word) for word in loaded.slug.split("-"))


def _spelled(text: str) -> dict[str, str]:
    """The words with a capital after their first letter, by how an address writes them."""
    return {
        word.lower().replace("-", ""): word for word in _WORD.findall(text) if word[1:] != word[1:].lower()
    }


def in_hub(entry: Entry, system: str) -> bool:
    """Whether an entry has its place in a system's hub."""
    return any(known.id == system for known in entry.systems) or entry.in_deepspeed is not None


def _columns(catalogue: Catalogue, system: str, phase: str) -> dict[str, tuple[LoadedEntry, ...]]:
    columns: dict[str, list[LoadedEntry]] = {name: [] for name, _ in STATES} | {"elsewhere": []}
    families = [family.id for family in catalogue.content.families]
    for loaded in sorted(catalogue.in_phase(phase), key=lambda each: families.index(each.entry.family)):
        if in_hub(loaded.entry, system):
            columns[_column(loaded.entry)].append(loaded)
    return {name: tuple(entries) for name, entries in columns.items()}


def _column(entry: Entry) -> str:
    """The first kind of state that the entry says it touches."""
    touched = entry.affected.state.what if entry.affected else ()
    names = (name.replace("-", "_") for name in touched)
    return next((name for name in names if name in dict(STATES)), "elsewhere")


@dataclass(frozen=True)
class Option:
    """A value of a filter, how it reads, and how many of the hub's entries have it."""

    value: str
    name: str
    count: int


@dataclass(frozen=True)
class Filter:
    """Something by which a hub's failures are told apart; ``id`` is its name in links."""

    id: str
    name: str
    options: tuple[Option, ...]


def facets(entry: Entry) -> Mapping[str, tuple[str, ...]]:
    """What an entry has of each filter, by the filters' ids."""
    affected = entry.affected
    grades = {cause.grade for cause in entry.causes}
    return {
        "stage": affected.state.zero_stages if affected else (),
        "offload": affected.state.offload if affected else (),
        "family": (entry.family,),
        "effect": affected.effect if affected else (),
        "system": tuple(known.id for known in entry.systems),
        "evidence": ("reproduced",) if "reproduced" in grades else (),
    }


def hub_filters(catalogue: Catalogue, rows: tuple[HubRow, ...]) -> tuple[Filter, ...]:
    """The filters that leave something out, each with the values that its entries have."""
    named: tuple[tuple[str, str, Mapping[str, str]], ...] = (
        ("stage", "ZeRO stage", {**words.STAGES, **{stage: f"stage {stage}" for stage in "0123"}}),
        ("offload", "Offload", words.OFFLOADS),
        ("family", "Family", {family.id: family.name for family in catalogue.content.families}),
        ("effect", "Effect", words.EFFECTS),
        ("system", "System", {system.id: system.name for system in catalogue.content.systems}),
        ("evidence", "Evidence", {"reproduced": "reproduced"}),
    )
    told = [facets(loaded.entry) for row in rows for loaded in row.entries]
    filters = []
    for id_, name, names in named:
        counts = Counter(value for facet in told for value in facet[id_])
        options = [Option(value, names[value], counts[value]) for value in names if counts[value]]
        if any(option.count < len(told) for option in options):
            filters.append(Filter(id_, name, tuple(options)))
    return tuple(filters)


@dataclass(frozen=True)
class Event:
    """Something that happened to an entry on a day: it was added, or what a change says."""

    day: date
    loaded: LoadedEntry
    what: str | None
    """What was changed; None where the entry is new."""


def events(catalogue: Catalogue) -> tuple[Event, ...]:
    """All that happened, the newest day first; within a day by title, new entries first."""
    found = [Event(loaded.entry.added, loaded, None) for loaded in catalogue.current]
    found += [
        Event(change.date, loaded, change.what)
        for loaded in catalogue.content.entries
        for change in loaded.entry.changes
    ]
    return tuple(
        sorted(
            found,
            key=lambda event: (
                -event.day.toordinal(),
                event.what is not None,
                event.loaded.entry.title.casefold(),
            ),
        )
    )


@dataclass(frozen=True)
class Repair:
    """A release of a system, and the fixes that it brought: entry, fix."""

    system: str
    version: str
    fixes: tuple[tuple[LoadedEntry, Fix], ...]


def fixed_upstream(catalogue: Catalogue) -> tuple[Repair, ...]:
    """What upstream repaired, by system in the taxonomy's order, its newest release first."""
    repairs: dict[tuple[str, str], list[tuple[LoadedEntry, Fix]]] = {}
    for loaded in catalogue.current:
        for fix in loaded.entry.fixes:
            for release in fix.fixed_in:
                repairs.setdefault((release.system, release.version), []).append((loaded, fix))
    order = [system.id for system in catalogue.content.systems]

    def newest_first(place: tuple[str, str]) -> tuple[int, tuple[int, ...], str]:
        numbers = tuple(-int(part) for part in re.findall("[0-9]+", place[1]))
        return (order.index(place[0]) if place[0] in order else len(order), numbers, place[1])

    return tuple(Repair(*place, tuple(repairs[place])) for place in sorted(repairs, key=newest_first))


def most_reported(catalogue: Catalogue, most: int = 8) -> tuple[tuple[LoadedEntry, int], ...]:
    """The entries with the most public threads among their references, and how many each has."""
    counted = [
        (loaded, len({ref.url.partition("#")[0] for ref in loaded.entry.references if ref.kind == "issue"}))
        for loaded in catalogue.current
    ]
    return tuple(sorted(counted, key=lambda pair: -pair[1])[:most])


def often_confused(catalogue: Catalogue, most: int = 6) -> tuple[tuple[LoadedEntry, LoadedEntry], ...]:
    """Pairs of current entries that name each other as look-alikes, those first that the most entries point at."""
    slugs = {loaded.slug for loaded in catalogue.current}
    alike = {
        loaded.slug: {other.entry for other in loaded.entry.look_alikes if other.entry in slugs}
        for loaded in catalogue.current
    }
    pairs = [
        (loaded, catalogue.by_slug[other])
        for loaded in catalogue.current
        for other in sorted(slug for slug in alike[loaded.slug] if slug)
        if loaded.slug < other and loaded.slug in alike[other]
    ]
    pointed = {slug: len(catalogue.linked_from.get(slug, ())) for slug in slugs}
    ranked = sorted(pairs, key=lambda pair: -pointed[pair[0].slug] - pointed[pair[1].slug])
    chosen: list[tuple[LoadedEntry, LoadedEntry]] = []
    for pair in ranked:
        # Each failure once, so that the list shows different ones.
        if not any(known.slug == one.slug for known_pair in chosen for known in known_pair for one in pair):
            chosen.append(pair)
    return tuple(chosen[:most])


MessageGroup = tuple[LoadedEntry, tuple[Signature, ...]]
"""An entry and those of its signatures that one system prints."""


def messages_by_system(catalogue: Catalogue) -> tuple[tuple[System, tuple[MessageGroup, ...]], ...]:
    """Every signature of the current entries under the system that prints it, in the taxonomy's order, by entry.

    A signature without a source stands under its entry's first system.
    """
    groups: dict[str, list[MessageGroup]] = {}
    for loaded in catalogue.current:
        printed: dict[str, list[Signature]] = {}
        for signature in loaded.entry.signatures:
            named = signature.source.project if signature.source else ""
            system = named if named in catalogue.systems else loaded.entry.systems[0].id
            printed.setdefault(system, []).append(signature)
        for system, signatures in printed.items():
            groups.setdefault(system, []).append((loaded, tuple(signatures)))
    return tuple(
        (system, tuple(groups[system.id])) for system in catalogue.content.systems if system.id in groups
    )


SAMPLE_LOGS = (
    ("cpuadam-no-ds-opt-adam", "link-fails-two-ranks.log", "One of two ranks fails, the other one waits"),
    ("exit-code-minus-9", "rank0-killed-torchrun.log", "A rank is killed and leaves no error"),
    ("batch-size-triangle", "three-numbers.log", "Every rank fails alike"),
)
"""One of each kind of answer: entry, file, what a reader sees in it."""


def sample_lines(catalogue: Catalogue, most: int = 3) -> tuple[str, ...]:
    """Real first-fault lines to try the search with: the shortest of each family, from the entries' own logs."""
    shortest: dict[str, str] = {}
    for loaded in catalogue.current:
        for line in _initiating_lines(loaded):
            known = shortest.get(loaded.entry.family)
            if known is None or len(line) < len(known):
                shortest[loaded.entry.family] = line
    return tuple(shortest[family.id] for family in catalogue.content.families if family.id in shortest)[:most]


def _initiating_lines(loaded: LoadedEntry) -> Iterator[str]:
    for log in loaded.entry.logs:
        if log.says == "initiating" and log.line and (data := loaded.files.get(log.file)):
            lines = data.decode("utf-8", "replace").split("\n")
            line = lines[log.line - 1].strip() if log.line <= len(lines) else ""
            if MIN_SAMPLE <= len(line) <= MAX_SAMPLE:
                yield line


@dataclass(frozen=True)
class SampleLog:
    """A real log to try the diagnosis with; ``origin`` is its file under content/failures."""

    origin: str
    title: str
    data: bytes

    @property
    def path(self) -> str:
        """Where the site has it."""
        return f"diagnose/samples/{self.origin.rpartition('/')[2]}"

    @property
    def lines(self) -> int:
        return self.data.count(b"\n")


def sample_logs(catalogue: Catalogue) -> tuple[SampleLog, ...]:
    """The captured logs of ``SAMPLE_LOGS`` that the content has."""
    return tuple(
        SampleLog(f"{slug}/{file}", title, data)
        for slug, file, title in SAMPLE_LOGS
        if slug in catalogue.by_slug and (data := catalogue.by_slug[slug].files.get(file))
    )


@dataclass(frozen=True)
class Tally:
    """What the encyclopedia holds, counted."""

    entries: int
    complete: int
    signatures: int
    sourced: int
    causes: int
    grades: Mapping[Grade, int]
    captured: int
    composed: int
    references: int


def tally(catalogue: Catalogue) -> Tally:
    signatures: list[Signature] = []
    grades: Counter[Grade] = Counter()
    made: Counter[str] = Counter()
    urls: set[str] = set()
    for loaded in catalogue.current:
        entry = loaded.entry
        signatures += entry.signatures
        grades.update(cause.grade for cause in entry.causes)
        made.update(log.made for log in entry.logs)
        urls.update(reference.url for reference in entry.references)
    return Tally(
        entries=len(catalogue.current),
        complete=sum(loaded.entry.status == "complete" for loaded in catalogue.current),
        signatures=len(signatures),
        sourced=sum(signature.source is not None for signature in signatures),
        causes=grades.total(),
        grades={grade: grades[grade] for grade in GRADES},
        captured=made["captured"],
        composed=made["composed"],
        references=len(urls),
    )


@dataclass(frozen=True)
class Column:
    """A row and a column of the confusion matrix: a family, no entry (``none``) or a healthy run."""

    id: str
    name: str


def corpora_shown(catalogue: Catalogue) -> Mapping[str, Any]:
    """What the page /verify/ shows of the recorded corpora: the matrix by family, and whose messages are shared."""
    corpora = recorded(catalogue)
    if corpora is None:
        return {"corpora": None}
    cells = confusion(corpora, catalogue)
    met = {name for place in cells for name in place}
    columns = [Column(family.id, family.name) for family in catalogue.content.families if family.id in met]
    columns += [Column("none", "Not here"), Column("healthy", "Nothing wrong")]
    shared = [
        (loaded, tuple(catalogue.by_slug[slug] for slug in others if slug in catalogue.by_slug))
        for loaded in catalogue.current
        if (others := corpora.shared.get(loaded.slug))
    ]
    signatures = sum(len(loaded.entry.signatures) for loaded in catalogue.current)
    return {
        "corpora": corpora,
        "cells": cells,
        "columns": columns,
        "shared": shared,
        "signatures": signatures,
    }
