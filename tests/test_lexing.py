"""A quickened lexer says what Pygments' own says, of every snippet and of any other text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name

from generator.checks.texts import texts
from generator.lexing import quicken
from generator.load import load
from generator.words import LANGUAGES

CONTENT = Path(__file__).parents[1] / "content"
LEXED = sorted(language for language in LANGUAGES if language != "text")
OWN = {language: get_lexer_by_name(language, stripnl=False) for language in LEXED}
QUICK = {language: quicken(get_lexer_by_name(language, stripnl=False)) for language in LEXED}
PIECES = re.split(
    "[|]",
    r"""def f(x):|async |import a.b|from . import c|class A(B):|self.|lambda|None|0x1F|1_0.5e-3j|f'{a!r:>{w}}'|rb'"""
    r"""|'|"|\|#|@d|:=|match x:|case _:|print|$(|${a}|`|<<EOF|EOF|export A=1|if [ -f x ]; then|fi|&&|{|}|[|]|+++ a"""
    r"""|--- b|@@ -1 +1 @@|+x|-y|!z|    | |[s]|key = v|; c|_|0|a|.|%|=|~""",
)
"""Beginnings of tokens."""
ODD = (
    "'''",
    '"""',
    "|",
    "\\\n",
    "\n",
    "\n\n",
    "\t",
    "\u00e9",
    "\u017f",
    "\u212a",
    "\u201c",
    "\u2028",
    "\u540d",
)
"""Quotes of several lines, ends of lines, and letters that are ASCII's in another case."""


@pytest.mark.parametrize("language", LEXED)
def test_every_snippet_has_the_same_tokens(language: str) -> None:
    """Each in every language: what is odd in one is the more telling."""
    entries = load(CONTENT)[0].entries
    codes = {text.value for loaded in entries for text in texts(loaded.entry) if text.kind == "code"}
    assert len(codes) > 100
    for code in sorted(codes):
        assert list(QUICK[language].get_tokens(code)) == list(OWN[language].get_tokens(code)), code


@given(st.lists(st.sampled_from((*PIECES, *ODD)) | st.text(max_size=3), max_size=20).map("".join))
def test_any_text_has_the_same_tokens(text: str) -> None:
    for language in LEXED:
        assert list(QUICK[language].get_tokens(text)) == list(OWN[language].get_tokens(text)), language


def test_most_rules_are_not_tried() -> None:
    """Else it would be no quicker."""
    rules = QUICK["python"]._tokens["root"]  # type: ignore[attr-defined]
    every = OWN["python"]._tokens["root"]  # type: ignore[attr-defined]
    tried = [rule[0] for rule in _tried(rules, "(")]
    assert tried == [rule[0] for rule in every if rule[0]("(", 0)]
    assert len(every) > 10 * len(tried)


def _tried(rules: object, text: str) -> list[tuple[object, ...]]:
    through = iter(rules)  # type: ignore[call-overload]
    look, *_ = next(through)
    assert look(text, 0) is None
    return list(through)
