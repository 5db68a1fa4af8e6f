"""Versions and version ranges are those of PEP 440."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from ..catalogue import Catalogue
from ..content import FieldPath, LoadedEntry, Positions
from ..finding import Explanation, Finding, shown
from ..model import Entry
from .report import finding
from .sections import line_sections

CODES: Mapping[str, Explanation] = {
    "versions": Explanation(
        "A range is a PEP 440 specifier set, or * for any version; a single release is a PEP 440 version.",
        "versions: since 0.9",
        'versions: ">=0.9,<=0.19.8"',
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    for field, versions in _ranges(loaded.entry):
        yield from _range(loaded.positions, field, versions)
    for i, fix in enumerate(loaded.entry.fixes):
        for j, fixed in enumerate(fix.fixed_in):
            if not _is_version(fixed.version):
                message = f"{shown(fixed.version)} is no version"
                where = ("fixes", i, "fixed_in", j, "version")
                yield finding(loaded.positions, where, "versions", message, "write the release alone: 0.19.8")


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    for line, positions, field in line_sections(catalogue.content):
        yield from _range(positions, (*field, "source", "versions"), line.source.versions)


def _ranges(entry: Entry) -> Iterator[tuple[FieldPath, str]]:
    for i, system in enumerate(entry.systems):
        yield ("systems", i, "versions"), system.versions
    for i, signature in enumerate(entry.signatures):
        if signature.source is not None:
            yield ("signatures", i, "source", "versions"), signature.source.versions


def _range(positions: Positions, field: FieldPath, versions: str) -> Iterator[Finding]:
    if versions == "*":
        return
    if not _is_range(versions):
        message = f"{shown(versions)} is no version range"
        yield finding(positions, field, "versions", message, "write >=0.9.5,<=0.19.8 or *")
    elif not _holds_any(versions):
        yield finding(positions, field, "versions", f"no version is in {shown(versions)}", "are two swapped?")


@lru_cache(1024)
def _is_range(text: str) -> bool:
    """Whether the text is a specifier set of ordered comparisons, none of them empty."""
    try:
        specifiers = SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return all(map(str.strip, text.split(","))) and all(one.operator != "===" for one in specifiers)


@lru_cache(1024)
def _holds_any(text: str) -> bool:
    """Whether a version fits: one at, just above or next after a bound does, or the least of all, if any does."""
    specifiers = SpecifierSet(text)
    bounds = [Version(one.version.removesuffix(".*")) for one in specifiers]
    above = [f"{bound.base_version}.0.0.0.0.1" for bound in bounds]
    # What !=1.0.* takes away ends at 1.1.
    after = [
        f"{bound.epoch}!{'.'.join(map(str, (*bound.release[:-1], bound.release[-1] + 1)))}"
        for bound in bounds
    ]
    tried = ("0", *map(str, bounds), *above, *after)
    return any(specifiers.contains(version, prereleases=True) for version in tried)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
