"""Every signature of a complete entry has evidence: recorded by ``verify``, or a word why it can't be fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from .. import corpora
from ..catalogue import Catalogue
from ..content import FieldPath, LoadedEntry
from ..evidence import coverage, record
from ..evidence.record import Evidence, Found
from ..finding import Explanation, Finding, shown
from ..model import Signature, Source
from .report import content_folder, finding

CODES: Mapping[str, Explanation] = {
    "no-evidence": Explanation(
        "A complete entry shows where each of its messages stands upstream. `python build.py verify SLUG` records it "
        "in evidence.json. What can't be fetched says where it was read (read_at) or, where no source is public, says "
        "so in the source's note."
    ),
    "stale-evidence": Explanation(
        "A signature's text, literal, project or versions were changed after its evidence was recorded. "
        "`python build.py verify SLUG` looks again."
    ),
    "bad-evidence": Explanation(
        "evidence.json and content/evidence/deepspeed-messages.json are written by `python build.py verify`, "
        "corpora.json and coverage.json by `python -m generator.corpora`, not by hand."
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    try:
        evidence = record.read(loaded.files.get(record.FILE))
    except ValueError as error:
        yield _in_file(loaded, "bad-evidence", f"can't be read: {error}")
        return
    ids = {signature.id for signature in loaded.entry.signatures}
    for name in sorted(evidence.signatures.keys() - ids if evidence else ()):
        message = f"tells of a signature {shown(name)} that the entry doesn't have"
        yield _in_file(loaded, "stale-evidence", message)
    for i, signature in enumerate(loaded.entry.signatures):
        if signature.source and not signature.source.read_at:
            system = catalogue.systems.get(signature.source.project)
            where = ("signatures", i)
            if system is None or system.package is None:
                yield from _check_note(loaded, where, signature.source)
            else:
                yield from _check_found(loaded, where, signature, signature.source, evidence)


def _in_file(loaded: LoadedEntry, code: str, message: str) -> Finding:
    path = f"{loaded.positions.path.rpartition('/')[0]}/{record.FILE}"
    return Finding(path, 1, 1, code, "error", message, f"run: python build.py verify {loaded.slug}")


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    renew = "run: python -m generator.corpora"
    yield from _unreadable(catalogue, coverage.FILE, coverage.read, "run: python build.py verify")
    yield from _unreadable(catalogue, coverage.RECORD, coverage.read_record, renew)
    yield from _unreadable(catalogue, corpora.FILE, corpora.read, renew)


def _unreadable(
    catalogue: Catalogue, name: str, read: Callable[[bytes | None], object], hint: str
) -> Iterator[Finding]:
    """A finding where what was recorded of all entries is something else."""
    try:
        read(catalogue.content.evidence.get(name))
    except ValueError as error:
        path = f"{content_folder(catalogue)}/evidence/{name}"
        yield Finding(path, 1, 1, "bad-evidence", "error", f"can't be read: {error}", hint)


def _check_note(loaded: LoadedEntry, where: FieldPath, source: Source) -> Iterator[Finding]:
    if loaded.entry.status == "complete" and not source.note:
        message = f"{shown(source.project)} is no package that verify can fetch"
        hint = "say in read_at where it was read, or in note why nobody can"
        yield finding(loaded.positions, (*where, "source"), "no-evidence", message, hint)


def _check_found(
    loaded: LoadedEntry, where: FieldPath, signature: Signature, source: Source, evidence: Evidence | None
) -> Iterator[Finding]:
    again = f"run: python build.py verify {loaded.slug}"
    recorded = evidence.signatures.get(signature.id) if evidence else None
    if recorded is None:
        if loaded.entry.status == "complete":
            message = f"the signature {shown(signature.id)} has no evidence"
            yield finding(loaded.positions, (*where, "id"), "no-evidence", message, again)
    elif record.evidence_for(signature, evidence) is None:
        message = f"the signature {shown(signature.id)} has changed since it was looked for"
        yield finding(loaded.positions, (*where, "id"), "stale-evidence", message, again)
    elif problem := contradiction(source, recorded):
        yield finding(loaded.positions, (*where, "source", "versions"), "stale-evidence", problem, again)


def contradiction(source: Source, recorded: Found) -> str | None:
    """What ``versions`` says that the record doesn't hold; None where they agree, or where it is no range."""
    try:
        claim = _range("" if source.versions == "*" else source.versions)
    except InvalidSpecifier:
        return None
    named = [_version(each.version.removesuffix(".*")) for each in claim]
    runs = [(_version(first), _version(last)) for first, last in recorded.found]
    held = [end for run in runs for end in run]
    held += [version for version in named for first, last in runs if first <= version <= last]
    if not any(claim.contains(version) for version in held):
        return f"versions is {source.versions}; it was found in {recorded.ranges}"
    lacking = [version for version in recorded.lacking if claim.contains(version)]
    return f"versions is {source.versions}; {lacking[0]} lacks it" if lacking else None


_range = lru_cache(1024)(SpecifierSet)
_version = lru_cache(1024)(Version)
