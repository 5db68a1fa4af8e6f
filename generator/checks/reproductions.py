"""What can be told of a repro.py without running it; ``repro`` runs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..finding import Explanation, Finding, shown
from ..repro.script import FAIL, FIX, NotPython, Script, ScriptError, read_script
from .report import finding

FILE = "repro.py"
CODES: Mapping[str, Explanation] = {
    "no-repro": Explanation(
        "A cause is graded 'reproduced', or a log names a part, only where a repro.py stands beside the entry."
    ),
    "repro-block": Explanation(
        "A repro.py begins with a PEP 723 block that says which Python and which releases it needs, each pinned, so "
        "that 'repro' makes the environment in which it was written.",
        '# /// script\n# dependencies = ["torch"]\n# ///',
        '# /// script\n# requires-python = ">=3.11,<3.12"\n# dependencies = ["torch==2.13.0"]\n# ///',
    ),
    "repro-part": Explanation(
        "The docstring of a repro.py tells each part as 'python repro.py PART': fail, fix, and those that a log names. "
        "A part is named by one log at most, and that one is captured."
    ),
    "stale-log": Explanation(
        "A captured log quotes lines of repro.py, in tracebacks, that do not stand there now: the script has changed "
        "since. `python build.py repro SLUG --capture` runs it again and writes the log."
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    data = loaded.files.get(FILE)
    if data is None:
        yield from _without(loaded)
        return
    path = loaded.positions.path.removesuffix("entry.yaml") + FILE
    try:
        script = read_script(data)
    except NotPython:
        return  # told by snippets
    except ScriptError as error:
        yield Finding(path, error.line, 1, "repro-block", "error", str(error))
        return
    for part in (FAIL, FIX):
        if part not in script.parts:
            message = f"the docstring has no line 'python repro.py {part}'"
            yield Finding(path, script.line, 1, "repro-part", "error", message)
    yield from _parts(loaded, script)
    yield from _stale(loaded, data.decode().splitlines())


def _without(loaded: LoadedEntry) -> Iterator[Finding]:
    for i, cause in enumerate(loaded.entry.causes):
        if cause.grade == "reproduced":
            message = "graded 'reproduced', and the folder has no repro.py"
            yield finding(loaded.positions, ("causes", i, "grade"), "no-repro", message)
    for i, log in enumerate(loaded.entry.logs):
        if log.part is not None:
            message = f"the log is of the part {shown(log.part)}, and the folder has no repro.py"
            yield finding(loaded.positions, ("logs", i, "part"), "no-repro", message)


def _stale(loaded: LoadedEntry, lines: list[str]) -> Iterator[Finding]:
    """Captured logs that quote the script as it isn't any more: the first such line of each."""
    folder = loaded.positions.path.rpartition("/")[0]
    for log in loaded.entry.logs:
        said = loaded.files.get(log.file, b"").decode("utf-8", "replace").splitlines() if log.part else []
        for number, text in enumerate(said, 1):
            frame = _FRAME.search(text)
            if frame is None or _is_quoted(lines, int(frame[1]), said[number : number + MEANWHILE]):
                continue
            message = f"line {frame[1]} of {FILE} is another now"
            hint = f"run: python build.py repro {loaded.slug} --capture"
            yield Finding(
                f"{folder}/{log.file}", number, frame.start() + 1, "stale-log", "error", message, hint
            )
            break


_FRAME = re.compile(rf'File "[^"]*\b{re.escape(FILE)}", line ([0-9]+)')
MEANWHILE = 12
"""Within so many lines after a frame its code stands, where other ranks print, too."""


def _is_quoted(lines: list[str], number: int, said: list[str]) -> bool:
    code = lines[number - 1].strip() if number <= len(lines) else None
    return code is not None and any(text.rstrip().endswith(code) for text in said)


def _parts(loaded: LoadedEntry, script: Script) -> Iterator[Finding]:
    named: set[str] = set()
    for i, log in enumerate(loaded.entry.logs):
        if log.part is None:
            continue
        message = ""
        if log.made != "captured":
            message = f"a {log.made} log is no part's output"
        elif log.part not in script.parts:
            message = f"the docstring of repro.py has no line 'python repro.py {log.part}'"
        elif log.part in named:
            message = f"another log is of the part {shown(log.part)}, too"
        if message:
            yield finding(loaded.positions, ("logs", i, "part"), "repro-part", message)
        named.add(log.part)
