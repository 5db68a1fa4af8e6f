"""What is new: every entry and change once, the newest first; what upstream repaired, by release."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from generator.catalogue import Catalogue
from generator.load import load
from generator.model import Change
from generator.views import events, fixed_upstream, most_reported

CATALOGUE = Catalogue(load(Path(__file__).parents[1] / "content")[0])


def changed(**changes: str) -> Catalogue:
    """The content with a change, by its day, in its first entry."""
    content = CATALOGUE.content
    first = content.entries[0]
    told = tuple(
        Change(date=date.fromisoformat(day[1:].replace("_", "-")), what=what) for day, what in changes.items()
    )
    entry = first.entry.model_copy(update={"changes": told})
    return Catalogue(replace(content, entries=(replace(first, entry=entry), *content.entries[1:])))


def test_every_entry_is_new_once_and_changes_come_in_order() -> None:
    found = events(changed(d2030_01_02="second", d2031_01_01="third", d2000_01_01="first"))
    assert [event.what for event in found if event.what] == ["third", "second", "first"]
    assert [event.day for event in found] == sorted((event.day for event in found), reverse=True)
    new = [event.loaded.slug for event in found if event.what is None]
    assert sorted(new) == sorted(loaded.slug for loaded in CATALOGUE.current)


def test_each_release_that_repaired_something_stands_once_and_newest_first() -> None:
    repairs = fixed_upstream(CATALOGUE)
    told = {(repair.system, repair.version) for repair in repairs}
    assert len(told) == len(repairs) > 0
    expected = {
        (release.system, release.version)
        for loaded in CATALOGUE.current
        for fix in loaded.entry.fixes
        for release in fix.fixed_in
    }
    assert told == expected
    deepspeed = [
        tuple(map(int, repair.version.split("."))) for repair in repairs if repair.system == "deepspeed"
    ]
    assert deepspeed == sorted(deepspeed, reverse=True)


def test_the_most_reported_have_the_most_threads() -> None:
    counts = [count for _, count in most_reported(CATALOGUE, most=len(CATALOGUE.current))]
    assert counts == sorted(counts, reverse=True)
    assert len(most_reported(CATALOGUE)) == 8
