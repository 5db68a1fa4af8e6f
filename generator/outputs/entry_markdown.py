"""An entry as one Markdown document: for tickets, terminals and language models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import figures, words
from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..markdown import plain
from ..model import Cause, Confirm, Entry, Example, Fix, Reference, Signature, Snippet
from .address import address


def entry_markdown(loaded: LoadedEntry, catalogue: Catalogue, base_url: str = "") -> str:
    """Everything in the entry but its view for an executive, in the order of the page."""
    entry = loaded.entry
    head = [f"# {plain(entry.title)}", entry.summary, _facts(loaded, catalogue, base_url)]
    parts = [f"## {title}\n\n{text}" for title, text in _sections(entry) if text]
    return "\n\n".join([*head, *parts]) + "\n"


def _facts(loaded: LoadedEntry, catalogue: Catalogue, base_url: str) -> str:
    entry = loaded.entry
    systems = ", ".join(
        f"{catalogue.systems[known.id].name} {words.version_range(known.versions)}".strip()
        for known in entry.systems
    )
    rows = [
        ("Page", address(base_url, f"failures/{loaded.slug}/")),
        ("Family", catalogue.families[entry.family].name),
        ("Phase", catalogue.phases[entry.phase].name),
        ("Systems", systems),
        *([("Where no release is named", catalogue.written_for)] if catalogue.written_for else []),
        ("Status", entry.status + (f", see {entry.superseded_by}" if entry.superseded_by else "")),
        ("Reviewed", entry.reviewed.isoformat()),
    ]
    return _items(f"{name}: {value}" for name, value in rows)


def _sections(entry: Entry) -> Iterator[tuple[str, str]]:
    yield "Message", _blocks(map(_signature, entry.signatures)) or entry.look_instead or ""
    restart = f"{words.RESTARTS[entry.do_now.restart]} {entry.do_now.restart_why}"
    yield "Do now", _blocks([_numbered(entry.do_now.steps), restart, entry.do_now.concerns])
    yield "Is it this one?", _blocks(map(_confirm, entry.confirm))
    yield "Look-alikes", _items(f"{plain(other.name)}: {other.difference}" for other in entry.look_alikes)
    yield "Why", entry.mechanism or entry.quick_answer.cause
    yield "What you observe", entry.observe or ""
    yield (
        "Drawings",
        _blocks(f"{each.caption}\n\n{_items(map(plain, figures.in_words(each)))}" for each in entry.figures),
    )
    yield "Symptoms", _items(f"{each.sign}: {each.meaning}" for each in entry.symptoms)
    yield "Causes", _blocks(map(_cause, entry.causes))
    yield "Fixes", _blocks(map(_fix, entry.fixes))
    if entry.prevention is not None:
        yield (
            "Prevention",
            _blocks(
                [
                    entry.prevention.pattern,
                    _items(entry.prevention.checklist),
                    entry.prevention.smoke_test.text,
                    _snippet(entry.prevention.smoke_test.snippet),
                ]
            ),
        )
    yield "Examples", _blocks(map(_example, entry.examples))
    yield "Questions", _blocks(f"### {plain(each.question)}\n\n{each.answer}" for each in entry.faq)
    yield "References", _blocks([_items(map(_reference, entry.references))])


def _signature(signature: Signature) -> str:
    reading = f"{words.ROLES[signature.role]}, printed by {words.PRINTED_BY[signature.printed_by]}. "
    return f"{_fenced(signature.text, 'text')}\n\n{reading}{signature.usually}"


def _confirm(check: Confirm) -> str:
    command = [_fenced(check.command, "bash")] if check.command else []
    return _blocks([check.step, *command, _items([f"yes: {check.yes}", f"no: {check.no}"])])


def _cause(cause: Cause) -> str:
    grade = f"Evidence: {cause.grade} ({words.GRADES[cause.grade]})"
    return _blocks(
        [f"### {cause.title}", cause.text, grade + "".join(f" [{each}]" for each in cause.evidence)]
    )


def _fix(fix: Fix) -> str:
    costs = [f"costs {label.lower()}: {text}" for label, text in words.told(fix.cost, words.COSTS)]
    fixed = [f"fixed in {release.system} {plain(release.version)}" for release in fix.fixed_in]
    snippets = map(_snippet, fix.snippets)
    facts = _items([*costs, *fixed, f"verify: {fix.verify}"])
    return _blocks([f"### {fix.title}", _numbered(fix.steps), *snippets, facts])


def _example(example: Example) -> str:
    return _blocks(
        [
            f"### {plain(example.title)}",
            example.needs,
            "Failing:",
            _snippet(example.failing),
            "Repaired:",
            _snippet(example.repaired),
            example.why,
        ]
    )


def _snippet(snippet: Snippet) -> str:
    return _blocks([snippet.caption or "", _fenced(snippet.code, snippet.language)])


def _reference(reference: Reference) -> str:
    return f"[{reference.id}] {plain(reference.title)}: <{reference.url}>. {reference.supports}"


def _fenced(code: str, language: str) -> str:
    """The code in a fence that is longer than any in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def _blocks(texts: Iterable[str]) -> str:
    return "\n\n".join(text.strip("\n") for text in texts if text)


def _items(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _numbered(steps: Iterable[str]) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
