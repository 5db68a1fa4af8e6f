"""Code parses: Python, JSON and YAML."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable, Iterator, Mapping

import yaml

from ..catalogue import Catalogue
from ..code_evidence.uses import snippets
from ..content import LoadedEntry
from ..finding import Explanation, Finding
from .report import finding_within

CODES: Mapping[str, Explanation] = {
    "snippet": Explanation(
        "Python, JSON and YAML of an entry parse as they stand, so that a reader can copy them. What isn't whole "
        "is 'language: text'.",
        "language: json\ncode: '{\"a\": 1,}'",
        "language: json\ncode: '{\"a\": 1}'",
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    for field, snippet in snippets(loaded.entry):
        parser = _PARSERS.get(snippet.language)
        problem = parser(snippet.code) if parser else None
        if problem is not None:
            line, message = problem
            offset = _line_start(snippet.code, line)
            where = (*field, "code")
            said = f"this {snippet.language} doesn't parse: {message}"
            yield finding_within(loaded.positions, where, snippet.code, offset, "snippet", said)
    yield from _repro(loaded)


def _repro(loaded: LoadedEntry) -> Iterator[Finding]:
    data = loaded.files.get("repro.py")
    problem = _python(data) if data is not None else None
    if problem is not None:
        path = loaded.positions.path.removesuffix("entry.yaml") + "repro.py"
        yield Finding(path, problem[0], 1, "snippet", "error", f"this python doesn't parse: {problem[1]}")


def _python(code: str | bytes) -> tuple[int, str] | None:
    """Line and message of what Python can't parse; None where it can."""
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, str(error) or "nested too deeply"
    return None


def _json(code: str) -> tuple[int, str] | None:
    try:
        json.loads(code)
    except json.JSONDecodeError as error:
        return error.lineno, error.msg
    except (ValueError, RecursionError) as error:
        # Python takes no number of thousands of digits.
        return 1, str(error).partition(";")[0] if isinstance(error, ValueError) else "nested too deeply"
    return None


def _yaml(code: str) -> tuple[int, str] | None:
    try:
        for _ in yaml.parse(code, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            pass
    except yaml.MarkedYAMLError as error:
        return (error.problem_mark.line + 1 if error.problem_mark else 1), error.problem or "no YAML"
    except yaml.YAMLError:
        return 1, "a character that YAML can't hold"
    return None


_PARSERS: Mapping[str, Callable[[str], tuple[int, str] | None]] = {
    "python": _python,
    "json": _json,
    "yaml": _yaml,
}


def _line_start(text: str, line: int) -> int:
    """Offset of the first visible character of a line, 1-based."""
    lines = text.splitlines(keepends=True)
    before = sum(map(len, lines[: line - 1]))
    rest = text[before:]
    return before + len(rest) - len(rest.lstrip())
