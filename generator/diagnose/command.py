"""The command ``diagnose``: arguments → logs → answer → words."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..finding import printable
from ..hidden import to_json
from .engine import Conclusion, Engine, Logs
from .read import Source, sources_of
from .text import Words, markdown, terminal

Format = Literal["text", "json", "markdown"]


def diagnose(
    arguments: Sequence[str], bundle: Mapping[str, Any], fmt: Format, complain: Callable[[str], None]
) -> tuple[str, int]:
    """What to print, and the exit code: 0 for clean, 1 for a failure, 2 where an input couldn't be read.

    Of each input that can't be read ``complain`` gets one line, in which a terminal finds nothing to obey;
    the rest is diagnosed.
    """
    engine = Engine(bundle)
    logs = Logs()
    unreadable = 0
    for source in sources_of(list(arguments) or ["-"]):
        problem = source if isinstance(source, str) else _read(engine, logs, source)
        if problem:
            unreadable += 1
            complain(printable(problem))
    if not logs.inputs:
        return "", 2
    conclusion = engine.conclude(logs)
    failed = 0 if conclusion.answer["verdict"] == "clean" else 1
    return printed(conclusion, bundle, fmt), 2 if unreadable else failed


def printed(conclusion: Conclusion, bundle: Mapping[str, Any], fmt: Format) -> str:
    """The conclusion in one of the formats, with a line end."""
    if fmt == "json":
        return to_json(conclusion.answer) + "\n"
    titles = {slug: entry["title"] for slug, entry in bundle["entries"].items()}
    words = Words(conclusion.why, titles)
    write = markdown if fmt == "markdown" else terminal
    return write(conclusion.answer, conclusion.context, words)


def _read(engine: Engine, logs: Logs, source: Source) -> str:
    """What is wrong with a source, or nothing once it is among the logs."""
    try:
        stream = source.open()
        try:
            engine.read(logs, source.name, stream)
        finally:
            close = getattr(stream, "close", None)
            if close is not None:
                close()
    except (OSError, ValueError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return f"{source.name}: {' '.join(reason.split()) or type(error).__name__}"
    except Exception as error:  # zstandard's error has no public base class
        if type(error).__module__.split(".")[0] != "zstandard":
            raise
        return f"{source.name}: {error}"
    return ""
