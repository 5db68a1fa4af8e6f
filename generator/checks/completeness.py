"""What an entry of each status must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..finding import Explanation, Finding, shown
from ..model import Entry
from .report import finding

CODES: Mapping[str, Explanation] = {
    "incomplete": Explanation(
        "An entry has a log that must be diagnosed as it, and evidence for each cause that isn't inferred. A complete one has all parts: mechanism, observe, "
        "symptoms, affected, prevention, examples, faq, executive, "
        "a source for each signature, and a log that must not be diagnosed as it. See DESIGN.md, section 4.",
        "status: complete",
        "status: short",
    ),
    "withdrawn": Explanation(
        "A withdrawn entry says what replaces it (superseded_by) or, under changes, why it went; "
        "no other has superseded_by."
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    entry, positions = loaded.entry, loaded.positions
    if entry.status == "withdrawn":
        if entry.superseded_by is None and not entry.changes:
            hint = "name superseded_by, or say why under changes"
            yield finding(positions, ("status",), "withdrawn", "withdrawn without a word why", hint)
        return
    if entry.superseded_by is not None:
        message = f"superseded, and {entry.status} all the same"
        hint = "write status: withdrawn, or remove superseded_by"
        yield finding(positions, ("superseded_by",), "withdrawn", message, hint)
    if not any(log.says == "initiating" for log in entry.logs):
        message = f"a {entry.status} entry needs a log with 'says: initiating'"
        yield finding(positions, ("logs",), "incomplete", message)
    for i, cause in enumerate(entry.causes):
        if cause.grade != "inferred" and not cause.evidence:
            message = f"the cause {shown(cause.id)} is graded '{cause.grade}' without evidence"
            hint = "name references, or grade it 'inferred'"
            yield finding(positions, ("causes", i, "grade"), "incomplete", message, hint)
    if entry.status == "complete":
        yield from _complete(loaded)


def _complete(loaded: LoadedEntry) -> Iterator[Finding]:
    entry, positions = loaded.entry, loaded.positions
    for key, is_there, what in _PARTS:
        if not is_there(entry):
            where = (key,) if (key,) in positions.places else ("status",)
            yield finding(positions, where, "incomplete", f"a complete entry needs {what}")
    for i, signature in enumerate(entry.signatures):
        if signature.source is None:
            message = f"the signature {shown(signature.id)} has no source"
            yield finding(positions, ("signatures", i, "id"), "incomplete", message)


_PARTS: tuple[tuple[str, Callable[[Entry], bool], str], ...] = (
    ("mechanism", lambda entry: entry.mechanism is not None, "'mechanism'"),
    ("observe", lambda entry: entry.observe is not None, "'observe'"),
    ("symptoms", lambda entry: len(entry.symptoms) >= 3, "at least three 'symptoms'"),
    ("affected", lambda entry: entry.affected is not None, "'affected'"),
    ("prevention", lambda entry: entry.prevention is not None, "'prevention'"),
    ("examples", lambda entry: len(entry.examples) >= 1, "at least one of 'examples'"),
    ("faq", lambda entry: len(entry.faq) >= 2, "at least two questions in 'faq'"),
    ("executive", lambda entry: entry.executive is not None, "'executive'"),
    (
        "logs",
        lambda entry: any(log.says in ("other", "collateral") for log in entry.logs),
        "a log with 'says: other' or 'says: collateral'",
    ),
)
"""The key, whether the entry has enough of it, and how much that is in words."""
