"""Outcomes as a table for people, or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Any

from .reproduce import Outcome


def heading(width: int) -> str:
    """The table's first line; ``width`` is that of the longest slug."""
    return f"{'entry':{width}}  {'part':12}  {'seconds':>7}  result"


def row(outcome: Outcome, width: int) -> str:
    result = "ok" if outcome.ok else f"FAILED: {outcome.judgement.wrong}"
    said = f"  [{shorten(outcome.judgement.said, 100, placeholder=' …')}]" if outcome.judgement.said else ""
    return f"{outcome.slug:{width}}  {outcome.part or '-':12}  {outcome.seconds:7.1f}  {result}{said}"


def counts(outcomes: Sequence[Outcome]) -> str:
    """How many entries and parts there were, and how many held."""
    slugs = {each.slug for each in outcomes}
    broken = {each.slug for each in outcomes if not each.ok}
    held = sum(each.ok for each in outcomes)
    return (
        f"{len(slugs) - len(broken)} of {len(slugs)} entries are reproduced, {held} of {len(outcomes)} parts hold, "
        f"{sum(each.seconds for each in outcomes):.0f} s"
    )


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return {
        "ok": all(each.ok for each in outcomes),
        "parts": [
            {
                "entry": each.slug,
                "part": each.part or None,
                "log": each.log.file if each.log else None,
                "seconds": round(each.seconds, 1),
                "exit_code": each.exit_code,
                "said": each.judgement.said,
                "line": each.judgement.line,
                "ranks": list(each.judgement.ranks),
                "ok": each.ok,
                "wrong": each.judgement.wrong,
            }
            for each in outcomes
        ],
    }
