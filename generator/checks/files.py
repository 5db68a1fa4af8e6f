"""The files of an entry's folder are those that the entry names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..finding import Explanation, Finding, shown
from ..model import Log
from ..validate import did_you_mean
from .report import finding

CODES: Mapping[str, Explanation] = {
    "unknown-file": Explanation("A log that the entry names is not in its folder."),
    "unnamed-file": Explanation(
        "A file in the folder that no log names. entry.yaml, repro.py, evidence.json and snippets.json need no naming."
    ),
    "twin-files": Explanation(
        "Two files whose names differ in capitals alone: a checkout on macOS or Windows has only one of them."
    ),
    "log-line": Explanation("The initiating line is counted from 1 by line feeds, and holds something."),
}
KNOWN_FILES = frozenset({"repro.py", "evidence.json", "snippets.json"})


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    named = {log.file for log in loaded.entry.logs}
    yield from _twins(loaded)
    for i, log in enumerate(loaded.entry.logs):
        if log.file not in loaded.files:
            message = f"the folder has no file {shown(log.file)}"
            hint = did_you_mean(log.file, loaded.files)
            yield finding(loaded.positions, ("logs", i, "file"), "unknown-file", message, hint)
        elif (problem := _line_problem(log, loaded.files[log.file])) is not None:
            yield finding(loaded.positions, ("logs", i, "line"), "log-line", problem)
    for name in loaded.files:
        if name not in named and name not in KNOWN_FILES:
            message = f"no log of the entry names the file {shown(name)}"
            yield finding(
                loaded.positions, ("logs",), "unnamed-file", message, "name it under logs, or remove it"
            )


def _twins(loaded: LoadedEntry) -> Iterator[Finding]:
    """Logs of which a file system that doesn't tell capitals apart keeps one."""
    first: dict[str, str] = {"entry.yaml": "entry.yaml", **{name: name for name in KNOWN_FILES}}
    for i, log in enumerate(loaded.entry.logs):
        other = first.setdefault(log.file.lower(), log.file)
        if other != log.file:
            message = f"{shown(log.file)} and {shown(other)} are one file on some systems"
            yield finding(loaded.positions, ("logs", i, "file"), "twin-files", message, "name it otherwise")


def _line_problem(log: Log, data: bytes) -> str | None:
    if log.line is None or not data.strip():  # an empty log keeps no promise, which is told
        return None
    lines = data.removesuffix(b"\n").split(b"\n")
    if log.line > len(lines):
        return f"line {log.line} of {shown(log.file)}, which has {len(lines)} line{'s' * (len(lines) > 1)}"
    return None if lines[log.line - 1].strip() else f"line {log.line} of {shown(log.file)} is empty"
