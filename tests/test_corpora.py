"""The three corpora: each log of the content gives what its entry promises, and the record of it is new."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from generator.catalogue import Catalogue
from generator.checks import examine_logs
from generator.corpora import Trial, breach, compared, confusion, recorded, to_json, trials
from generator.evidence.coverage import coverage, covered
from generator.finding import shown
from generator.load import load

ROOT = Path(__file__).parents[1]


@cache
def catalogue() -> Catalogue:
    return Catalogue(load(ROOT / "content")[0])


@cache
def all_trials() -> tuple[Trial, ...]:
    return tuple(trials(catalogue()))


@pytest.mark.parametrize(
    "trial",
    all_trials(),
    ids=lambda trial: f"{trial.loaded.slug if trial.loaded else 'healthy'}/{trial.file}",
)
def test_log_gives_what_is_promised(trial: Trial) -> None:
    assert breach(trial) is None, trial.answer


def test_composed_tracebacks_have_the_marks_that_their_python_prints() -> None:
    """From 3.11 on a traceback marks the part of a line that failed."""
    composed = [
        loaded.files[log.file]
        for loaded in catalogue().content.entries
        for log in loaded.entry.logs
        if log.made == "composed"
    ]
    marking = [data for data in composed if re.search(rb'File ".*/python3\.1[1-9]/', data)]
    assert marking
    assert all(b"^^" in data for data in marking)


def test_the_record_is_that_of_this_content() -> None:
    told = recorded(catalogue())
    assert told is not None
    message = "renew it: .venv/bin/python -m generator.corpora"
    assert to_json(told) == to_json(compared(catalogue())), message


def test_the_recorded_coverage_is_that_of_this_content() -> None:
    told, counted = covered(catalogue()), coverage(catalogue())
    assert told == counted, "renew it: .venv/bin/python -m generator.corpora"
    assert told is not None
    assert told.matched > 0


def test_a_broken_promise_is_told_where_it_stands() -> None:
    content = catalogue().content
    at = next(i for i, each in enumerate(content.entries) if each.slug == "batch-size-triangle")
    loaded = content.entries[at]
    other = next(i for i, log in enumerate(loaded.entry.logs) if log.says == "other")
    logs = list(loaded.entry.logs)
    logs[other] = logs[other].model_copy(update={"says": "initiating"})
    changed = replace(loaded, entry=loaded.entry.model_copy(update={"logs": tuple(logs)}))
    entries = (*content.entries[:at], changed, *content.entries[at + 1 :])
    findings = examine_logs(replace(content, entries=entries), {loaded.slug})
    assert [(finding.code, finding.path) for finding in findings] == [
        ("log-promise", "content/failures/batch-size-triangle/entry.yaml")
    ]
    assert findings[0].line == loaded.positions.of(("logs", other, "says"))[0]


def test_an_empty_log_is_called_empty() -> None:
    content = catalogue().content
    at = next(i for i, each in enumerate(content.entries) if each.slug == "batch-size-triangle")
    loaded = content.entries[at]
    log = next(log for log in loaded.entry.logs if log.says == "initiating")
    changed = replace(loaded, files={**loaded.files, log.file: b"\n"})
    entries = (*content.entries[:at], changed, *content.entries[at + 1 :])
    (found,) = examine_logs(replace(content, entries=entries), {loaded.slug})
    assert found.message == f"{shown(log.file)} is empty"
    assert found.hint.startswith("put the lines around the error into it")


def test_no_log_of_one_entry_is_counted_as_another() -> None:
    told = recorded(catalogue())
    assert told is not None
    cells = confusion(told, catalogue())
    assert sum(count for count, _ in cells.values()) == len(told.logs)
    assert all(wrong == 0 for _, wrong in cells.values())
    assert not any(named not in (of, "none") for of, named in cells if of not in ("none", "healthy"))
    assert {named for of, named in cells if of == "healthy"} == {"healthy"}
