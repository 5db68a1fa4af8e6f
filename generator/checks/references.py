"""What an entry names inside itself is there, and what it lists is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..catalogue import Catalogue
from ..content import FieldPath, LoadedEntry
from ..finding import Explanation, Finding, shown
from ..model import Entry
from ..validate import did_you_mean
from .report import finding

CODES: Mapping[str, Explanation] = {
    "unknown-cause": Explanation("A fix names the causes it repairs by their ids in the same entry."),
    "unknown-reference": Explanation(
        "evidence, asked_in and fixed_in name references of the same entry by id.",
        "evidence: [pr-12]",
        "evidence: [pr-12]\nreferences:\n  - id: pr-12\n    ...",
    ),
    "unused-reference": Explanation(
        "A reference that no cause, fix or question names supports nothing that a reader could check."
    ),
    "unfixed-cause": Explanation(
        "No fix names this cause: the reader who has found it is left alone with it."
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    entry = loaded.entry
    causes = {cause.id for cause in entry.causes}
    references = {reference.id for reference in entry.references}
    yield from _dangling(loaded, "cause", causes, _causes_named(entry))
    yield from _dangling(loaded, "reference", references, _references_named(entry))
    used = {name for _, name in _references_named(entry)}
    for i, reference in enumerate(entry.references):
        if reference.id not in used:
            message = f"nothing in the entry rests on the reference {shown(reference.id)}"
            hint = "name it in a cause's evidence, a question's asked_in or a fix's fixed_in"
            where = ("references", i, "id")
            yield finding(loaded.positions, where, "unused-reference", message, hint, "warning")
    repaired = {name for _, name in _causes_named(entry)}
    for i, cause in enumerate(entry.causes):
        if cause.id not in repaired:
            message = f"no fix repairs the cause {shown(cause.id)}"
            yield finding(loaded.positions, ("causes", i, "id"), "unfixed-cause", message, "", "warning")


def _dangling(
    loaded: LoadedEntry, what: str, ids: Iterable[str], named: Iterable[tuple[FieldPath, str]]
) -> Iterator[Finding]:
    for field, name in named:
        if name not in ids:
            message = f"the entry has no {what} {shown(name)}"
            hint = did_you_mean(name, ids) or f"add it under {what}s, with this id"
            yield finding(loaded.positions, field, f"unknown-{what}", message, hint)


def _causes_named(entry: Entry) -> list[tuple[FieldPath, str]]:
    return [
        (("fixes", i, "causes", j), name)
        for i, fix in enumerate(entry.fixes)
        for j, name in enumerate(fix.causes)
    ]


def _references_named(entry: Entry) -> list[tuple[FieldPath, str]]:
    named: list[tuple[FieldPath, str]] = []
    for i, cause in enumerate(entry.causes):
        named += [(("causes", i, "evidence", j), name) for j, name in enumerate(cause.evidence)]
    for i, fix in enumerate(entry.fixes):
        named += [
            (("fixes", i, "fixed_in", j, "reference"), fixed.reference)
            for j, fixed in enumerate(fix.fixed_in)
        ]
    for i, question in enumerate(entry.faq):
        if question.asked_in is not None:
            named.append((("faq", i, "asked_in"), question.asked_in))
    return named
