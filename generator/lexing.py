"""Pygments' lexers, made to try only those rules that can match where the next character stands.

A lexer tries one rule after the other at each place, over forty in Python's states, and most of them fail at the
first character. With which characters a rule can begin follows from its expression; the tokens stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from pygments.lexer import Lexer, RegexLexer

Rule = tuple[Callable[[str, int], Any], Any, Any]
"""How Pygments holds one: the method that matches, what a match becomes, the state that follows."""
Firsts = tuple[frozenset[str], bool]
"""The ASCII characters that an expression can begin with, and whether it may match nothing."""
_ASCII = frozenset(map(chr, range(128)))
_ANYTHING: Firsts = (_ASCII, True)
_NO_WIDTH = (_constants.AT, _constants.ASSERT, _constants.ASSERT_NOT)
_ONE_CHARACTER = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN)
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)


def quicken(lexer: Lexer) -> Lexer:
    """The lexer, changed where it goes by rules alone; others stay as they are."""
    if type(lexer).get_tokens_unprocessed is RegexLexer.get_tokens_unprocessed:
        states: dict[str, list[Rule]] = lexer._tokens  # type: ignore[attr-defined]
        lexer._tokens = {name: _Rules(rules) for name, rules in states.items()}  # type: ignore[attr-defined]
    return lexer


class _Rules:
    """A state's rules; who goes through them and tries each at a place is given those that can match there."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = [(rule, *_firsts_of(rule)) for rule in rules]
        self._after: dict[str, list[Rule]] = {}
        self._here: list[Rule] = []
        self._first: list[Rule] = [(self._look, None, None)]
        """A rule that never matches: it is there to be told the place."""

    def __iter__(self) -> Iterator[Rule]:
        # No generator: closing one at each token takes longer than all else here.
        return chain(self._first, self._here)

    def _look(self, text: str, position: int) -> None:
        first = text[position : position + 1]
        if first not in self._after:
            self._after[first] = [
                rule for rule, firsts, empty in self._rules if empty or first in firsts or not first.isascii()
            ]
        self._here[:] = self._after[first]


def _firsts_of(rule: Rule) -> Firsts:
    pattern = rule[0].__self__  # type: ignore[attr-defined]
    return _firsts(_parser.parse(pattern.pattern, pattern.flags), pattern.flags)


def _firsts(parts: Iterable[tuple[Any, Any]], flags: int) -> Firsts:
    """Of one part after the other."""
    found: frozenset[str] = frozenset()
    for part in parts:
        firsts, empty = _firsts_of_part(part, flags)
        found |= firsts
        if not empty:
            return found, False
    return found, True


def _firsts_of_part(part: tuple[Any, Any], flags: int) -> Firsts:
    kind, what = part
    if kind in _NO_WIDTH:
        return frozenset(), True
    if kind in _ONE_CHARACTER:
        matches = _compiler.compile(_parser.SubPattern(_parser.State(), [part]), flags).match
        return frozenset(filter(matches, _ASCII)), False
    if kind in _REPEATS:
        least, _, repeated = what
        firsts, empty = _firsts(repeated, flags)
        return firsts, empty or least == 0
    if kind is _constants.SUBPATTERN:
        _, added, removed, inner = what
        return _firsts(inner, (flags | added) & ~removed)
    if kind is _constants.BRANCH:
        branches = [_firsts(branch, flags) for branch in what[1]]
        return frozenset().union(*(firsts for firsts, _ in branches)), any(empty for _, empty in branches)
    return _ANYTHING
