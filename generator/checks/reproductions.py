"""What can be told of a repro.py without running it; ``repro`` runs it."""

from __future__ import annotations

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


def _without(loaded: LoadedEntry) -> Iterator[Finding]:
    for i, cause in enumerate(loaded.entry.causes):
        if cause.grade == "reproduced":
            message = "graded 'reproduced', and the folder has no repro.py"
            yield finding(loaded.positions, ("causes", i, "grade"), "no-repro", message)
    for i, log in enumerate(loaded.entry.logs):
        if log.part is not None:
            message = f"the log is of the part {shown(log.part)}, and the folder has no repro.py"
            yield finding(loaded.positions, ("logs", i, "part"), "no-repro", message)


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
