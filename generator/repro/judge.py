"""Whether a part of a reproduction did what the entry promises of it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..content import LoadedEntry
from ..corpora import Trial, breach
from ..diagnose.engine import Engine
from ..model import Log
from .process import Ran
from .script import FAIL, FIX

REPAIRED = b"repaired: "
"""How the line begins that the part ``fix`` prints."""


@dataclass(frozen=True)
class Judgement:
    """What was said of a part's output, and why it doesn't hold, which is empty where it does.

    ``line`` and ``ranks`` are the initiating ones of the diagnosis.
    """

    said: str
    wrong: str
    line: int | None = None
    ranks: tuple[int, ...] = ()


def judge(
    loaded: LoadedEntry, part: str, log: Log | None, ran: Ran, text: bytes, engine: Engine
) -> Judgement:
    """Judge a run by its exit code and by the diagnosis of ``text``, its output as a log.

    ``log`` is the entry's log of this part; without one, ``fail`` must be diagnosed as the entry.
    """
    if ran.exit_code is None:
        return Judgement("", f"still running after {ran.seconds:.0f} s")
    if part == FIX and (log is None or _unrepaired(ran)):
        return Judgement(_repaired_line(ran), _unrepaired(ran))
    answer = engine.diagnose([(log.file if log else part, io.BytesIO(text))])
    found = answer["initiating"] or {"entry": None, "line": None, "ranks": []}
    wrong = "it exits with 0" if part == FAIL and ran.exit_code == 0 else ""
    if log is not None:
        wrong = wrong or _broken_promise(loaded, log, answer)
    elif found["entry"] != loaded.slug and not loaded.entry.no_message:
        wrong = wrong or f"the diagnosis names {found['entry'] or 'no entry'}, not this one"
    return Judgement(_said(answer), wrong, found["line"], tuple(found["ranks"]))


def _unrepaired(ran: Ran) -> str:
    if ran.exit_code != 0:
        return f"it exits with {ran.exit_code}"
    return "" if _repaired_line(ran) else "no line begins with 'repaired: '"


def _repaired_line(ran: Ran) -> str:
    lines = ran.output.splitlines()
    return next((line.decode("utf-8", "replace") for line in lines if line.startswith(REPAIRED)), "")


def _broken_promise(loaded: LoadedEntry, log: Log, answer: Mapping[str, Any]) -> str:
    """What the log promises and the diagnosis doesn't give; where the line stands is another in each run."""
    loosely = log.model_copy(update={"line": None, "ranks": ()})
    if broken := breach(Trial(log.file, answer, (), loaded, loosely)):
        return broken
    ranks = answer["initiating"]["ranks"] if answer["initiating"] else []
    # Where one error is every rank's, the launcher may end some before they tell.
    if log.ranks and not (ranks and set(ranks) <= set(log.ranks)):
        return f"the diagnosis names ranks {ranks}, not {list(log.ranks)}"
    return ""


def _said(answer: Mapping[str, Any]) -> str:
    """The verdict in a few words: ``established SLUG, line 12, ranks 0 1``."""
    found = answer["initiating"]
    if found is None:
        return str(answer["verdict"])
    line = f", line {found['line']}" if found["line"] is not None else ""
    ranks = f", rank{'s' if len(found['ranks']) > 1 else ''} {' '.join(map(str, found['ranks']))}"
    return f"{answer['verdict']} {found['entry'] or 'no entry'}{line}{ranks if found['ranks'] else ''}"
