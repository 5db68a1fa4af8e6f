"""Words that say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..finding import Explanation, Finding, shown
from .report import finding_within
from .texts import texts

CODES: Mapping[str, Explanation] = {
    "filler": Explanation(
        "The reader's run is down. Phrases that announce, praise or hedge cost time and say nothing.",
        "summary: It is important to note that the run stops.",
        "summary: The run stops.",
    ),
}
PHRASES = (
    "it is important to note",
    "it's important to note",
    "it is worth noting",
    "it's worth noting",
    "it should be noted",
    "please note that",
    "needless to say",
    "as we all know",
    "in today's world",
    "at the end of the day",
    "in order to",
    "due to the fact that",
    "a wide range of",
    "a plethora of",
    "delve into",
    "dive deep into",
    "unlock the",
    "unleash",
    "harness the power",
    "game-changer",
    "game changer",
    "seamlessly",
    "effortlessly",
    "cutting-edge",
    "state-of-the-art",
    "rest assured",
    "look no further",
    "the following steps",
    "keep in mind that",
    "bear in mind that",
    "as mentioned above",
    "as noted above",
    "when it comes to",
    "best practice",
    "best practices",
    "in the world of",
    "plays a crucial role",
    "crucial to",
    "robust solution",
    "comprehensive guide",
    "make sure everything",
    "various reasons",
    "a number of factors",
    "may or may not",
    "first and foremost",
    "last but not least",
    "simply put",
    "of course",
    "obviously",
    "leverage",
    "leverages",
    "utilize",
    "utilizes",
    "in general, it is",
    "hope this helps",
)
_FILLER = re.compile(
    "|".join(r"\b" + r"\s+".join(map(re.escape, phrase.split())) + r"\b" for phrase in PHRASES), re.IGNORECASE
)


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    for text in texts(loaded.entry):
        if text.kind in ("plain", "inline", "markdown"):
            for match in _FILLER.finditer(text.value):
                where = text.field, text.value, match.start()
                message = f"{shown(' '.join(match[0].split()))} says nothing"
                yield finding_within(loaded.positions, *where, "filler", message, "leave it out")
