"""Whether a part of a reproduction did what the entry promises of it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..diagnose.engine import Engine
from ..model import Entry, Log
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
    slug: str, entry: Entry, part: str, log: Log | None, ran: Ran, text: bytes, engine: Engine
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
    said = _said(answer)
    wrong = _broken_promise(slug, log, found, {row["entry"] for row in answer["candidates"]})
    if log is None and entry.no_message:
        wrong = ""
    if part == FAIL and ran.exit_code == 0:
        wrong = "it exits with 0"
    return Judgement(said, wrong, found["line"], tuple(found["ranks"]))


def _unrepaired(ran: Ran) -> str:
    if ran.exit_code != 0:
        return f"it exits with {ran.exit_code}"
    return "" if _repaired_line(ran) else "no line begins with 'repaired: '"


def _repaired_line(ran: Ran) -> str:
    lines = ran.output.splitlines()
    return next((line.decode("utf-8", "replace") for line in lines if line.startswith(REPAIRED)), "")


def _said(answer: Mapping[str, Any]) -> str:
    """The verdict in a few words: ``established SLUG, line 12, ranks 0 1``."""
    found = answer["initiating"]
    if found is None:
        return str(answer["verdict"])
    line = f", line {found['line']}" if found["line"] is not None else ""
    ranks = f", rank{'s' if len(found['ranks']) > 1 else ''} {' '.join(map(str, found['ranks']))}"
    return f"{answer['verdict']} {found['entry'] or 'no entry'}{line}{ranks if found['ranks'] else ''}"


def _broken_promise(slug: str, log: Log | None, found: Mapping[str, Any], candidates: set[str | None]) -> str:
    says = log.says if log else "initiating"
    if says == "initiating" and found["entry"] != slug:
        return f"the entry is not the initiating one, but {found['entry'] or 'none'}"
    if says != "initiating" and found["entry"] == slug:
        return "the entry is the initiating one, and must not be"
    if says == "collateral" and slug not in candidates:
        return "the entry is not among the candidates"
    if says == "other" and slug in candidates:
        return "the entry is among the candidates, and must not be"
    if log and log.entry and found["entry"] != log.entry:
        return f"the initiating entry is not {log.entry}, but {found['entry'] or 'none'}"
    # Where one error is every rank's, the launcher may end some before they tell.
    if log and log.ranks and not (found["ranks"] and set(found["ranks"]) <= set(log.ranks)):
        return f"the ranks are {_numbers(found['ranks'])}, not {_numbers(log.ranks)}"
    return ""


def _numbers(ranks: Any) -> str:
    return " ".join(map(str, ranks)) or "unknown"
