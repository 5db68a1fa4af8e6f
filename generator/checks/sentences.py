"""No sentence stands in two entries, and no section repeats another.

Sentences are compared as lists of words. Two sentences are near-duplicates where their similarity,
2·LCS / (n + m), is at least 0.92: then few words were taken out and put in. Cut into one part more than these, a
sentence has a part that stands in the other one as it is (Pass-Join, https://doi.org/10.14778/2078331.2078340), so
only pairs that share four words in a row, of a part, are compared at all.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import Indel

from ..catalogue import Catalogue
from ..content import LoadedEntry, Positions
from ..finding import Explanation, Finding, shown
from .report import finding_within
from .texts import Text, texts

CODES: Mapping[str, Explanation] = {
    "repeated-sentence": Explanation(
        "A sentence of eight words or more that stands, nearly word for word, elsewhere in this entry or in another. "
        "Say something that only this place can say, or link what is common."
    ),
}
MIN_WORDS = 8
SIMILARITY = 0.92
_ROUNDING = 1e-9
Run = tuple[str, str, str, str]
PROVENANCE = frozenset({"from", "needs", "note", "source"})
"""Fields that say how something was made, with which versions: alike by nature."""


@dataclass(frozen=True)
class Sentence:
    """A sentence as words, and where it starts in its field's text."""

    words: tuple[str, ...]
    positions: Positions
    text: Text
    start: int

    def place(self) -> tuple[int, int]:
        return self.positions.within(self.text.field, self.text.value, self.start)


def finish(catalogue: Catalogue, wanted: Callable[[LoadedEntry], bool]) -> Iterator[Finding]:
    """Sentences of the wanted entries that stand earlier in one of them, or anywhere in another."""
    entries = catalogue.content.entries
    others = [sentence for loaded in entries if not wanted(loaded) for sentence in sentences_of(loaded)]
    own = [sentence for loaded in entries if wanted(loaded) for sentence in sentences_of(loaded)]
    for earlier, later in near_duplicates(own, others):
        line, _ = earlier.place()
        message = f"this sentence stands elsewhere: {shown(' '.join(earlier.words), 80)}"
        hint = f"see {earlier.positions.path}:{line}"
        where = later.text.field, later.text.value, later.start
        yield finding_within(later.positions, *where, "repeated-sentence", message, hint)


def sentences_of(loaded: LoadedEntry) -> Iterator[Sentence]:
    """The entry's sentences of eight words or more, outside code and provenance."""
    for text in texts(loaded.entry):
        if text.kind in ("inline", "markdown") and not PROVENANCE.intersection(map(str, text.field)):
            prose = _CODE_BLOCK.sub(lambda block: " " * len(block[0]), text.value)
            for match in _SENTENCE.finditer(prose):
                words = tuple(_WORD.findall(_DIGITS.sub("0", match[0].lower())))
                if len(words) >= MIN_WORDS:
                    yield Sentence(words, loaded.positions, text, match.start())


_CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"(?:[^\n.!?]|[.!?](?![\s\"')*_`]|$)|\n(?![ \t]*(?:\n|[-*+|]|[0-9]+\.[ \t])))+")
"""Up to a stop before a blank, an empty line, or the next item or row of a list or table."""
_DIGITS = re.compile("[0-9]+")
_WORD = re.compile(r"[a-z0-9_]+(?:'[a-z]+)?")


def near_duplicates(
    own: Sequence[Sentence], others: Sequence[Sentence] = ()
) -> Iterator[tuple[Sentence, Sentence]]:
    """Each of one's own sentences that resembles one of the others or an earlier one, with the first such."""
    sentences = [*others, *own]
    frequency = Counter(run for sentence in sentences for run in _runs(sentence.words))
    index: defaultdict[Run, list[int]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        if number >= len(others):
            candidates = {other for run in _runs(sentence.words) for other in index.get(run, ())}
            for other in sorted(candidates):
                if _similar(sentences[other].words, sentence.words):
                    yield sentences[other], sentence
                    break
        for run in _telling_runs(sentence.words, frequency):
            index[run].append(number)


def _runs(words: tuple[str, ...]) -> Iterator[Run]:
    """The words four in a row, from each place."""
    return zip(words, words[1:], words[2:], words[3:], strict=False)


def _telling_runs(words: tuple[str, ...], frequency: Mapping[Run, int]) -> set[Run]:
    """Of each part of the sentence the rarest run: a near-duplicate has one of them.

    The longest partner has n·(2 - s)/s words, so at most (1 - s)·(n + m) words are taken out or put in, and each of
    them spoils one part. A part has four words at least, where the sentence has ``MIN_WORDS``.
    """
    length = len(words)
    longest = int(length * (2 - SIMILARITY) / SIMILARITY + _ROUNDING)
    parts = _most_changes(length + longest) + 1
    runs = list(_runs(words))
    bounds = [length * part // parts for part in range(parts + 1)]
    return {min(runs[start : end - 3], key=frequency.__getitem__) for start, end in pairwise(bounds)}


def _similar(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    most = _most_changes(len(a) + len(b))
    return Indel.distance(a, b, score_cutoff=most) <= most


def _most_changes(words: int) -> int:
    """How many words may be taken out or put in between two sentences of so many words together."""
    return int((1 - SIMILARITY) * words + _ROUNDING)
