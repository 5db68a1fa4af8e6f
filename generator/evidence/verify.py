"""Entries and the index → evidence, and what contradicts it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from typing import Literal

from packaging.specifiers import SpecifierSet

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..finding import shown
from .packages import Index, Release, last_of_each_minor
from .record import Evidence, Found, Looked, digest
from .search import Hit, Searcher, Wanted

Severity = Literal["fails", "differs"]


@dataclass(frozen=True)
class Remark:
    """What the evidence says against an entry: ``fails`` where a claim is wrong, ``differs`` where it says less."""

    severity: Severity
    signature: str
    message: str

    def __str__(self) -> str:
        return f"{self.signature}: {self.severity}: {self.message}"


@dataclass
class Report:
    evidence: dict[str, Evidence] = field(default_factory=dict)
    """By slug, without the signatures that fail."""
    remarks: list[Remark] = field(default_factory=list)
    checked: int = 0

    @property
    def fails(self) -> bool:
        return any(remark.severity == "fails" for remark in self.remarks)

    @property
    def summary(self) -> str:
        failing = len({remark.signature for remark in self.remarks if remark.severity == "fails"})
        recorded = sum(len(evidence.signatures) for evidence in self.evidence.values())
        return f"{self.checked} messages looked for: {recorded} found as claimed, {failing} not"


def verify(
    catalogue: Catalogue,
    entries: Sequence[LoadedEntry],
    index: Index,
    today: date,
    progress: Callable[[str], None] = lambda text: None,
) -> Report:
    """Look for every signature of the entries that names a package. Raises PackageError."""
    report = Report()
    found: dict[str, dict[str, Found]] = {loaded.slug: {} for loaded in entries}
    wanted = sorted(wanted_of(catalogue, entries), key=lambda one: one.package)
    for package, group in groupby(wanted, key=lambda one: one.package):
        for one, seen in _look(index, package, tuple(group), progress):
            report.checked += 1
            remarks = list(_remarks(one, seen, catalogue.by_slug[one.slug]))
            report.remarks += remarks
            if seen.hits and not any(remark.severity == "fails" for remark in remarks):
                found[one.slug][one.signature.id] = seen.record(one)
    for loaded in entries:
        of_entry = found[loaded.slug]
        ids = [signature.id for signature in loaded.entry.signatures]
        signatures = {name: of_entry[name] for name in ids if name in of_entry}
        report.evidence[loaded.slug] = Evidence(checked=today, signatures=signatures)
    return report


def wanted_of(catalogue: Catalogue, entries: Iterable[LoadedEntry]) -> list[Wanted]:
    """The signatures whose source names a package and wasn't read elsewhere."""
    return [
        Wanted(loaded.slug, signature, signature.source, package)
        for loaded in entries
        for signature in loaded.entry.signatures
        if signature.source and not signature.source.read_at
        if (package := package_of(catalogue, signature.source.project))
    ]


def package_of(catalogue: Catalogue, project: str) -> str | None:
    system = catalogue.systems.get(project)
    return system.package if system else None


@dataclass(frozen=True)
class _Seen:
    """The releases looked at for a signature, oldest first, and where those that hold it have it."""

    looked: tuple[Release, ...]
    which: str
    hits: Mapping[Release, Hit]
    matched: Literal["text", "literal"]

    def record(self, wanted: Wanted) -> Found:
        claim = _specifiers(wanted.source.versions)
        claimed = [release for release in self.hits if claim.contains(release.version)]
        hit = self.hits[max(claimed or self.hits, key=lambda release: release.version)]
        return Found(
            of=digest(wanted.signature),
            package=wanted.package,
            matched=self.matched,
            looked=Looked(
                first=str(self.looked[0].version),
                last=str(self.looked[-1].version),
                count=len(self.looked),
                which=self.which,
            ),
            found=tuple(self.ranges()),
            lacking=tuple(self._lacking()),
            file=hit.file,
            line=hit.line if hit.text or hit.literal else None,
        )

    def _lacking(self) -> list[str]:
        """The releases without it, beside one with it."""
        near = [
            {other in self.hits for other in self.looked[max(0, number - 1) : number + 2]}
            for number in range(len(self.looked))
        ]
        without = (
            release
            for release, sides in zip(self.looked, near, strict=True)
            if release not in self.hits and True in sides
        )
        return [str(release.version) for release in without]

    def ranges(self) -> list[tuple[str, str]]:
        """First and last of each run of releases that hold it."""
        groups = groupby(self.looked, key=lambda release: release in self.hits)
        held = [[str(release.version) for release in group] for is_held, group in groups if is_held]
        return [(run[0], run[-1]) for run in held]


def _look(
    index: Index, package: str, wanted: tuple[Wanted, ...], progress: Callable[[str], None]
) -> list[tuple[Wanted, _Seen]]:
    releases = index.releases(package)
    is_light = index.is_light(package)
    chosen = {one.name: _chosen(releases, one, is_light) for one in wanted}
    union = sorted({release for some in chosen.values() for release in some}, key=lambda one: one.version)
    searcher = Searcher(wanted)
    hits: dict[str, dict[Release, list[Hit]]] = {one.name: {} for one in wanted}
    for release in union:
        progress(f"{package} {release.version}")
        with index.sources(release) as sources:
            for name, found in searcher.search(sources).items():
                if found:
                    hits[name][release] = found
    compiled = [one for one in wanted if not one.in_python and releases[-1].sdist is None]
    libraries = _in_libraries(index, compiled, last_of_each_minor(releases), hits, progress)
    return [
        (one, libraries.get(one.name) or _in_sources(one, chosen[one.name], is_light, hits[one.name]))
        for one in wanted
    ]


def _in_sources(
    wanted: Wanted, looked: tuple[Release, ...], is_light: bool, hits: Mapping[Release, list[Hit]]
) -> _Seen:
    """By the whole text where that is found, and by the literal in it; by the literal alone where not."""
    whole = {
        release: hit
        for release, found in hits.items()
        if release in looked
        if (hit := next((hit for hit in found if hit.text and (hit.literal or not wanted.literal)), None))
    }
    which = (
        "every release"
        if is_light
        else "the last release of each minor series, and those that the entry names"
    )
    if whole or not wanted.literal:
        return _Seen(looked, which, whole, "text")
    quoted = {
        release: hit
        for release, found in hits.items()
        if release in looked
        if (hit := next((hit for hit in found if hit.literal), None))
    }
    return _Seen(looked, which, quoted, "literal")


def _in_libraries(
    index: Index,
    wanted: Sequence[Wanted],
    releases: tuple[Release, ...],
    in_headers: Mapping[str, Mapping[Release, list[Hit]]],
    progress: Callable[[str], None],
) -> dict[str, _Seen]:
    """Compiled messages, in the few releases that show the claim and its bounds: libraries are large."""
    looked = {one.name: _bounds(releases, one) for one in wanted}
    hits: dict[str, dict[Release, Hit]] = {one.name: {} for one in wanted}
    for release in releases:
        here = [one for one in wanted if release in looked[one.name]]
        for one in here:
            if found := in_headers[one.name].get(release):
                hits[one.name][release] = found[0]
        texts = {one.compiled for one in here if release not in hits[one.name]}
        if texts and release.wheel is not None:
            progress(f"libraries of {release.package} {release.version}")
            libraries = index.in_binaries(release, texts)
            for one in here:
                if library := libraries.get(one.compiled):
                    hits[one.name].setdefault(release, Hit(library, None, None))
    return {
        one.name: _Seen(
            looked[one.name],
            ", ".join(str(release.version) for release in looked[one.name]),
            hits[one.name],
            "literal" if one.source.literal else "text",
        )
        for one in wanted
    }


def _chosen(releases: tuple[Release, ...], wanted: Wanted, is_light: bool) -> tuple[Release, ...]:
    """Every release of a light package; else the last of each minor series and those that ``versions`` names."""
    if is_light:
        return releases
    named = {one.version for one in _specifiers(wanted.source.versions)}
    minor = set(last_of_each_minor(releases))
    return tuple(one for one in releases if one in minor or str(one.version) in named)


def _bounds(releases: tuple[Release, ...], wanted: Wanted) -> tuple[Release, ...]:
    """The first and last release that the entry claims, their neighbours outside, and the newest."""
    specifiers = _specifiers(wanted.source.versions)
    inside = [number for number, one in enumerate(releases) if specifiers.contains(one.version)]
    if not inside:
        return releases[-1:]
    numbers = {inside[0] - 1, inside[0], inside[-1], inside[-1] + 1, len(releases) - 1}
    return tuple(releases[number] for number in sorted(numbers) if 0 <= number < len(releases))


def _specifiers(versions: str) -> SpecifierSet:
    return SpecifierSet("" if versions == "*" else versions)


def _remarks(wanted: Wanted, seen: _Seen, loaded: LoadedEntry) -> list[Remark]:
    """What contradicts the entry."""
    remarks = []
    claim = _specifiers(wanted.source.versions)
    claimed = [release for release in seen.looked if claim.contains(release.version)]
    missing = [release for release in claimed if release not in seen.hits]
    ranges = ", ".join(first if first == last else f"{first} to {last}" for first, last in seen.ranges())

    def remark(severity: Severity, message: str) -> None:
        remarks.append(Remark(severity, wanted.name, message))

    if not seen.hits:
        what = shown(wanted.source.literal or wanted.signature.text, 90)
        remark("fails", f"no release of {wanted.package} has {what} ({len(seen.looked)} looked at)")
        return remarks
    if missing:
        remark(
            "fails",
            f"versions is {wanted.source.versions}, but {_some(missing)} of {wanted.package} lacks it; found in {ranges}",
        )
    if not claimed:
        remark(
            "fails", f"versions is {wanted.source.versions}, which is no release looked at; found in {ranges}"
        )
    more = [release for release in seen.hits if not claim.contains(release.version)]
    if more and not missing:
        remark("differs", f"versions is {wanted.source.versions}; found also in {_some(more)}: {ranges}")
    if wanted.in_python and seen.hits:
        last = seen.hits[max(seen.hits, key=lambda release: release.version)]
        if not (last.file.endswith(wanted.source.file) or wanted.source.file.endswith(last.file)):
            remark("differs", f"the newest has it in {last.file}, not in {wanted.source.file}")
    affected = [system for system in loaded.entry.systems if system.id == wanted.source.project]
    if affected and not any(
        _specifiers(system.versions).contains(release.version) for system in affected for release in seen.hits
    ):
        remark(
            "differs",
            f"the entry's {affected[0].id} {affected[0].versions} has no release with it; found in {ranges}",
        )
    return remarks


def _some(releases: Iterable[Release]) -> str:
    versions = [str(release.version) for release in releases]
    return ", ".join(versions if len(versions) < 7 else [*versions[:3], "…", *versions[-3:]])
