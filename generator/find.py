"""Error text → ranked entries: signatures first, then the words that carry information, then parts of words.

The JavaScript twin is ``static/engine/find.js``; ``tests/vectors/find.json`` holds what both must answer.
All arithmetic is in whole numbers, and ties go by slug, so that both answer the same bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from .normalize import all_words, lines_of, without_prefix, words_of
from .signature import CONDITION_BYTES, Compiled, TemplateError, compile_template

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
"""So many places of a literal are tried for a message that is broken or cut."""


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
    """Of an entry by its number; templates with what of them is looked for first."""

    id: str
    entry: int
    role: str
    template: _Template
    needs: tuple[_Template, ...]
    unless: tuple[_Template, ...]


@dataclass(frozen=True)
class _Template:
    """A template as the index has it; ``anchor`` stands in every text that matches."""

    text: str
    anchor: str

    def compiled(self, text: _Text) -> Compiled | None:
        """The template ready to be matched, or None where the text doesn't hold what was cut of it."""
        if self.anchor not in text.whole and self.anchor not in text.joined:
            return None
        whole = _restored(self.text, text)
        try:
            return None if whole is None else _compiled(whole)
        except TemplateError:
            # Another text with the same number as the literal makes no template.
            return None


@dataclass(frozen=True)
class _Text:
    """What was pasted: its lines as they are, the same without prefixes, and each of them as one string."""

    lines: Sequence[str]
    bare: Sequence[str]
    whole: str
    joined: str


class Finder:
    """Ranks the entries of an index (see ``find_index``)."""

    def __init__(self, index: Mapping[str, Any]) -> None:
        self._slugs: Sequence[str] = index["slugs"]
        self._titles: Sequence[str] = index["titles"]
        self._signatures = tuple(_signatures(index))
        self._rarest = rarity_of(len(self._slugs), 1)
        self._weights = _weights(index)

    def find(self, text: str, n: int = 10) -> list[Found]:
        """The best ``n`` entries for a text of any length; none where nothing in it is known."""
        lines = lines_of(text)
        bare = [without_prefix(line) for line in lines]
        found = self._by_words(bare)
        found.update(self._by_signature(_Text(lines, bare, "\n".join(lines), " ".join(bare))))
        return sorted(found.values(), key=lambda one: (-one.score, one.entry))[:n]

    def _found(self, number: int, score: int, how: str, signature: str | None = None) -> Found:
        slug = self._slugs[number]
        return Found(slug, score, how, signature, self._titles[number], f"failures/{slug}/")

    def _by_signature(self, text: _Text) -> dict[str, Found]:
        best: dict[int, Found] = {}
        for signature in self._signatures:
            if not _stands(signature.template, text):
                continue
            if any(_stands(condition, text) for condition in signature.unless):
                continue
            score = SIGNATURE_SCORE + _merit(signature, text)
            if signature.entry not in best or score > best[signature.entry].score:
                best[signature.entry] = self._found(signature.entry, score, "signature", signature.id)
        return {one.entry: one for one in best.values()}

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
        return self._found(number, score, "words" if number in pooled else "text")

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


def rarity_of(entries: int, having: int) -> int:
    """Sixteen times the binary logarithm of how rare a word is, rounded up; whole numbers alone are exact."""
    return int(((entries + 1) ** 16 // having**16).bit_length())


def field_words(fields: Iterable[tuple[int, Iterable[str]]]) -> dict[str, int]:
    """Each word of the texts with the weight of the best field that it stands in; fields come best first."""
    words: dict[str, int] = {}
    for weight, texts in fields:
        for word in all_words(texts, numbers=weight > 2):
            words.setdefault(word, weight)
    return words


def own_words(index: Mapping[str, Any]) -> Iterator[dict[str, int]]:
    """Of each entry in turn the words that its title, slug and templates hold."""
    signatures = index["signatures"]
    rows = zip(index["slugs"], index["titles"], signatures["templates"], signatures["needs"], strict=True)
    for slug, title, templates, needs in rows:
        yield field_words(
            (
                (4, (title, slug.replace("-", " "))),
                (3, map(without_holes, templates)),
                (1, (without_holes(template) for conditions in needs for template in conditions)),
            )
        )


_HOLE = re.compile(r"\{\{|\}\}|[^ {}]*\{~[0-9a-z]+\}|\{[^{}]*\}")


def without_holes(template: str) -> str:
    """The text of a sound template, with a blank for each hole and brace, and for a word that is cut."""
    return _HOLE.sub(" ", template)


def _weights(index: Mapping[str, Any]) -> dict[str, tuple[tuple[int, int], ...]]:
    """What each word tells of each entry: the words listed, and those that stand in titles and templates."""
    fields: dict[str, dict[int, int]] = {}
    for number, words in enumerate(own_words(index)):
        for word, field in words.items():
            fields.setdefault(word, {})[number] = field
    rarities: dict[str, int] = {}
    for word, (rarity, *packed) in index["words"].items():
        rarities[word] = rarity
        fields.setdefault(word, {}).update(_unpacked(packed))
    entries = len(index["slugs"])
    by_count = {count: rarity_of(entries, count) for count in {len(found) for found in fields.values()}}
    return {
        word: tuple(
            (number, weight_of(rarities.get(word) or by_count[len(found)], field))
            for number, field in found.items()
        )
        for word, found in fields.items()
    }


def _unpacked(packed: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Entries with the field of a word in each, from 1 to 4, from what the index holds of the word."""
    number = 0
    for value in packed:
        number += value // 4
        yield number, value % 4 + 1


def _without_frames(lines: Sequence[str]) -> list[str]:
    """The lines without a traceback's frames, whose files and code tell of every program."""
    is_frame = [line.startswith('File "') for line in lines]
    rest = [
        line
        for line, here, before in zip(lines, is_frame, [False, *is_frame], strict=False)
        if not here and not before
    ]
    return rest or list(lines)


def _signatures(index: Mapping[str, Any]) -> Iterator[_Signature]:
    columns = [index["signatures"][name] for name in ("ids", "roles", "templates", "needs", "unless")]
    for number, slug in enumerate(index["slugs"]):
        for id_, role, template, *conditions in zip(*(column[number] for column in columns), strict=True):
            needs, unless = (tuple(map(_read, templates)) for templates in conditions)
            yield _Signature(f"{slug}/{id_}", number, role, _read(template), needs, unless)


def _read(template: str) -> _Template:
    parts = (part.strip(" ") for part in _BETWEEN.split(_BLANKS.sub(" ", template)))
    return _Template(template, max(parts, key=len))


_CUT = re.compile(r"([^{}\n]+)\{~([0-9a-z]+)\}")
_LITERAL = re.compile("[ -z|~]*")
"""ASCII without braces."""
_BLANKS = re.compile("[ \t]+")
_BETWEEN = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[\r\n]")


@lru_cache(4096)
def _compiled(template: str) -> Compiled:
    return compile_template(template, CONDITION_BYTES)


def check_of(literal: str) -> int:
    """A number by which a literal of at most 255 characters (ASCII) is known: its length, and a sum of them."""
    total = 0
    for code in literal.encode():
        total = (31 * total + code) % 4093
    return 256 * total + len(literal)


def _restored(template: str, text: _Text) -> str | None:
    """The template with the rest of its cut literals, which the text has; None where it hasn't."""
    if "{~" not in template:
        return template
    whole, last = "", 0
    for cut in _CUT.finditer(template):
        head, check = cut[1], int(cut[2], 36)
        literal = _literal(head, check, text.whole) or _literal(head, check, text.joined)
        if literal is None:
            return None
        whole, last = whole + template[last : cut.start()] + literal, cut.end()
    return whole + template[last:]


def _literal(head: str, check: int, text: str) -> str | None:
    """What of the text begins with the head and is the literal that the number means."""
    at = text.find(head)
    for _ in range(MAX_PLACES):
        if at < 0:
            break
        literal = text[at : at + check % 256]
        if _LITERAL.fullmatch(literal) and check_of(literal) == check:
            return literal
        at = text.find(head, at + 1)
    return None


def _merit(signature: _Signature, text: _Text) -> int:
    """How good a match is, from 0 to 300: by role, by how much is literal, by conditions that hold."""
    met = sum(_stands(condition, text) for condition in signature.needs)
    unmet = met < len(signature.needs)
    role = UNMET_SCORE if unmet and signature.role == "cause" else ROLE_SCORE.get(signature.role, 20)
    conditions = 40 * met // len(signature.needs) if signature.needs else 20
    compiled = signature.template.compiled(text)
    return role + conditions + (min(60, len(compiled.literal) // 2) if compiled else 0)


def _stands(template: _Template, text: _Text) -> bool:
    """Whether the message stands in the text: in its lines, or broken over several of them."""
    compiled = template.compiled(text)
    if compiled is None:
        return False
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
