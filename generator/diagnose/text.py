"""The answer in words: for a terminal, and as Markdown for a ticket."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ..hidden import HIDDEN

WIDTH = 80
MOST_COLLATERAL = 8
MOST_CANDIDATES = 5
_UNSAFE = re.compile(f"[{HIDDEN}\t\n\r\ud800-\udfff]")

_WORDS: dict[str, Any] = json.loads((files(__package__) / "words.json").read_text(encoding="utf-8"))
"""What the codes of an answer are called; the page reads the same file."""


@dataclass(frozen=True)
class Shown:
    """A line around the beginning, as it is shown; ``chosen`` is the line itself."""

    number: int
    text: str
    chosen: bool


@dataclass(frozen=True)
class Words:
    """What the codes of the answer mean."""

    why: Mapping[str, str]
    titles: Mapping[str, str]

    def of(self, code: str, parameters: Mapping[str, Any]) -> str:
        text = self.why[code]
        for name, value in parameters.items():
            text = text.replace("{" + name + "}", str(value))
        return text


def terminal(answer: Mapping[str, Any], context: Sequence[Shown], words: Words) -> str:
    """At most 80 columns, but for the lines of the log that have a blank-free longer part."""
    parts = [_headline(answer)]
    found = answer["initiating"]
    if found is not None:
        parts.append(_beginning(found, context, words))
    parts.append(_entries(answer, words))
    parts.append(_collateral(answer))
    parts.append(_recovered(answer))
    if answer["verdict"] != "clean":
        parts.append(_do_now(answer))
    parts.append(_missing(answer))
    return "\n\n".join(part for part in parts if part) + "\n"


def safe(text: str) -> str:
    """Without what a terminal would obey or hide."""
    return _UNSAFE.sub(" ", text)


def _headline(answer: Mapping[str, Any]) -> str:
    found = answer["initiating"]
    parts = [_WORDS["verdicts"][answer["verdict"]]["headline"]]
    if found is not None:
        parts.append(_who(found))
    text = ": ".join(part for part in parts if part) + "."
    if answer["attempts"] > 1:
        text += f" The run was started {answer['attempts']} times; this is the last one."
    return textwrap.fill(text, WIDTH)


def _who(found: Mapping[str, Any]) -> str:
    ranks = found["ranks"]
    if found["symmetric"]:
        return f"all of ranks {_ranks(ranks)} alike"
    if ranks:
        return f"rank{'s' if len(ranks) > 1 else ''} {_ranks(ranks)}"
    return _WORDS["no_rank"] if found["line"] is not None else ""


def _ranks(ranks: Sequence[int]) -> str:
    """Runs of ranks as their ends: 0-6, 8."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _beginning(found: Mapping[str, Any], context: Sequence[Shown], words: Words) -> str:
    rows = []
    if found["line"] is not None:
        rows.append(f"{safe(found['file'])}:{found['line']}")
        rows.extend(_quoted(context))
    rows.extend(_item(words.of(code, parameters)) for code, parameters in found["why"])
    return "\n".join(rows)


def _quoted(context: Sequence[Shown]) -> list[str]:
    rows = []
    for line in context:
        mark = ">" if line.chosen else " "
        text = safe(line.text)
        limit = WIDTH * 4 if line.chosen else WIDTH - 11
        text = text if len(text) <= limit else text[: limit - 3] + "..."
        first, *rest = textwrap.wrap(text, WIDTH - 11, drop_whitespace=False, break_on_hyphens=False) or [""]
        rows.append(f"{mark}{line.number:>8}  {first}".rstrip())
        rows.extend(f"{'':11}{part.lstrip()}".rstrip() for part in rest)
    return rows


def _entries(answer: Mapping[str, Any], words: Words) -> str:
    rows = []
    seen: set[str] = set()
    for row in answer["candidates"]:
        if row["entry"] in seen or len(seen) == MOST_CANDIDATES:
            continue
        seen.add(row["entry"])
        rows.append(_item(f"{words.titles.get(row['entry'], row['entry'])}"))
        rows.append(f"    firstfault explain {row['entry']}   (line {row['line']})")
    if not rows:
        return _WORDS["no_entry"] if answer["verdict"] not in ("clean", "undecided") else ""
    return "\n".join([_WORDS["matches"][answer["entry_match"]], *rows])


def _collateral(answer: Mapping[str, Any]) -> str:
    rows = []
    folded = _folded(answer["collateral"])
    for row in folded[:MOST_COLLATERAL]:
        rows.append(_item(f"{_times(row)}{_name(row)}{_said_by(row)}, line {row['line']}:"))
        rows.append(f"    {safe(row['text']).strip()[: WIDTH - 4]}".rstrip())
    if len(folded) > MOST_COLLATERAL:
        rows.append(f"  and {len(folded) - MOST_COLLATERAL} more kinds of line")
    return "\n".join(["Not what started it:", *rows]) if rows else ""


def _folded(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What launchers say, in one row; whose end it is stands in the line that is named anyway."""
    kept: list[dict[str, Any]] = []
    for row in rows:
        folds = row["role"] in _WORDS["folded"]
        same = next((each for each in kept if folds and each["role"] == row["role"]), None)
        if same is None:
            kept.append(dict(row))
        else:
            same["count"] += row["count"]
            same["ranks"] = sorted({*same["ranks"], *row["ranks"]})
    return kept


def _name(row: Mapping[str, Any]) -> str:
    name: str = _WORDS["roles"][row["role"]]
    return name


def _times(row: Mapping[str, Any]) -> str:
    return f"{row['count']} x " if row["count"] > 1 else ""


def _said_by(row: Mapping[str, Any]) -> str:
    ranks = row["ranks"]
    return f", rank{'s' if len(ranks) > 1 else ''} {_ranks(ranks)}" if ranks else ""


def _recovered(answer: Mapping[str, Any]) -> str:
    rows = [f"    {row['line']}: {safe(row['text'])[: WIDTH - 16]}" for row in answer["recovered"][:3]]
    return "\n".join(["The run went on after:", *rows]) if rows else ""


def _do_now(answer: Mapping[str, Any]) -> str:
    action = answer["next_action"]
    rows = [_item(action["text"])]
    if action["command"]:
        rows.extend(f"    {line}" for line in safe_lines(action["command"]))
    if action["restart_helps"]:
        rows.append(_item(f"does a plain restart help: {_WORDS['restarts'][action['restart_helps']]}"))
    return "\n".join(["Do now:", *rows])


def _missing(answer: Mapping[str, Any]) -> str:
    missing = answer["missing_fact"]
    if missing is None:
        return ""
    rows = [_item(missing["text"])]
    if missing["command"]:
        rows.extend(f"    {line}" for line in safe_lines(missing["command"]))
    return "\n".join(["To be surer, get this:", *rows])


def safe_lines(text: str) -> list[str]:
    return [safe(line) for line in text.split("\n")]


def _item(text: str) -> str:
    return textwrap.fill(safe(text), WIDTH, initial_indent="  - ", subsequent_indent="    ")


def markdown(answer: Mapping[str, Any], context: Sequence[Shown], words: Words) -> str:
    """The same for a ticket: headings, lists, and the log's lines as code."""
    rows = [f"**{_headline(answer).replace(chr(10), ' ')}**", ""]
    found = answer["initiating"]
    if found is not None:
        if found["line"] is not None:
            rows += [f"`{_code(found['file'])}` line {found['line']}:", ""]
            rows += ["    " + safe(line.text) for line in context if line.chosen]
            rows.append("")
        rows += [f"- {_marked(words.of(code, parameters))}" for code, parameters in found["why"]] + [""]
    for row in _unique_entries(answer):
        rows.append(f"- Lead: {_marked(words.titles.get(row['entry'], row['entry']))} (`{row['entry']}`)")
    if answer["collateral"]:
        rows += ["", "Not what started it:", ""]
        for row in _folded(answer["collateral"])[:MOST_COLLATERAL]:
            text = _code(row["text"]).strip()[:120]
            rows.append(f"- {_times(row)}{_name(row)}{_said_by(row)}, line {row['line']}: `{text}`")
    if answer["verdict"] != "clean":
        rows += ["", f"Next: {_marked(answer['next_action']['text'])}"]
    if answer["missing_fact"] is not None:
        rows += ["", f"Missing: {_marked(answer['missing_fact']['text'])}"]
        if answer["missing_fact"]["command"]:
            rows += ["", *("    " + line for line in safe_lines(answer["missing_fact"]["command"]))]
    return "\n".join(rows).rstrip("\n") + "\n"


def _unique_entries(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    first: dict[str, Mapping[str, Any]] = {}
    for row in answer["candidates"]:
        first.setdefault(row["entry"], row)
    return list(first.values())[:MOST_CANDIDATES]


def _code(text: str) -> str:
    return safe(text).replace("`", "'")


def _marked(text: str) -> str:
    """Text in which nothing is Markdown's."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", safe(text))
