"""Names of entries: who is named exists, and no name belongs to two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..catalogue import Catalogue
from ..content import FieldPath, LoadedEntry
from ..finding import Explanation, Finding, shown
from ..model import Entry
from ..pages import FOLDERS
from ..validate import did_you_mean
from .report import finding
from .sections import hub_sections

CODES: Mapping[str, Explanation] = {
    "unknown-entry": Explanation(
        "look_alikes, superseded_by and logs name other entries by their folder's name."
    ),
    "self-reference": Explanation("An entry is named where another one is meant."),
    "name-taken": Explanation(
        "A text page and a hub have a folder of their own at the site's root, and none that the site uses."
    ),
    "alias-taken": Explanation(
        "An alias is a former name that redirects here. It can't be an entry's name of today, nor lead to two."
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    for field, slug in _entries_named(loaded.entry):
        if slug == loaded.slug:
            yield finding(loaded.positions, field, "self-reference", "the entry names itself")
        elif slug not in catalogue.by_slug and slug not in catalogue.content.broken:
            hint = did_you_mean(slug, catalogue.by_slug)
            yield finding(loaded.positions, field, "unknown-entry", f"no entry is named {shown(slug)}", hint)
    if _comes_back(loaded, catalogue):
        message = "what supersedes it leads back to the entry"
        hint = "name the entry that holds today"
        yield finding(loaded.positions, ("superseded_by",), "self-reference", message, hint)


def _comes_back(loaded: LoadedEntry, catalogue: Catalogue) -> bool:
    """Whether the way along superseded_by, of two steps or more, ends where it began."""
    seen: set[str] = set()
    now = loaded
    while (then := now.entry.superseded_by) in catalogue.by_slug and then not in seen and then is not None:
        seen.add(then)
        now = catalogue.by_slug[then]
    return loaded.slug in seen and loaded.entry.superseded_by != loaded.slug


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    owners: dict[str, str] = {}
    for loaded in catalogue.content.entries:
        for i, alias in enumerate(loaded.entry.aliases):
            taken = alias in catalogue.by_slug or alias in catalogue.content.broken
            owner = alias if taken else owners.setdefault(alias, loaded.slug)
            if owner != loaded.slug or taken:
                message = f"the alias {shown(alias)} belongs to the entry {shown(owner)}"
                hint = "give a former name of the entry, or remove it"
                if alias == loaded.slug:
                    message = f"the alias {shown(alias)} is the entry's own name"
                yield finding(loaded.positions, ("aliases", i), "alias-taken", message, hint)
    yield from _folders_taken(catalogue)


def _folders_taken(catalogue: Catalogue) -> Iterator[Finding]:
    """Hubs and text pages that stand where the site has something else."""
    content = catalogue.content
    for hub, positions in hub_sections(content):
        if hub.system in FOLDERS:
            yield finding(
                positions, ("system",), "name-taken", f"{shown(hub.system)} is a folder of the site"
            )
    taken = {*FOLDERS, *(hub.system for hub in content.hubs)}
    for page in content.pages:
        if page.name in taken:
            message = f"{shown(page.name)} is a folder of the site already"
            yield finding(page.positions, (), "name-taken", message, "name the file otherwise")


def _entries_named(entry: Entry) -> Iterator[tuple[FieldPath, str]]:
    if entry.superseded_by is not None:
        yield ("superseded_by",), entry.superseded_by
    for i, other in enumerate(entry.look_alikes):
        if other.entry is not None:
            yield ("look_alikes", i, "entry"), other.entry
    for i, log in enumerate(entry.logs):
        if log.entry is not None:
            yield ("logs", i, "entry"), log.entry
