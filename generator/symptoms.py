"""The way to an entry for those who have no error line: a few questions, from what the entries say of themselves.

A node of the tree is a page. Its question is the next one in the fixed order that parts the entries that are
left; where none does, or few are left, the way ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from .catalogue import Catalogue
from .content import LoadedEntry
from .model import Entry

FEW = 3
"""So many entries are read faster than another question."""
ROOT = "symptoms/"


@dataclass(frozen=True)
class Question:
    """What is asked, why, and the answers that an entry is for, by their names in links."""

    id: str
    text: str
    why: str
    answers: Mapping[str, str]
    answers_of: Callable[[Entry], tuple[str, ...]]


def _seen(entry: Entry) -> tuple[str, ...]:
    """How the failure shows to somebody who has no error line; nothing where it always prints one."""
    effects = entry.affected.effect if entry.affected else ()
    seen = tuple(effect for effect in effects if effect != "crash")
    silent_death = "crash" in effects and ("exit-code" in entry.tags or entry.no_message)
    return (*seen, "ended") if silent_death else seen


_WHEN = {
    "launch": "start",
    "configuration": "start",
    "op-build": "start",
    "construction": "start",
    "initialization": "start",
    "forward": "training",
    "backward": "training",
    "step": "training",
    "checkpoint-save": "saving",
    "checkpoint-load": "resuming",
    "pipeline-shutdown": "pipeline",
}


def _when(entry: Entry) -> tuple[str, ...]:
    return (_WHEN[entry.phase],) if entry.phase in _WHEN else ()


def _stage(entry: Entry) -> tuple[str, ...]:
    """The answers about ZeRO; an entry that names no stage is met in all."""
    stages = entry.affected.state.zero_stages if entry.affected else ()
    answers = {"none": "without", "0": "without", "1": "1-2", "2": "1-2", "3": "3"}
    return tuple(dict.fromkeys(answers[stage] for stage in stages)) or ("without", "1-2", "3")


def _offload(entry: Entry) -> tuple[str, ...]:
    """Whether it is met with and without offload; an entry that says neither is met in both."""
    offload = entry.affected.state.offload if entry.affected else ()
    answers = {"none": "no", "cpu": "yes", "nvme": "yes"}
    return tuple(dict.fromkeys(answers[each] for each in offload)) or ("no", "yes")


QUESTIONS = (
    Question(
        "seen",
        "What do you see?",
        "A run that waits, one that computes something wrong, one that is slow and one that was killed leave different "
        "traces, and each has its own first tool.",
        {
            "hang": "It stands still: no new line, no error",
            "silent-wrong-result": "It goes on, but a number or a file is wrong: NaN, a flat loss, a checkpoint that is too small",
            "slowdown": "It goes on, but slowly",
            "ended": "It ended, and no line says why: only an exit code or a signal",
        },
        _seen,
    ),
    Question(
        "when",
        "When does it happen?",
        "Each phase of a run can fail in its own ways only. The last line before the trouble tells the phase.",
        {
            "start": "Before the first training step",
            "training": "In the training loop",
            "saving": "While a checkpoint is saved, or in what was saved",
            "resuming": "When a run is resumed",
            "pipeline": "In a pipeline of stages, or at the end of the run",
        },
        _when,
    ),
    Question(
        "stage",
        "Which ZeRO stage is on?",
        "Stage 3 gathers each layer's weights when they are used, so ranks that run different layers wait for one "
        "another, and code that reads a weight at another moment finds it empty. Stages 1 and 2 keep the weights whole.",
        {"without": "None, or stage 0", "1-2": "Stage 1 or 2", "3": "Stage 3"},
        _stage,
    ),
    Question(
        "offload",
        "Is something offloaded to the CPU or to NVMe?",
        "Offload moves state to host memory, and with it the limit that is met first: host memory, pinned memory, the disk.",
        {"no": "No", "yes": "Yes"},
        _offload,
    ),
)


@dataclass(frozen=True)
class Answer:
    """An answer that can be chosen, where it leads, and how many entries are left then."""

    text: str
    path: str
    count: int


@dataclass(frozen=True)
class Node:
    """A page of the finder. ``given`` are the answers so far: question, answer, and the page before it."""

    path: str
    given: tuple[tuple[Question, str, str], ...]
    question: Question | None
    answers: tuple[Answer, ...]
    entries: tuple[LoadedEntry, ...]


def nodes(catalogue: Catalogue) -> tuple[Node, ...]:
    """Every page of the finder, the first question first."""
    silent = tuple(loaded for loaded in catalogue.current if _seen(loaded.entry))
    return tuple(_below(ROOT, (), silent, QUESTIONS))


def _below(
    path: str,
    given: tuple[tuple[Question, str, str], ...],
    entries: tuple[LoadedEntry, ...],
    questions: tuple[Question, ...],
) -> Iterator[Node]:
    if given and len(entries) <= FEW:
        questions = ()
    for number, question in enumerate(questions):
        left = {
            answer: tuple(each for each in entries if answer in question.answers_of(each.entry))
            for answer in question.answers
        }
        left = {answer: those for answer, those in left.items() if those}
        if not given or any(len(those) < len(entries) for those in left.values()):
            answers = tuple(
                Answer(question.answers[answer], f"{path}{answer}/", len(those))
                for answer, those in left.items()
            )
            yield Node(path, given, question, answers, entries)
            for answer, those in left.items():
                said = (*given, (question, question.answers[answer], path))
                yield from _below(f"{path}{answer}/", said, those, questions[number + 1 :])
            return
    yield Node(path, given, None, (), entries)
