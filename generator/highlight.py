"""Code → HTML with classes, never styles; and which lines differ between a failing and a repaired version."""

from __future__ import annotations

from difflib import SequenceMatcher
from functools import cache, lru_cache

from markupsafe import Markup, escape
from pygments import highlight as run_pygments
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from .lexing import quicken

LEAST_ALIKE = 0.3
"""The share of common lines from which marking the others tells something."""


@lru_cache(256)
def highlight(code: str, language: str) -> Markup:
    """``code`` as highlighted lines; as plain text where Pygments doesn't know the language."""
    if language == "text":
        return escape(code)
    lexer = _lexer(language)
    return escape(code) if lexer is None else Markup(run_pygments(code, lexer, _FORMATTER))


_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return quicken(get_lexer_by_name(language, stripnl=False, ensurenl=True))
    except ClassNotFound:
        return None


def highlight_pair(failing: str, repaired: str, language: str) -> tuple[Markup, Markup]:
    """Both versions, with each line that only one of them has inside ``<span class="gone|new">``.

    Versions that have little in common are not marked: everything would be.
    """
    before, after = failing.splitlines(), repaired.splitlines()
    compared = SequenceMatcher(None, before, after, autojunk=False)
    if compared.ratio() < LEAST_ALIKE:
        return highlight(failing, language), highlight(repaired, language)
    gone: set[int] = set()
    new: set[int] = set()
    for kind, i, j, k, m in compared.get_opcodes():
        if kind != "equal":
            gone.update(range(i, j))
            new.update(range(k, m))
    return _mark(highlight(failing, language), gone, "gone"), _mark(highlight(repaired, language), new, "new")


def _mark(code: Markup, numbers: set[int], name: str) -> Markup:
    # Pygments closes its spans at each line's end, so a line can be wrapped on its own.
    lines = str(code).splitlines()
    return Markup("\n").join(
        Markup(f'<span class="line {name}">{line}</span>' if n in numbers else line)
        for n, line in enumerate(lines)
    )
