"""Error text → ranked entries: signatures first, then the words that carry information, then parts of words.

The JavaScript twin is ``static/engine/find.js``; ``tests/vectors/find.json`` holds what both must answer.
All arithmetic is in whole numbers, and ties go by slug, so that both answer the same bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from .normalize import lines_of, without_prefix, words_of
from .signature import Compiled

SIGNATURE_SCORE = 700
"""Every match of a signature scores this or more; words and parts of words always less."""
ROLE_SCORE = {"cause": 200, "confirmation": 140, "witness": 80, "peer": 80, "supervisor": 80, "teardown": 40}
UNMET_SCORE = 15
"""Of a cause without its condition: less than of any line whose conditions hold, which is then the better lead."""
FEW_WORDS = 12
"""So many words are a query that somebody typed; there small numbers and beginnings of words count."""
WRAPPED_LINES = 4
"""Over so many lines a terminal or logger may have broken one message."""
MAX_PLACES = 100
"""So many places of a literal are tried for a message that is broken."""


@dataclass(frozen=True)
class Found:
    """An entry for a text: ``how`` is signature, words or text, ``score`` from 1 to 1000."""

    entry: str
    score: int
    how: str
    signature: str | None
    title: str
    url: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class _Signature:
    id: str
    entry: str
    role: str
    compiled: Compiled
    needs: tuple[Compiled, ...]
    unless: tuple[Compiled, ...]


@dataclass(frozen=True)
class _Text:
    """What was pasted: its lines as they are, the same without prefixes, and each of them as one string."""

    lines: Sequence[str]
    bare: Sequence[str]
    whole: str
    joined: str


class Finder:
    """Ranks the entries of a bundle (see ``bundle``)."""

    def __init__(self, bundle: Mapping[str, Any]) -> None:
        self._entries: Mapping[str, Any] = bundle["entries"]
        self._signatures = tuple(_read_signature(item) for item in bundle["signatures"])
        self._slugs: Sequence[str] = bundle["words"]["entries"]
        self._rarest: int = bundle["words"]["rarest"]
        self._weights = {word: tuple(_unpacked(*packed)) for word, packed in bundle["words"]["index"].items()}

    def find(self, text: str, n: int = 10) -> list[Found]:
        """The best ``n`` entries for a text of any length; none where nothing in it is known."""
        lines = lines_of(text)
        bare = [without_prefix(line) for line in lines]
        found = self._by_words(bare)
        found.update(self._by_signature(_Text(lines, bare, "\n".join(lines), " ".join(bare))))
        return sorted(found.values(), key=lambda one: (-one.score, one.entry))[:n]

    def _found(self, slug: str, score: int, how: str, signature: str | None = None) -> Found:
        entry = self._entries[slug]
        return Found(slug, score, how, signature, entry["title"], entry["url"])

    def _by_signature(self, text: _Text) -> dict[str, Found]:
        best: dict[str, Found] = {}
        for signature in self._signatures:
            if not _stands(signature.compiled, text):
                continue
            if any(_stands(condition, text) for condition in signature.unless):
                continue
            score = SIGNATURE_SCORE + _merit(signature, text)
            if signature.entry not in best or score > best[signature.entry].score:
                best[signature.entry] = self._found(signature.entry, score, "signature", signature.id)
        return best

    def _by_words(self, lines: Sequence[str]) -> dict[str, Found]:
        """Entries by the line that tells most of each, and by a quarter of what the whole text tells."""
        typed = len(lines) == 1 and lines[0].count(" ") < FEW_WORDS
        best: dict[int, int] = {}
        everything: set[str] = set()
        least, unknown = (1, self._rarest // 2) if typed else (self._rarest, self._rarest)
        for line in dict.fromkeys(_without_frames(lines)):
            words = words_of(line, numbers=typed)
            everything.update(words)
            weights = self._weigh(words)
            if typed:
                self._add_guesses(words, weights)
            asked = sum(self._most(word, unknown) for word in words)
            for number, weight in weights.items():
                if weight >= least and 4 * weight >= asked:
                    best[number] = max(best.get(number, 0), weight)
        pooled = self._weigh(everything)
        return {one.entry: one for one in (self._scored(number, best[number], pooled) for number in best)}

    def _scored(self, number: int, weight: int, pooled: Mapping[int, int]) -> Found:
        """Many words of weight come near the lowest score of a signature, and never reach it."""
        weight += pooled.get(number, 0) // 4
        score = (SIGNATURE_SCORE - 1) * weight // (weight + 2 * self._rarest)
        return self._found(self._slugs[number], score, "words" if number in pooled else "text")

    def _weigh(self, words: Iterable[str]) -> dict[int, int]:
        """How much the words tell of each entry."""
        weights: dict[int, int] = {}
        for word in words:
            for number, weight in self._weights.get(word, ()):
                weights[number] = weights.get(number, 0) + weight
        return weights

    def _most(self, word: str, unknown: int) -> int:
        """What a word could tell at most; ``unknown`` where no entry has it."""
        return max((weight for _, weight in self._weights.get(word, ())), default=unknown)

    def _add_guesses(self, words: Sequence[str], weights: dict[int, int]) -> None:
        """For a word that is unknown, half of what the words tell that begin with it or are one slip away."""
        for word in words:
            if word in self._weights or len(word) < 3:
                continue
            known = [other for other in self._weights if other.startswith(word)]
            if not known and len(word) > 4:
                known = [other for other in self._weights if _one_slip(word, other)]
            guessed: dict[int, int] = {}
            for other in known:
                for number, weight in self._weights[other]:
                    guessed[number] = max(guessed.get(number, 0), weight // 2)
            for number, weight in guessed.items():
                weights[number] = weights.get(number, 0) + weight


def weight_of(rarity: int, field: int) -> int:
    """How much a word tells of an entry, by how rare it is and how telling its field is, from 1 to 4."""
    return max(1, rarity * field // 4)


def _unpacked(rarity: int, *packed: int) -> Iterator[tuple[int, int]]:
    """Entries with what a word tells of each, from what the bundle holds of the word."""
    number = 0
    for value in packed:
        number += value // 4
        yield number, weight_of(rarity, value % 4 + 1)


def _without_frames(lines: Sequence[str]) -> list[str]:
    """The lines without a traceback's frames, whose files and code tell of every program."""
    is_frame = [line.startswith('File "') for line in lines]
    rest = [
        line
        for line, here, before in zip(lines, is_frame, [False, *is_frame], strict=False)
        if not here and not before
    ]
    return rest or list(lines)


def _read_signature(item: Mapping[str, Any]) -> _Signature:
    needs, unless = (tuple(_read(condition) for condition in item[key]) for key in ("needs", "unless"))
    return _Signature(item["id"], item["entry"], item["role"], _read(item), needs, unless)


def _read(item: Mapping[str, Any]) -> Compiled:
    return Compiled(item["literal"], item["key_line"], tuple(item["expressions"]), tuple(item["captures"]))


def _merit(signature: _Signature, text: _Text) -> int:
    """How good a match is, from 0 to 300: by role, by how much is literal, by conditions that hold."""
    met = sum(_stands(condition, text) for condition in signature.needs)
    unmet = met < len(signature.needs)
    role = UNMET_SCORE if unmet and signature.role == "cause" else ROLE_SCORE.get(signature.role, 20)
    conditions = 40 * met // len(signature.needs) if signature.needs else 20
    return role + conditions + min(60, len(signature.compiled.literal) // 2)


def _stands(compiled: Compiled, text: _Text) -> bool:
    """Whether the message stands in the text: in its lines, or broken over several of them."""
    if compiled.literal in text.whole and _stands_in(compiled, text.lines):
        return True
    if compiled.literal not in text.joined:
        return False
    if len(compiled.expressions) > 1:
        return _stands_in(compiled, text.bare)
    return any(compiled.search([line]) for line in _rejoined(compiled.literal, text))


def _stands_in(compiled: Compiled, lines: Sequence[str]) -> bool:
    count = len(compiled.expressions)
    return any(
        compiled.search(lines[at - compiled.key_line : at - compiled.key_line + count])
        for at, line in enumerate(lines)
        if compiled.literal in line and at >= compiled.key_line
    )


def _rejoined(literal: str, text: _Text) -> Iterator[str]:
    """The lines around each place of the literal that a terminal may have made of one, as one again."""
    starts = list(accumulate((len(line) + 1 for line in text.bare), initial=0))
    at = text.joined.find(literal)
    for _ in range(MAX_PLACES):
        if at < 0:
            break
        first = bisect_right(starts, at) - 1
        last = bisect_right(starts, at + len(literal) - 1) - 1
        for begin in range(max(0, last - WRAPPED_LINES + 1), first + 1):
            yield " ".join(text.bare[begin : begin + WRAPPED_LINES])
        at = text.joined.find(literal, at + 1)


def _one_slip(word: str, other: str) -> bool:
    """Whether one letter more, less, other, or swapped with the next makes one word the other."""
    if abs(len(word) - len(other)) > 1 or word[0] != other[0]:
        return False
    same = 0
    while same < min(len(word), len(other)) and word[same] == other[same]:
        same += 1
    left, right = word[same:], other[same:]
    return left[1:] == right[1:] or left[1:] == right or left == right[1:] or _swapped(left, right)


def _swapped(left: str, right: str) -> bool:
    return left[:2] == right[1::-1] and left[2:] == right[2:]
