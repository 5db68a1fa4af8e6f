"""A drawing shows what its data says: spans follow each other, and their texts fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..figures import NAME, room
from ..finding import Explanation, Finding, shown
from ..model import Span
from .report import finding

CODES: Mapping[str, Explanation] = {
    "bad-figure": Explanation(
        "A figure has lanes or bars. The spans of a lane follow one another without overlapping, and a text has the "
        "letters that its span has room for.",
        "spans:\n  - {start: 0, end: 1, does: waits, text: all_gather of the second layer}",
        "spans:\n  - {start: 0, end: 9, does: waits, text: all_gather}",
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    for i, figure in enumerate(loaded.entry.figures):
        if bool(figure.lanes) == bool(figure.bars) or (figure.limit and not figure.bars):
            message = "a figure has lanes, or bars and perhaps a limit"
            yield finding(loaded.positions, ("figures", i), "bad-figure", message)
        for j, lane in enumerate(figure.lanes):
            where = ("figures", i, "lanes", j, "spans")
            if len(lane.who) > NAME:
                message = f"{shown(lane.who)} has room for {NAME} letters"
                yield finding(loaded.positions, (*where[:-1], "who"), "bad-figure", message)
            for k, (before, span) in enumerate(pairwise((Span(start=0, end=1, does="gone"), *lane.spans))):
                first = 0 if k == 0 else before.end
                if not first <= span.start < span.end:
                    message = f"a span from {span.start} to {span.end} can't begin at {first} or later"
                    yield finding(loaded.positions, (*where, k), "bad-figure", message)
                elif span.text is not None and len(span.text) > room(span, figure.lanes):
                    message = f"{shown(span.text)} has room for {room(span, figure.lanes)} letters"
                    yield finding(loaded.positions, (*where, k, "text"), "bad-figure", message)
