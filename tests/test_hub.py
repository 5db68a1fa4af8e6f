"""The hub as a table that one can trust: complete, in order, sourced, and in agreement with its diagram.

Whether DeepSpeed's code does what the cells say can't be tested here; the claims were read in the release that
the hub names, and each row says where.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.content import Content
from generator.diagrams import STAGES, STATES, Layout, State, layout
from generator.load import load
from generator.model import Hub, HubPhase

ROOT = Path(__file__).parents[1]
CONTENT, _ = load(ROOT / "content")
SAID: dict[Layout, tuple[str, ...]] = {
    "none": ("none", "untouched", "not saved"),
    "full": ("full",),
    "sliced": ("slice",),
    "gathered": ("gathered", "full until"),
}
"""What a cell says of each layout: the words are the same in all cells, so that one compares them at a glance."""
LONG = 60
"""Characters from which a sentence is too long to stand in two places by chance."""


def deepspeed_hub(content: Content) -> Hub:
    (hub,) = (hub for hub in content.hubs if hub.system == "deepspeed")
    return hub


HUB = deepspeed_hub(CONTENT)


def cells(row: HubPhase) -> Iterator[tuple[State, str, str]]:
    """State, stage and text of each of the nine cells."""
    for state, _ in STATES:
        for stage, _ in STAGES:
            yield state, stage, getattr(getattr(row, state), stage)


def prose(row: HubPhase) -> Iterator[str]:
    """A row's texts; what stages share is said alike in each of their cells and counts once."""
    yield from (row.text, row.offload, row.watch)
    yield from {(state, text): text for state, _, text in cells(row)}.values()


def test_every_phase_stands_once_and_in_order() -> None:
    assert [row.phase for row in HUB.phases] == [phase.id for phase in CONTENT.phases]


def test_the_orientation_is_short() -> None:
    assert len(HUB.summary.split()) <= 150


def test_the_release_that_was_read_is_named_in_the_orientation() -> None:
    assert HUB.version in HUB.summary


@pytest.mark.parametrize("row", HUB.phases, ids=lambda row: row.phase)
def test_sources_are_files_and_symbols_each_cited_once(row: HubPhase) -> None:
    for source in row.sources:
        assert re.fullmatch(r"(deepspeed|torch)/[\w/]+\.py( \(torch [\d.]+\))?", source.file), source.file
        assert re.fullmatch(r"\w+(\.\w+)?", source.symbol), source.symbol
        assert source.file.startswith("deepspeed/") or "(" in source.file, (
            "another package: say which version"
        )
    cited = Counter((source.file, source.symbol) for source in row.sources)
    assert max(cited.values()) == 1, cited.most_common(1)


@pytest.mark.parametrize("row", HUB.phases, ids=lambda row: row.phase)
def test_cells_say_what_the_diagram_draws(row: HubPhase) -> None:
    for state, stage, text in cells(row):
        drawn = layout(row.phase, state, stage)
        assert any(word in text.lower() for word in SAID[drawn]), (
            f"{state}, {stage}: {drawn} is drawn, {text!r} said"
        )


def test_no_long_sentence_stands_twice() -> None:
    sentences = (
        sentence.strip()
        for row in HUB.phases
        for text in prose(row)
        for sentence in re.split(r"(?<=[.:;])\s+", text)
    )
    counted = Counter(sentence for sentence in sentences if len(sentence) >= LONG)
    assert [sentence for sentence, n in counted.items() if n > 1] == []
