"""Catalogue → the list of pages: what the site consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

from . import symptoms
from .catalogue import Catalogue
from .content import LoadedEntry, TextPage
from .diagnose.read import SKIPPED
from .evidence.coverage import covered
from .model import Family, Hub, Phase, System, Tag
from .views import (
    ShortNames,
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


Data = Mapping[str, Any]


@dataclass(frozen=True)
class Page:
    """A page before it is HTML: where it stands, which template shows it, and what the template is given.

    ``path`` is the file's path in the site; a page ``x/index.html`` is linked as ``x/``. What the template is given
    is gathered when it is asked for.
    """

    kind: Kind
    path: str
    title: str
    description: str
    template: str
    gather: Callable[[], Data] = dict

    @cached_property
    def data(self) -> Data:
        return self.gather()

    @property
    def url(self) -> str:
        """How the site's root links to it: ``x/`` for ``x/index.html``, nothing for the home page."""
        return self.path.removesuffix("index.html")


def _given(**data: Any) -> Callable[[], Data]:
    """For a page that needs no gathering."""
    return lambda: data


@dataclass(frozen=True)
class Section:
    """Pages that are made together, and the paths that they may have: files, and folders, which end in '/'."""

    paths: tuple[str, ...]
    make: Callable[[], Iterable[Page]]
    find: Callable[[str], Page | None] | None = None
    """Makes the page of one path alone, where there are too many to make all for it."""


def all_pages(catalogue: Catalogue) -> list[Page]:
    """Every HTML page of the site, in a fixed order, without duplicates of a path."""
    return [page for section in sections(catalogue) for page in section.make()]


def sections(catalogue: Catalogue) -> list[Section]:
    """What the site consists of. Nothing is made before it is asked for."""
    names = ShortNames(catalogue)
    hubs, texts = catalogue.hubs, catalogue.content.pages
    return [
        Section(("index.html",), lambda: [_home(catalogue)]),
        Section(("failures/index.html",), lambda: [_failures(catalogue)]),
        Section(
            ("failures/",),
            lambda: _entries(catalogue, names),
            lambda path: _entry_at(catalogue, names, path),
        ),
        Section(
            tuple(f"{hub}/index.html" for hub in hubs),
            lambda: (_hub(catalogue, hub, names) for hub in hubs.values()),
        ),
        Section(("phases/", "families/", "systems/", "tags/"), lambda: _groups(catalogue)),
        Section(("signatures/index.html",), lambda: [_signatures(catalogue)]),
        Section(("diagnose/index.html",), lambda: [_diagnose(catalogue)]),
        Section(("compare/index.html",), lambda: [_compare(catalogue, names)]),
        Section(("changes/index.html",), lambda: [_changes(catalogue)]),
        Section(("symptoms/index.html", "symptoms/"), lambda: map(_symptom, symptoms.nodes(catalogue))),
        Section(
            tuple(f"{page.name}/index.html" for page in texts),
            lambda: (_verify(catalogue, page) if page.name == "verify" else _text(page) for page in texts),
        ),
        Section(("404.html",), lambda: [_not_found()]),
    ]


def main_pages(catalogue: Catalogue) -> frozenset[str]:
    """The addresses, from the site's root, of the pages that others lead to where they are there."""
    paths = (path for section in sections(catalogue) for path in section.paths)
    return frozenset(path.removesuffix("index.html") for path in paths if path.endswith("index.html"))


def _home(catalogue: Catalogue) -> Page:
    title = "First Fault: what broke your distributed training run"
    description = (
        "The open encyclopedia of distributed-training failures. Paste an error line: what it is, "
        "which rank started it, how to be sure, and the fix. Nothing leaves your machine."
    )
    return Page("home", "index.html", title, description, "home.html", partial(_home_data, catalogue))


def _home_data(catalogue: Catalogue) -> Data:
    return {
        "tally": tally(catalogue),
        "samples": sample_lines(catalogue),
        "reported": most_reported(catalogue),
        "newest": events(catalogue)[:NEWEST],
    }


def _failures(catalogue: Catalogue) -> Page:
    description = "All failures in one sortable list: family, phase, effect, systems, evidence."
    return Page("failures", "failures/index.html", "All failures", description, "failures.html")


def _entries(catalogue: Catalogue, names: ShortNames) -> Iterator[Page]:
    """The entries' pages, then one for each former name."""
    for loaded in catalogue.content.entries:
        yield _entry(catalogue, loaded, names)
    for loaded in catalogue.content.entries:
        for alias in loaded.entry.aliases:
            yield _redirect(loaded, alias)


def _entry_at(catalogue: Catalogue, names: ShortNames, path: str) -> Page | None:
    """The page at a path, of an entry or a former name."""
    loaded = catalogue.by_slug.get(path.removeprefix("failures/").removesuffix("/index.html"))
    if loaded is not None:
        page = _entry(catalogue, loaded, names)
        return page if page.path == path else None
    pages = (
        _redirect(loaded, alias) for loaded in catalogue.content.entries for alias in loaded.entry.aliases
    )
    return next((page for page in pages if page.path == path), None)


def _entry(catalogue: Catalogue, loaded: LoadedEntry, names: ShortNames) -> Page:
    entry = loaded.entry
    path = f"failures/{loaded.slug}/index.html"
    gather = partial(_entry_data, catalogue, loaded, names)
    return Page("entry", path, entry.title, entry.quick_answer.symptom, "entry.html", gather)


def _entry_data(catalogue: Catalogue, loaded: LoadedEntry, names: ShortNames) -> Data:
    entry = loaded.entry
    return {
        "loaded": loaded,
        "entry": entry,
        "appearance": appearance(entry),
        "evidence": evidence(loaded),
        "cited": {reference.id: reference for reference in entry.references},
        "related": related(catalogue, loaded),
        "alike": look_alikes(catalogue, loaded),
        "neighbours": neighbours(catalogue, loaded),
        "names": names,
    }


def _redirect(loaded: LoadedEntry, alias: str) -> Page:
    path = f"failures/{alias}/index.html"
    gather = _given(target=f"failures/{loaded.slug}/")
    return Page("redirect", path, loaded.entry.title, f"Moved to {loaded.slug}.", "redirect.html", gather)


def _hub(catalogue: Catalogue, hub: Hub, names: ShortNames) -> Page:
    name = catalogue.systems[hub.system].name
    description = (
        f"{name} failures by lifecycle phase, and what ZeRO 1, 2 and 3 do to each kind of state there."
    )
    gather = partial(_hub_data, catalogue, hub, names)
    return Page("hub", f"{hub.system}/index.html", hub.title, description, "hub.html", gather)


def _hub_data(catalogue: Catalogue, hub: Hub, names: ShortNames) -> Data:
    rows = hub_rows(catalogue, hub)
    return {"hub": hub, "rows": rows, "filters": hub_filters(catalogue, rows), "names": names}


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
    gather = _given(group=group, entries=entries, kind=kind)
    path = f"{folder}/{group.id}/index.html"
    description = f"Failures of distributed training under the {kind} {group.name}."
    return Page(kind, path, group.name, description, "group.html", gather)


def _signatures(catalogue: Catalogue) -> Page:
    description = (
        "Every message of the encyclopedia by the system that prints it, with what such a line usually is."
    )
    path = "signatures/index.html"
    gather = partial(_signatures_data, catalogue)
    return Page("signatures", path, "Messages by system", description, "signatures.html", gather)


def _signatures_data(catalogue: Catalogue) -> Data:
    return {"systems": messages_by_system(catalogue)}


def _diagnose(catalogue: Catalogue) -> Page:
    description = (
        "Paste or drop the logs of one rank or of hundreds: the line and the rank that started it, "
        "what only followed from it, and what to do next. The logs stay on your machine."
    )
    path, gather = "diagnose/index.html", partial(_diagnose_data, catalogue)
    return Page("diagnose", path, "Diagnose a log", description, "diagnose.html", gather)


def _diagnose_data(catalogue: Catalogue) -> Data:
    return {"samples": sample_logs(catalogue), "skipped": sorted(SKIPPED)}


def _compare(catalogue: Catalogue, names: ShortNames) -> Page:
    description = (
        "Two to four failures in columns: message, first check, fix and its cost, and how to tell them apart."
    )
    path, gather = "compare/index.html", partial(_compare_data, catalogue, names)
    return Page("compare", path, "Compare failures", description, "compare.html", gather)


def _compare_data(catalogue: Catalogue, names: ShortNames) -> Data:
    return {"confused": often_confused(catalogue), "names": names}


def _changes(catalogue: Catalogue) -> Page:
    description = "What is new, what was changed, and which release of which system repaired what."
    path, gather = "changes/index.html", partial(_changes_data, catalogue)
    return Page("changes", path, "What is new", description, "changes.html", gather)


def _changes_data(catalogue: Catalogue) -> Data:
    return {"events": events(catalogue), "repairs": fixed_upstream(catalogue)}


def _symptom(node: symptoms.Node) -> Page:
    """A question of the finder, or where it ends; the title says the answers so far."""
    answers = [answer for _, answer, _ in node.given]
    title = answers[-1] if answers else "No error line? Start from what you see"
    said = "; ".join(answers) or "a run that hangs, computes something wrong, is slow, or was killed"
    description = f"Failures of distributed training without an error line: {said}."
    gather = _given(node=node)
    return Page("symptom", f"{node.path}index.html", title, description, "symptom.html", gather)


def _verify(catalogue: Catalogue, page: TextPage) -> Page:
    """The text about evidence, under the numbers that the build counts."""
    path, gather = f"{page.name}/index.html", partial(_verify_data, catalogue, page)
    return Page("verify", path, page.title, page.description, "verify.html", gather)


def _verify_data(catalogue: Catalogue, page: TextPage) -> Data:
    return {
        "body": page.body,
        "tally": tally(catalogue),
        "coverage": covered(catalogue),
        **corpora_shown(catalogue),
    }


def _text(page: TextPage) -> Page:
    path, gather = f"{page.name}/index.html", _given(body=page.body)
    return Page("text", path, page.title, page.description, "text.html", gather)


def _not_found() -> Page:
    return Page("404", "404.html", "No page here", "This address leads to no page.", "404.html")
