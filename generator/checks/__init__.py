"""Checks of what loaded: one module a check.

A module has ``check(loaded, catalogue)`` for what one entry can get wrong, ``finish(catalogue)`` for what
spans entries or stands outside them, or both; each yields findings. ``CODES`` explains every code that
the module brings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from .. import load, validate, yaml_document
from ..catalogue import Catalogue
from ..content import Content, LoadedEntry
from ..finding import Explanation, Finding
from ..parallel import mapped
from ..signature import TemplateError
from . import (
    characters,
    code,
    comments,
    completeness,
    dates,
    evidence,
    figures,
    files,
    filler,
    hubs,
    ids,
    logs,
    markup,
    names,
    private,
    references,
    reproductions,
    sentences,
    signatures,
    slugs,
    snippets,
    versions,
)

CHECKS: tuple[Callable[[LoadedEntry, Catalogue], Iterator[Finding]], ...] = (
    names.check,
    ids.check,
    references.check,
    slugs.check,
    versions.check,
    dates.check,
    completeness.check,
    files.check,
    figures.check,
    signatures.check,
    markup.check,
    evidence.check,
    characters.check,
)
"""What a page rests on: a build asks these, too."""
EDITORIAL: tuple[Callable[[LoadedEntry, Catalogue], Iterator[Finding]], ...] = (
    snippets.check,
    code.check,
    reproductions.check,
    filler.check,
    comments.check,
)
"""How an entry is written, which is ``check``'s alone."""
FINISHERS: tuple[Callable[[Catalogue], Iterator[Finding]], ...] = (
    names.finish,
    ids.finish,
    slugs.finish,
    versions.finish,
    signatures.finish,
    markup.finish,
    characters.finish,
    hubs.finish,
    evidence.finish,
)
_EXPLAINED = (
    yaml_document,
    validate,
    load,
    names,
    ids,
    references,
    slugs,
    versions,
    dates,
    completeness,
    files,
    figures,
    private,
    signatures,
    markup,
    snippets,
    code,
    reproductions,
    logs,
    filler,
    comments,
    hubs,
    sentences,
    evidence,
)
CODES: Mapping[str, Explanation] = {
    code: said for module in _EXPLAINED for code, said in module.CODES.items()
}
"""Every code that ``load`` or a check emits, and what it means."""


def examine(
    folder: Path, wanted: Callable[[LoadedEntry], bool] = lambda loaded: True
) -> tuple[Content, list[Finding]]:
    """The content of a folder as far as it loads, and all that is wrong with it, sorted.

    Of entries that aren't ``wanted`` only what doesn't load, or what they have in common with others.
    """
    content, findings = load.load(folder)
    return content, examined(content, findings, wanted)


def examined(
    content: Content, findings: list[Finding], wanted: Callable[[LoadedEntry], bool] = lambda loaded: True
) -> list[Finding]:
    """The same of what loaded with these findings, which are among those that come back."""
    told = {(finding.path, finding.line, finding.column) for finding in findings}
    found = [*findings, *run_checks(content, wanted), *_edited(content, wanted)]
    return sorted([*found, *_of_damaged(content, wanted, told)])


def of_entry(loaded: LoadedEntry, catalogue: Catalogue) -> list[Finding]:
    """What can be told of one entry by itself."""
    return [finding for check in (*CHECKS, *EDITORIAL) for finding in check(loaded, catalogue)]


def examine_for_build(folder: Path, count: int = 1) -> tuple[Content, list[Finding]]:
    """The same without what is ``check``'s alone; read by ``count`` processes."""
    content, findings = load.load(folder, count)
    return content, sorted([*findings, *run_checks(content, count=count)])


def examine_logs(content: Content, slugs: Collection[str] | None = None) -> list[Finding]:
    """What is wrong with the logs of all entries and healthy runs, or of ``slugs``: names in them, other diagnoses.

    Of diagnoses nothing while a template is broken, which another check tells: then no log can be diagnosed.
    """
    wanted = [loaded for loaded in content.entries if slugs is None or loaded.slug in slugs]
    found = [finding for loaded in wanted for finding in private.check(loaded)]
    with suppress(TemplateError):
        found += logs.promises(Catalogue(content), slugs)
    return sorted(found)


def run_checks(
    content: Content, wanted: Callable[[LoadedEntry], bool] = lambda loaded: True, count: int = 1
) -> list[Finding]:
    """All that forbids a page, sorted; looked for by ``count`` processes."""
    catalogue = Catalogue(content)

    def checked(loaded: LoadedEntry) -> list[Finding]:
        return [finding for check in CHECKS for finding in check(loaded, catalogue)]

    entries = [loaded for loaded in content.entries if wanted(loaded)]
    found = [finding for findings in mapped(checked, entries, count) for finding in findings]
    found += [f for finish in FINISHERS for f in finish(catalogue)]
    return sorted(found)


def _of_damaged(
    content: Content, wanted: Callable[[LoadedEntry], bool], told: Collection[tuple[str, int, int]]
) -> Iterator[Finding]:
    """What else is wrong with entries that don't load: nothing at a place of which something was told."""
    catalogue = Catalogue(content)
    for loaded in filter(wanted, content.damaged):
        for check in (*CHECKS, *EDITORIAL):
            # A number that stands for a wrong one makes a drawing that nobody wrote.
            if check is figures.check:
                continue
            for finding in check(loaded, catalogue):
                is_new = (finding.path, finding.line, finding.column) not in told
                if is_new and validate.STAND_IN not in f"{finding.message} {finding.hint}":
                    yield finding


def _edited(content: Content, wanted: Callable[[LoadedEntry], bool]) -> Iterator[Finding]:
    catalogue = Catalogue(content)
    yield from sentences.finish(catalogue, wanted)
    for loaded in filter(wanted, content.entries):
        for check in EDITORIAL:
            yield from check(loaded, catalogue)
