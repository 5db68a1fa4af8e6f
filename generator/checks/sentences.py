"""No sentence stands in two entries, and no section repeats another.

Sentences are compared as lists of words. Two sentences are near-duplicates where their similarity,
2·LCS / (n + m), is at least 0.92. Whoever is that similar shares one of the rarest words of each
(prefix filtering, https://doi.org/10.1145/1242572.1242591), so only few pairs are compared at all.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

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
    frequency = Counter(word for sentence in sentences for word in set(sentence.words))
    index: defaultdict[str, list[int]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        rare = _rarest(sentence.words, frequency)
        candidates = sorted(
            {other for word in rare for other in index[word]} if number >= len(others) else ()
        )
        for other in candidates:
            if _similar(sentences[other].words, sentence.words):
                yield sentences[other], sentence
                break
        for word in rare:
            index[word].append(number)


def _rarest(words: tuple[str, ...], frequency: Mapping[str, int]) -> list[str]:
    """The words of which a near-duplicate shares at least one.

    A partner has at least n·s/(2 - s) words, so shares at least that many; of the distinct words,
    in one order for all sentences, it can then miss no more than the rest.
    """
    distinct = sorted(set(words), key=lambda word: (frequency[word], word))
    missed = len(words) - ceil(len(words) * SIMILARITY / (2 - SIMILARITY))
    return distinct[: missed + 1]


def _similar(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    return Indel.normalized_similarity(a, b, score_cutoff=SIMILARITY) > 0
