"""``python -m tests.soak_twins [N] [FIRST]``: both engines on N mutated logs (10,000), and on a line of 50 MB."""

from __future__ import annotations

import difflib
import sys

from .both_engines import Answer, Both, differing, logs_of_checkout
from .mutations import Log

LONG_LINE = 50_000_000
MOST_SHOWN = 5


def soak(count: int, first: int = 0) -> int:
    """How many answers differ; the first few are shown."""
    wrong = 0
    with Both() as both:
        for name, log in _long_lines().items():
            python, javascript = both.python(log), both.javascript(log)
            wrong += python != javascript
            if python != javascript:
                _show(name, python, javascript)
        logs = list(logs_of_checkout().values())
        for seed, python, javascript in differing(both, logs, range(first, first + count)):
            wrong += 1
            if wrong <= MOST_SHOWN:
                _show(f"seed {seed}", python, javascript)
    return wrong


def _long_lines() -> dict[str, Log]:
    error = b"Traceback (most recent call last):\nValueError: it broke\n"
    return {
        "a long line before the error": [("a.log", b"x" * LONG_LINE + b"\n" + error)],
        "an error within a long line": [
            ("a.log", error[:-1] + "é".encode() * (LONG_LINE // 4) + error[:-1] + b"y" * (LONG_LINE // 2))
        ],
    }


def _show(name: str, python: Answer, javascript: Answer) -> None:
    rows = difflib.unified_diff(
        python.json.split("\n"), javascript.json.split("\n"), "python", "javascript", lineterm="", n=2
    )
    print(name, *(row[:200] for row in list(rows)[:40]), sep="\n", flush=True)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:3]]
    differ = soak(*(numbers or [10_000]))
    print(f"{differ} answers differ")
    sys.exit(1 if differ else 0)
