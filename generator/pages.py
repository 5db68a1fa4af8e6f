"""Catalogue → the list of pages: what the site consists of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from . import symptoms
from .catalogue import Catalogue
from .content import LoadedEntry, TextPage
from .diagnose.read import SKIPPED
from .evidence.coverage import covered
from .model import Family, Hub, Phase, System, Tag
from .views import (
    appearance,
    corpora_shown,
    events,
    evidence,
    fixed_upstream,
    hub_filters,
    hub_rows,
    look_alikes,
    messages_by_system,
    most_reported,
    neighbours,
    often_confused,
    related,
    sample_lines,
    sample_logs,
    short_names,
    tally,
)

Kind = Literal[
    "home",
    "failures",
    "entry",
    "redirect",
    "hub",
    "phase",
    "family",
    "system",
    "tag",
    "signatures",
    "diagnose",
    "compare",
    "changes",
    "symptom",
    "verify",
    "text",
    "404",
]

FOLDERS = frozenset(
    [
        "api",
        "changes",
        "compare",
        "css",
        "diagnose",
        "engine",
        "failures",
        "families",
        "js",
        "pagefind",
        "phases",
        "signatures",
        "symptoms",
        "systems",
        "tags",
    ]
)
"""What the site's root holds beside a folder for each text page and hub."""
NEWEST = 6
"""What the home page tells of what is new."""


@dataclass(frozen=True)
class Page:
    """A page before it is HTML: where it stands, which template shows it, and what the template is given.

    ``path`` is the file's path in the site; a page ``x/index.html`` is linked as ``x/``.
    """

    kind: Kind
    path: str
    title: str
    description: str
    template: str
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def url(self) -> str:
        """How the site's root links to it: ``x/`` for ``x/index.html``, nothing for the home page."""
        return self.path.removesuffix("index.html")


def all_pages(catalogue: Catalogue) -> list[Page]:
    """Every HTML page of the site, in a fixed order, without duplicates of a path."""
    names = short_names(catalogue)
    return [
        _home(catalogue),
        _failures(catalogue),
        *(_entry(catalogue, loaded, names) for loaded in catalogue.content.entries),
        *(_redirect(loaded, alias) for loaded in catalogue.content.entries for alias in loaded.entry.aliases),
        *(_hub(catalogue, hub, names) for hub in catalogue.hubs.values()),
        *_groups(catalogue),
        _signatures(catalogue),
        _diagnose(catalogue),
        _compare(catalogue, names),
        _changes(catalogue),
        *(_symptom(node) for node in symptoms.nodes(catalogue)),
        *(
            _verify(catalogue, page) if page.name == "verify" else _text(page)
            for page in catalogue.content.pages
        ),
        _not_found(),
    ]


def _home(catalogue: Catalogue) -> Page:
    title = "First Fault: what broke your distributed training run"
    description = (
        "The open encyclopedia of distributed-training failures. Paste an error line: what it is, "
        "which rank started it, how to be sure, and the fix. Nothing leaves your machine."
    )
    data = {
        "tally": tally(catalogue),
        "samples": sample_lines(catalogue),
        "reported": most_reported(catalogue),
        "newest": events(catalogue)[:NEWEST],
    }
    return Page("home", "index.html", title, description, "home.html", data)


def _failures(catalogue: Catalogue) -> Page:
    description = "All failures in one sortable list: family, phase, effect, systems, evidence."
    return Page("failures", "failures/index.html", "All failures", description, "failures.html")


def _entry(catalogue: Catalogue, loaded: LoadedEntry, names: Mapping[str, str]) -> Page:
    entry = loaded.entry
    data = {
        "loaded": loaded,
        "entry": entry,
        "appearance": appearance(entry),
        "evidence": evidence(loaded),
        "related": related(catalogue, loaded),
        "alike": look_alikes(catalogue, loaded),
        "neighbours": neighbours(catalogue, loaded),
        "names": names,
    }
    path = f"failures/{loaded.slug}/index.html"
    return Page("entry", path, entry.title, entry.quick_answer.symptom, "entry.html", data)


def _redirect(loaded: LoadedEntry, alias: str) -> Page:
    data = {"target": f"failures/{loaded.slug}/"}
    path = f"failures/{alias}/index.html"
    return Page("redirect", path, loaded.entry.title, f"Moved to {loaded.slug}.", "redirect.html", data)


def _hub(catalogue: Catalogue, hub: Hub, names: Mapping[str, str]) -> Page:
    rows = hub_rows(catalogue, hub)
    data = {"hub": hub, "rows": rows, "filters": hub_filters(catalogue, rows), "names": names}
    name = catalogue.systems[hub.system].name
    description = (
        f"{name} failures by lifecycle phase, and what ZeRO 1, 2 and 3 do to each kind of state there."
    )
    return Page("hub", f"{hub.system}/index.html", hub.title, description, "hub.html", data)


def _groups(catalogue: Catalogue) -> Iterator[Page]:
    """Every phase and family has a page; a system or tag has one where an entry bears it."""
    for phase in catalogue.content.phases:
        yield _group("phase", "phases", phase, catalogue.in_phase(phase.id))
    for family in catalogue.content.families:
        yield _group("family", "families", family, catalogue.in_family(family.id))
    for system in catalogue.content.systems:
        if entries := catalogue.in_system(system.id):
            yield _group("system", "systems", system, entries)
    for tag in catalogue.content.tags:
        if entries := catalogue.with_tag(tag.id):
            yield _group("tag", "tags", tag, entries)


def _group(
    kind: Literal["phase", "family", "system", "tag"],
    folder: str,
    group: Phase | Family | System | Tag,
    entries: tuple[LoadedEntry, ...],
) -> Page:
    data = {"group": group, "entries": entries, "kind": kind}
    path = f"{folder}/{group.id}/index.html"
    description = f"Failures of distributed training under the {kind} {group.name}."
    return Page(kind, path, group.name, description, "group.html", data)


def _signatures(catalogue: Catalogue) -> Page:
    description = (
        "Every message of the encyclopedia by the system that prints it, with what such a line usually is."
    )
    data = {"systems": messages_by_system(catalogue)}
    return Page(
        "signatures", "signatures/index.html", "Messages by system", description, "signatures.html", data
    )


def _diagnose(catalogue: Catalogue) -> Page:
    description = (
        "Paste or drop the logs of one rank or of hundreds: the line and the rank that started it, "
        "what only followed from it, and what to do next. The logs stay on your machine."
    )
    data = {"samples": sample_logs(catalogue), "skipped": sorted(SKIPPED)}
    return Page("diagnose", "diagnose/index.html", "Diagnose a log", description, "diagnose.html", data)


def _compare(catalogue: Catalogue, names: Mapping[str, str]) -> Page:
    description = (
        "Two to four failures in columns: message, first check, fix and its cost, and how to tell them apart."
    )
    data = {"confused": often_confused(catalogue), "names": names}
    return Page("compare", "compare/index.html", "Compare failures", description, "compare.html", data)


def _changes(catalogue: Catalogue) -> Page:
    description = "What is new, what was changed, and which release of which system repaired what."
    data = {"events": events(catalogue), "repairs": fixed_upstream(catalogue)}
    return Page("changes", "changes/index.html", "What is new", description, "changes.html", data)


def _symptom(node: symptoms.Node) -> Page:
    """A question of the finder, or where it ends; the title says the answers so far."""
    answers = [answer for _, answer, _ in node.given]
    title = answers[-1] if answers else "No error line? Start from what you see"
    said = "; ".join(answers) or "a run that hangs, computes something wrong, is slow, or was killed"
    description = f"Failures of distributed training without an error line: {said}."
    return Page("symptom", f"{node.path}index.html", title, description, "symptom.html", {"node": node})


def _verify(catalogue: Catalogue, page: TextPage) -> Page:
    """The text about evidence, under the numbers that the build counts."""
    data = {
        "body": page.body,
        "tally": tally(catalogue),
        "coverage": covered(catalogue),
        **corpora_shown(catalogue),
    }
    return Page("verify", f"{page.name}/index.html", page.title, page.description, "verify.html", data)


def _text(page: TextPage) -> Page:
    data = {"body": page.body}
    return Page("text", f"{page.name}/index.html", page.title, page.description, "text.html", data)


def _not_found() -> Page:
    return Page("404", "404.html", "No page here", "This address leads to no page.", "404.html")
