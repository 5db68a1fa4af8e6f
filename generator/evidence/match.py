"""Whether a signature and an upstream message are the same message.

Both are texts with holes. What a signature's hole holds is typed, what an upstream one holds is unknown. They
agree where some printed text is both: every literal character stands in the other's literal text, or in the
other's hole. Runs of blanks are one blank, as in signatures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from ..signature import Literal, parse
from .messages import Pieces, split

SHARE = 0.75
"""How much of a signature's literal text upstream must hold literally; the rest stands in upstream's holes."""
LEAST = 8
_ALLOWED = {
    "int": re.compile(r"[-0-9]"),
    "num": re.compile(r"[-+0-9.eE]"),
    "hex": re.compile(r"[0-9a-fA-Fx]"),
    "size": re.compile(r"[0-9. KMGTPEiB]"),
    "word": re.compile(r"[A-Za-z0-9_.:+-]"),
    "path": re.compile(r"[^\s'\"<>]"),
    "quoted": re.compile(r"[^\n]"),
    "any": re.compile(r"[^\n]"),
}
_MAYBE_EMPTY = frozenset({"any", "path", "quoted"})
_EXCEPTION = re.compile(r"^(?:[A-Za-z_.]*(?:Error|Exception|Warning|Exit|Interrupt|Timeout)): ")
_LONG_WORD = re.compile(r"[A-Za-z_]{4,}")
_PAIR = re.compile(r"\b(?=(\w+ \w+)\b)")


@dataclass(frozen=True)
class Pattern:
    """A text with holes, character by character: a character, a hole's kind, or None for a hole of any text."""

    items: tuple[str | None, ...]

    @cached_property
    def letters(self) -> int:
        """How many characters are literal."""
        return sum(_is_letter(item) for item in self.items)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its long words, whole ones first met: few texts hold most of them."""
        text = "".join(item if _is_letter(item) and item else "\0" for item in self.items)
        return tuple(dict.fromkeys(_LONG_WORD.findall(text)))

    @cached_property
    def pairs(self) -> tuple[str, ...]:
        """Its neighbouring words with what stands between them, where that is no hole."""
        text = "".join(item if _is_letter(item) and item else "\0" for item in self.items)
        return tuple(dict.fromkeys(_PAIR.findall(text)))

    @cached_property
    def in_words(self) -> int:
        """How many letters its long words have."""
        return sum(map(len, self.words))


def of_signature(text: str) -> Pattern:
    """The signature's text without the exception's name, which Python prints and no message holds."""
    items: list[str | None] = []
    for piece in parse(_EXCEPTION.sub("", text)):
        items += _characters(piece.text) if isinstance(piece, Literal) else [f"{{{piece.kind}}}"]
    return Pattern(tuple(items))


def of_literal(literal: str) -> Pattern:
    """The text as it stands in upstream's source, with upstream's placeholders as holes."""
    return of_pieces(split(re.sub(r"\{[^{}\n]+\}", "{}", literal)))


def of_pieces(pieces: Pieces) -> Pattern:
    items: list[str | None] = []
    for piece in pieces:
        items += [None] if piece is None else _characters(piece)
    return Pattern(tuple(items))


def words_of(text: str) -> frozenset[str]:
    """The long words of a text, as ``Pattern.words`` counts them."""
    return frozenset(_LONG_WORD.findall(text))


def agrees(signature: Pattern, upstream: Pattern) -> bool:
    """Whether a line that the signature matches may be one that upstream's message prints."""
    return is_enough(held_letters(signature, upstream), signature)


def is_enough(held: int, signature: Pattern) -> bool:
    """Whether so many literal characters make the message the signature's."""
    return held >= max(min(LEAST, signature.letters), SHARE * signature.letters)


def shares_words(signature: Pattern, upstream: Pattern) -> bool:
    """Whether they have words enough in common to be compared, which takes long."""
    words = set(upstream.words)
    shared = sum(len(word) for word in signature.words if word in words)
    return bool(shared) and shared * 2 >= signature.in_words


def held_letters(inner: Pattern, outer: Pattern) -> int:
    """How many literal characters of ``inner`` stand in literal text of ``outer``, where it fits into it; else 0.

    The states are positions in ``outer``, each with the most characters that a way to it holds.
    """
    states = _past_holes(dict.fromkeys(range(len(outer.items) + 1), 0), outer)
    for item in inner.items:
        states = _past_holes(_after(item, states, outer), outer)
        if not states:
            return 0
    return max(states.values())


def _after(item: str | None, states: dict[int, int], outer: Pattern) -> dict[int, int]:
    if not _is_letter(item):
        return _through_hole(item, states, outer)
    after: dict[int, int] = {}
    for at, held in states.items():
        other = outer.items[at] if at < len(outer.items) else ""
        if other == item:
            after[at + 1] = max(after.get(at + 1, 0), held + 1)
        elif not _is_letter(other) and other != "":
            after[at] = max(after.get(at, 0), held)
    return after


def _through_hole(hole: str | None, states: dict[int, int], outer: Pattern) -> dict[int, int]:
    """All positions that the hole's text may reach; a hole of a number or a word holds one character or more."""
    kind = hole[1:-1] if hole else "any"
    after = dict(states) if kind in _MAYBE_EMPTY else {}
    for start in sorted(states):
        at, held = start, states[start]
        while at < len(outer.items):
            other = outer.items[at]
            if other is not None and len(other) == 1:
                if not _ALLOWED[kind].match(other):
                    break
            elif after.get(at, -1) < held:
                after[at] = held
            at += 1
            if after.get(at, -1) >= held:
                break
            after[at] = held
    return after


def _past_holes(states: dict[int, int], outer: Pattern) -> dict[int, int]:
    """With the positions behind a hole, which may hold nothing more."""
    for at in sorted(states):
        while at < len(outer.items) and not _is_letter(outer.items[at]):
            held = states[at]
            at += 1
            if states.get(at, -1) >= held:
                break
            states[at] = held
    return states


def _is_letter(item: str | None) -> bool:
    return item is not None and len(item) == 1


def _characters(text: str) -> list[str | None]:
    text = re.sub(r"[ \t]*\n[ \t]*", "\n", re.sub(r"[ \t]+", " ", text))
    return list(text)
