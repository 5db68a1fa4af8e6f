"""The verdict → the answer of schema 1, the same bytes from both engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .events import Event
from .match import Hit
from .normal import family_of
from .speaker import Line
from .verdict import Candidate, Scene, Verdict, Why

SCHEMA = 1
SHOWN = 1_000
MOST_COLLATERAL = 60
MOST_UNMATCHED = 20
MOST_CANDIDATES = 10
OF_OTHERS = ("witness", "peer", "supervisor", "teardown", "confirmation", "death")
OF_ERRORS = ("cause", "local", "ambiguous", "wrapper", "weak", "cut", "numeric", "plain")
RESTARTS = ("yes", "no", "other-node")


@dataclass(frozen=True)
class Input:
    """A file that was read."""

    name: str
    lines: int
    size: int


class Reporter:
    """Puts a verdict into the answer's shape."""

    def __init__(
        self,
        scene: Scene,
        verdict: Verdict,
        inputs: Sequence[Input],
        bundle: Mapping[str, Any],
        tables: Mapping[str, Any],
    ) -> None:
        self._scene = scene
        self._verdict = verdict
        self._inputs = inputs
        self._entries: Mapping[str, Any] = bundle["entries"]
        self._tables = tables

    def answer(self) -> dict[str, Any]:
        candidates = self._candidates()
        match = _entry_match(candidates, self._verdict)
        chosen = candidates[0] if match != "none" and self._verdict.initiating is not None else None
        return {
            "schema": SCHEMA,
            "verdict": self._verdict.grade,
            "entry_match": match,
            "initiating": self._initiating(chosen),
            "candidates": [_public(each) for each in candidates[:MOST_CANDIDATES]],
            "collateral": self._collateral(),
            "recovered": [self._place(each.line) for each in self._scene.attempt.recovered[:MOST_UNMATCHED]],
            "attempts": self._scene.attempt.number,
            "missing_fact": self._missing(match, candidates),
            "next_action": self._next(chosen),
            "unmatched": self._unmatched(),
            "inputs": [self._input(number, each) for number, each in enumerate(self._inputs)],
        }

    # --- the beginning ------------------------------------------------------------------------------

    def _initiating(self, chosen: dict[str, Any] | None) -> dict[str, Any] | None:
        found = self._verdict.initiating
        if found is None:
            return None
        line = found.line
        return {
            "entry": chosen["entry"] if chosen else None,
            "signature": chosen["signature"] if chosen else None,
            "role": found.role,
            "rank": found.ranks[0] if len(found.ranks) == 1 else None,
            "ranks": found.ranks,
            "symmetric": found.symmetric,
            "node": line.node if line else None,
            "file": self._inputs[line.file].name if line else None,
            "line": line.number if line else None,
            "time": line.stamp or None if line else None,
            "text": shown(line.text) if line else None,
            "captures": chosen["captures"] if chosen else {},
            "why": [[code, parameters] for code, parameters in found.why],
        }

    def _candidates(self) -> list[dict[str, Any]]:
        """The entries whose messages are here, the likeliest first; one row a signature."""
        found = self._verdict.initiating
        of_beginning = _events_of(found)
        if found is not None and found.inferred:
            of_beginning = {each for each in self._scene.attempt.events if each.role in ("witness", "peer")}
        rows: dict[str, dict[str, Any]] = {}
        for event in self._scene.attempt.events:
            for hit in event.hits:
                if hit.item.entry is None or not hit.fits:
                    continue
                row = self._row(event, hit, event in of_beginning)
                before = rows.get(hit.item.id)
                if before is None or row["score"] > before["score"]:
                    rows[hit.item.id] = row
        return sorted(
            rows.values(), key=lambda row: (-row["score"], row["order"], row["entry"], row["signature"])
        )

    def _row(self, event: Event, hit: Hit, begins: bool) -> dict[str, Any]:
        conditions = len(hit.item.needs) + len(hit.item.unless)
        why: list[Why] = [("signature", {})]
        if hit.item.role == "cause" and begins:
            score = 900 + 20 * min(conditions, 4)
        elif hit.item.role == "cause":
            score = 500 + 20 * min(conditions, 4)
        elif begins:
            score = 700
        else:
            score = 300
            why.append(("collateral", {}))
        if conditions:
            why.append(("conditions", {"count": conditions}))
        return {
            "entry": hit.item.entry,
            "signature": hit.item.id,
            "file": self._inputs[event.line.file].name,
            "line": self._scene.text.lines[hit.order].number,
            "score": score,
            "why": [[code, parameters] for code, parameters in why],
            "captures": hit.captures,
            "order": hit.order,
        }

    # --- the rest -----------------------------------------------------------------------------------

    def _collateral(self) -> list[dict[str, Any]]:
        """What others said of it, alike lines folded into one with their ranks."""
        of_beginning = _events_of(self._verdict.initiating)
        line = self._verdict.initiating.line if self._verdict.initiating else None
        folded: dict[tuple[str, str], dict[str, Any]] = {}
        for event in self._scene.attempt.events:
            if event in of_beginning or event.line is line:
                continue
            role = event.role if event.role in OF_OTHERS else "consequence" if event.role in OF_ERRORS else ""
            if not role:
                continue
            self._fold(folded, role, event)
        return list(folded.values())[:MOST_COLLATERAL]

    def _fold(self, folded: dict[tuple[str, str], dict[str, Any]], role: str, event: Event) -> None:
        hit = next((each for each in event.hits if each.fits), None)
        key = (role, hit.item.id if hit else family_of(event.whole))
        rank = event.rank if event.rank is not None else event.line.said
        row = folded.get(key)
        if row is None:
            entry = next((h.item.entry for h in event.hits if h.fits and h.item.entry), None)
            row = {
                "entry": entry,
                "role": role,
                "ranks": [],
                "count": 0,
                "file": self._inputs[event.line.file].name,
                "line": event.line.number,
                "text": shown(event.line.text),
            }
            folded[key] = row
        row["count"] += 1
        if rank is not None and rank not in row["ranks"]:
            row["ranks"] = sorted([*row["ranks"], rank])

    def _unmatched(self) -> list[dict[str, Any]]:
        """Error lines that no entry explains."""
        rows = []
        seen = set()
        for event in self._scene.attempt.events:
            if event.role not in OF_ERRORS or any(hit.item.entry for hit in event.hits):
                continue
            key = family_of(event.whole)
            if key not in seen:
                seen.add(key)
                rows.append(self._place(event.line))
        return rows[:MOST_UNMATCHED]

    def _place(self, line: Line) -> dict[str, Any]:
        return {"file": self._inputs[line.file].name, "line": line.number, "text": shown(line.text)}

    def _input(self, number: int, each: Input) -> dict[str, Any]:
        ranks = sorted(
            {line.rank for line in self._scene.text.lines if line.file == number and line.rank is not None}
        )
        return {"file": each.name, "lines": each.lines, "bytes": each.size, "ranks": ranks}

    # --- what to do ---------------------------------------------------------------------------------

    def _missing(self, match: str, candidates: list[dict[str, Any]]) -> dict[str, Any] | None:
        grade = self._verdict.grade
        if grade == "clean" or (grade == "established" and match == "unique"):
            return None
        id = self._verdict.missing
        if not id:
            id = "first-check" if match == "candidate" else "versions"
        row = self._tables["missing"][id]
        ranks = ", ".join(str(rank) for rank in self._verdict.missing_ranks)
        text = row["text"] if ranks or "without" not in row else row["without"]
        command = row["command"]
        if id == "first-check":
            check = self._entries[candidates[0]["entry"]]["first_check"]
            text, command = check["step"], check["command"] or ""
        return {"id": id, "text": text.replace("{ranks}", ranks), "command": command or None}

    def _next(self, chosen: dict[str, Any] | None) -> dict[str, Any]:
        if chosen is not None and chosen["entry"] in self._entries:
            entry = self._entries[chosen["entry"]]
            check = entry["first_check"]["command"]
            return {
                "text": entry["do_now"]["steps"][0],
                "command": check or None,
                "restart_helps": entry["do_now"]["restart"],
            }
        row = self._tables["actions"][self._action()]
        found = self._verdict.initiating
        ranks = ", ".join(str(rank) for rank in found.ranks) if found else ""
        return {
            "text": row["text"].replace("{ranks}", ranks),
            "command": row["command"] or None,
            "restart_helps": row["restart"] or None,
        }

    def _action(self) -> str:
        """The row of the table of actions for a verdict without an entry."""
        found = self._verdict.initiating
        if found is None:
            return "clean" if self._verdict.grade == "clean" else "undecided"
        if found.line is None:
            return "absent-rank"
        parameters = dict(found.why).get("death-by-signal")
        if parameters is not None:
            return {9: "killed", 7: "bus-error"}.get(int(parameters["signal"]), "crashed")
        if found.role == "confirmation":
            return "ended-by-system"
        if found.role == "supervisor":
            return "exit-code-only"
        if self._verdict.grade != "established":
            return "suspected"
        return "symmetric" if found.symmetric else "own-error"


def shown(text: str) -> str:
    """As much of a line as is shown, in characters."""
    return text[:SHOWN]


def _events_of(found: Candidate | None) -> set[Event]:
    """The events that are the beginning itself: its line's, those like it, and those of its chain."""
    if found is None:
        return set()
    return {*found.alike, *found.chain, *([found.event] if found.event else [])}


def _entry_match(candidates: list[dict[str, Any]], verdict: Verdict) -> str:
    """Whether one entry fits the beginning, or several."""
    if verdict.initiating is None or not candidates or candidates[0]["score"] < 700:
        return "none"
    best = candidates[0]["score"]
    entries = {row["entry"] for row in candidates if row["score"] == best}
    return "unique" if len(entries) == 1 else "candidate"


def _public(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("captures", "order")}
