"""An entry → all that must be on record about its code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..content import LoadedEntry
from ..model import Package, Snippet
from .uses import Configuration, configurations, releases, snippets, used_names

DEEPSPEED = "deepspeed"


@dataclass(frozen=True)
class Question:
    """A configuration, the release that is asked and the number of data-parallel ranks."""

    release: str
    ranks: int
    value: Mapping[str, Any]


@dataclass(frozen=True)
class Needs:
    """Names by release, and questions by key."""

    names: Mapping[str, set[str]]
    configurations: Mapping[str, Question]


def needs(loaded: LoadedEntry, packages: tuple[Package, ...]) -> Needs:
    names: dict[str, set[str]] = {}
    questions: dict[str, Question] = {}
    for _, snippet in snippets(loaded.entry):
        by_module = releases(snippet, packages)
        for use in used_names(snippet, frozenset(by_module)):
            names.setdefault(by_module[module_of(use.name)], set()).add(use.name)
        for configuration in configurations(snippet) if DEEPSPEED in by_module else ():
            key, question = question_of(snippet, configuration, by_module[DEEPSPEED])
            questions[key] = question
    return Needs(names, questions)


def question_of(snippet: Snippet, configuration: Configuration, release: str) -> tuple[str, Question]:
    """The question that a snippet's configuration raises, and its key in the record."""
    ranks = snippet.ranks or 1
    return configuration.key(release, ranks), Question(release, ranks, configuration.value)


def module_of(name: str) -> str:
    """The top-level module of a name: ``torch`` of ``torch.nn.Linear(bias=)``."""
    return name.partition(".")[0].partition("(")[0]
