"""Code uses names that exist, and DeepSpeed takes its configurations, or refuses them as the entry says.

Both are looked up in snippets.json beside the entry, which ``python -m generator.code_evidence`` renews.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..catalogue import Catalogue
from ..code_evidence.needs import DEEPSPEED, module_of, needs, question_of
from ..code_evidence.record import FILE, Record, read
from ..code_evidence.uses import (
    Configuration,
    configurations,
    imported_modules,
    releases,
    snippets,
    used_names,
)
from ..content import FieldPath, LoadedEntry
from ..finding import Explanation, Finding, Severity, shown
from ..model import Snippet
from .report import finding, finding_within

CODES: Mapping[str, Explanation] = {
    "unknown-name": Explanation(
        "What a snippet imports, reaches by dots or passes as a keyword exists in the release that it is for: "
        "its own 'packages', else that of content/taxonomy/packages.yaml. A name that a snippet uses on "
        "purpose though it is gone stands in its 'missing'.",
        "code: torch.distributed.all_sum(x)",
        "code: torch.distributed.all_reduce(x)",
    ),
    "not-missing": Explanation("A name in a snippet's 'missing' is used by it and is not in the release."),
    "unlisted-package": Explanation(
        "What snippets import is the standard library or stands in content/taxonomy/packages.yaml, with the "
        "release to look it up in."
    ),
    "configuration": Explanation(
        "DeepSpeed takes a configuration, or refuses it with the words of the snippet's 'refused'. It is asked "
        "with 'ranks' data-parallel ranks (1), and with the Trainer's defaults in place of 'auto'.",
        'code: \'{"train_batch_size": 3, "train_micro_batch_size_per_gpu": 2}\'',
        'code: \'{"train_batch_size": 4, "train_micro_batch_size_per_gpu": 2}\'',
    ),
    "unrecorded": Explanation(
        f"A name or a configuration was not looked up yet: {FILE} doesn't hold it. A short entry may wait."
    ),
    "stale-record": Explanation(f"{FILE} holds what the entry's snippets use, and nothing else."),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    record = read(loaded)
    if record is None:
        path = loaded.positions.path.removesuffix("entry.yaml") + FILE
        yield Finding(path, 1, 1, "unrecorded", "error", "this is no record of snippets", _renew(loaded))
        return
    for field, snippet in snippets(loaded.entry):
        one = _Snippet(loaded, field, snippet, releases(snippet, catalogue.content.packages), record)
        yield from one.unlisted()
        yield from one.names()
        yield from one.claims()
        yield from one.configurations()
    yield from _stale(loaded, record, catalogue)


def _stale(loaded: LoadedEntry, record: Record, catalogue: Catalogue) -> Iterator[Finding]:
    need = needs(loaded, catalogue.content.packages)
    names = {(release, name) for release, kinds in record.names.items() for name in kinds}
    unused = len(names - {(release, name) for release, used in need.names.items() for name in used})
    unused += len(record.configurations.keys() - need.configurations.keys())
    if unused:
        path = loaded.positions.path.removesuffix("entry.yaml") + FILE
        message = f"holds {unused} names or configurations that no snippet uses any more"
        yield Finding(path, 1, 1, "stale-record", "error", message, _renew(loaded))


class _Snippet:
    """One snippet beside the record."""

    def __init__(
        self,
        loaded: LoadedEntry,
        field: FieldPath,
        snippet: Snippet,
        by_module: Mapping[str, str],
        record: Record,
    ) -> None:
        self.loaded, self.field, self.snippet = loaded, field, snippet
        self.by_module, self.record = by_module, record
        self.used = used_names(snippet, frozenset(by_module))

    def unlisted(self) -> Iterator[Finding]:
        for use in imported_modules(self.snippet):
            if use.name not in self.by_module:
                message = f"no release is listed for the module {shown(use.name)}"
                yield self._at(use.line, "unlisted-package", message, "add it to taxonomy/packages.yaml")
        listed = {requirement.partition("==")[0] for requirement in self.by_module.values()}
        for number, requirement in enumerate(self.snippet.packages):
            if requirement.partition("==")[0] not in listed:
                message = f"{shown(requirement)} is a release of no listed package"
                where = (*self.field, "packages", number)
                yield finding(self.loaded.positions, where, "unlisted-package", message)

    def names(self) -> Iterator[Finding]:
        for use in self.used:
            release = self.by_module[module_of(use.name)]
            kind = self.record.names.get(release, {}).get(use.name)
            if kind is None:
                yield self._unrecorded(use.line, f"{use.name} was not looked up in {_said(release)}")
            elif kind == "missing" and not self._is_excused(use.name):
                yield self._at(use.line, "unknown-name", f"{use.name} does not exist in {_said(release)}")

    def _is_excused(self, name: str) -> bool:
        """Whether the name, or what it hangs on, is missing on purpose."""
        gone = self.snippet.missing
        return name in gone or name.startswith(tuple(f"{one}{end}" for one in gone for end in ".("))

    def claims(self) -> Iterator[Finding]:
        used = {use.name for use in self.used}
        for number, name in enumerate(self.snippet.missing):
            where = (*self.field, "missing", number)
            release = self.by_module.get(module_of(name), "")
            kind = self.record.names.get(release, {}).get(name)
            if name not in used:
                message = f"the snippet does not use {shown(name)}"
                yield finding(self.loaded.positions, where, "not-missing", message)
            elif kind not in (None, "missing"):
                message = f"{name} is in {_said(release)}: {kind}"
                yield finding(self.loaded.positions, where, "not-missing", message)

    def configurations(self) -> Iterator[Finding]:
        claimed = self.snippet.refused
        refusals = 0
        found = configurations(self.snippet) if DEEPSPEED in self.by_module else ()
        for configuration in found:
            key, question = question_of(self.snippet, configuration, self.by_module[DEEPSPEED])
            answer = self.record.configurations.get(key)
            if answer is None:
                asked = f"{_said(question.release)} on {question.ranks} data-parallel ranks"
                yield self._unrecorded(configuration.line, f"this configuration was not given to {asked}")
                return
            refusals += answer.refused is not None
            if answer.refused is not None and (claimed is None or claimed not in answer.refused):
                yield self._refused(configuration, question.release, answer.refused)
        if (claimed is not None or self.snippet.ranks is not None) and not found:
            yield self._at(1, "configuration", "the snippet shows no whole DeepSpeed configuration")
        elif claimed is not None and not refusals:
            where = (*self.field, "refused")
            message = f"DeepSpeed takes this configuration, {shown(claimed)} is not said"
            yield finding(self.loaded.positions, where, "configuration", message)

    def _refused(self, configuration: Configuration, release: str, words: str) -> Finding:
        hint = "say it under 'refused', where the entry means it"
        message = f"{_said(release)} refuses this configuration: {shown(words, 200)}"
        return self._at(configuration.line, "configuration", message, hint)

    def _unrecorded(self, line: int, message: str) -> Finding:
        severity: Severity = "error" if self.loaded.entry.status == "complete" else "warning"
        return self._at(line, "unrecorded", message, _renew(self.loaded), severity)

    def _at(
        self, line: int, code: str, message: str, hint: str = "", severity: Severity = "error"
    ) -> Finding:
        text, where = self.snippet.code, (*self.field, "code")
        offset = sum(map(len, text.splitlines(keepends=True)[: line - 1]))
        offset += len(text[offset:]) - len(text[offset:].lstrip())
        return finding_within(self.loaded.positions, where, text, offset, code, message, hint, severity)


def _said(release: str) -> str:
    return release.replace("==", " ")


def _renew(loaded: LoadedEntry) -> str:
    return f"run python -m generator.code_evidence {loaded.slug}, see CONTRIBUTING.md"
