"""Which pages there are and what they say, on the small folder of tests/golden and on the real content."""

from __future__ import annotations

import re
from difflib import unified_diff
from itertools import pairwise
from pathlib import Path

import pytest

from generator import figures
from generator.catalogue import Catalogue
from generator.checks import examine
from generator.diagrams import LAYOUTS, STAGES, STATES, glyph, layout, runs
from generator.load import load
from generator.model import ZeroCells
from generator.pages import Page, all_pages
from generator.views import (
    ShortNames,
    hub_rows,
    look_alikes,
    messages_by_system,
    neighbours,
    often_confused,
    related,
    sample_lines,
    tally,
)

from . import golden

COMPLETE, SHORT, WITHDRAWN = "zero3-weight-must-be-2-d", "rank-exits-early", "old-name-of-a-fault"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return golden.catalogue()


@pytest.fixture(scope="module")
def pages(catalogue: Catalogue) -> dict[str, Page]:
    return {page.path: page for page in all_pages(catalogue)}


@pytest.fixture(scope="module")
def real() -> Catalogue:
    """The taxonomy and hub of the real content, without asking that every entry be right today."""
    content, _ = load(Path(__file__).parents[1] / "content")
    return Catalogue(content)


def test_golden_pages() -> None:
    made, expected = golden.rendered(), golden.expected()
    difference = [
        line
        for path in sorted(made.keys() | expected.keys())
        for line in unified_diff(
            expected.get(path, "").splitlines(), made.get(path, "").splitlines(), path, path, lineterm="", n=1
        )
    ]
    hint = ["", "If this is meant: python -m tests.golden"]
    assert made == expected, "\n".join([*difference[:120], *hint])


def test_golden_content_is_right() -> None:
    _, findings = examine(golden.CONTENT)
    assert findings == []


def test_no_path_twice(catalogue: Catalogue) -> None:
    paths = [page.path for page in all_pages(catalogue)]
    assert len(paths) == len(set(paths))


def test_every_entry_alias_phase_and_family_has_its_page(
    catalogue: Catalogue, pages: dict[str, Page]
) -> None:
    for slug in (COMPLETE, SHORT, WITHDRAWN):
        assert pages[f"failures/{slug}/index.html"].kind == "entry"
    assert pages["failures/weight-must-be-2d/index.html"].data["target"] == f"failures/{COMPLETE}/"
    for phase in catalogue.content.phases:
        assert pages[f"phases/{phase.id}/index.html"].kind == "phase"
    for family in catalogue.content.families:
        assert pages[f"families/{family.id}/index.html"].kind == "family"


def test_only_what_an_entry_bears_has_a_page(pages: dict[str, Page]) -> None:
    # The Trainer is a stack of the complete entry, but no entry's system.
    assert "systems/transformers/index.html" not in pages
    assert "systems/pytorch/index.html" in pages
    assert {path for path in pages if path.startswith("tags/")} == {
        f"tags/{tag}/index.html" for tag in ("zero-3", "shared-weights", "hang")
    }


def test_withdrawn_entry_stands_in_no_list() -> None:
    listing = [path for path, text in golden.rendered().items() if f"{WITHDRAWN}/" in text]
    # What is new tells that it was withdrawn.
    news = ["index.html", "changes/index.html"]
    own = [f"failures/{WITHDRAWN}/index.html", f"api/v1/entries/{WITHDRAWN}.md"]
    assert sorted(listing) == sorted([*news, *own])


def test_look_alikes_go_both_ways(catalogue: Catalogue) -> None:
    def told(slug: str) -> list[tuple[str | None, bool]]:
        return [(alike.entry, alike.told_there) for alike in look_alikes(catalogue, catalogue.by_slug[slug])]

    assert told(COMPLETE) == [(SHORT, False), (None, False)]
    assert told(SHORT) == [(COMPLETE, True)]


def test_related_begin_with_look_alikes(catalogue: Catalogue, real: Catalogue) -> None:
    for slug, other in ((COMPLETE, SHORT), (SHORT, COMPLETE)):
        near = related(catalogue, catalogue.by_slug[slug])
        assert [(item.loaded.slug, item.reasons) for item in near] == [(other, ("look-alike",))]
    for loaded in real.current:
        near = related(real, loaded)
        assert loaded.slug not in {item.loaded.slug for item in near}
        alike = ["look-alike" in item.reasons for item in near]
        assert alike == sorted(alike, reverse=True)


def test_neighbours_share_the_phase(real: Catalogue) -> None:
    for loaded in real.current:
        assert all(other.entry.phase == loaded.entry.phase for other in neighbours(real, loaded))
        assert loaded.slug not in {other.slug for other in neighbours(real, loaded)}


def test_short_names_are_spelled_as_the_field_does(real: Catalogue) -> None:
    names = ShortNames(real)
    assert names["cuda-oom-initialization"] == "CUDA OOM initialization"
    assert names["no-sync-with-zero2-or-zero3"] == "no sync with ZeRO-2 or ZeRO-3"
    # The number and the script, not the optimizer.
    assert names["zero-sized-parameter"] == "zero sized parameter"
    assert names["zero-to-fp32-consumed-numels"] == "zero to fp32 consumed numels"
    assert {slug.replace("-", "") for slug in names} == {
        re.sub("[- ]", "", name).lower() for name in names.values()
    }


def test_the_often_confused_name_each_other(real: Catalogue) -> None:
    pairs = often_confused(real)
    assert pairs
    for one, other in pairs:
        assert other.slug in {alike.entry for alike in one.entry.look_alikes}
        assert one.slug in {alike.entry for alike in other.entry.look_alikes}


def test_hub_holds_each_entry_once(catalogue: Catalogue) -> None:
    rows = hub_rows(catalogue, catalogue.hubs["deepspeed"])
    assert [row.number for row in rows] == [1, 2, 3]
    placed = [(row.phase.id, loaded.slug) for row in rows for loaded in row.entries]
    assert placed == [("forward", COMPLETE)]
    assert [loaded.slug for loaded in rows[1].columns["parameters"]] == [COMPLETE]


def test_messages_stand_under_who_prints_them(catalogue: Catalogue) -> None:
    found = {
        system.id: [
            (loaded.slug, [signature.id for signature in signatures]) for loaded, signatures in groups
        ]
        for system, groups in messages_by_system(catalogue)
    }
    # The short entry's message has no source yet, so it stands under the entry's first system.
    assert found == {"pytorch": [(SHORT, ["closed"]), (COMPLETE, ["embedding", "shape-report"])]}


def test_samples_are_lines_of_the_logs(catalogue: Catalogue) -> None:
    assert sample_lines(catalogue) == (
        "[rank1]: RuntimeError: 'weight' must be 2-D",
        "[rank0]: RuntimeError: [../gloo/transport/tcp/pair.cc:537] Connection closed by peer [192.0.2.7]:31415",
    )


def test_tally_counts_current_entries(catalogue: Catalogue) -> None:
    counted = tally(catalogue)
    assert (counted.entries, counted.complete, counted.signatures, counted.sourced) == (2, 1, 3, 2)
    assert (counted.causes, counted.captured, counted.composed, counted.references) == (3, 1, 2, 2)
    assert {grade: count for grade, count in counted.grades.items() if count} == {
        "source": 1,
        "inferred": 2,
    }


def test_layouts_cover_the_phases(real: Catalogue) -> None:
    assert list(LAYOUTS) == [phase.id for phase in real.content.phases]


# What the first word of a hub's cell says about the drawing above it.
FIRST_WORDS = (
    ("None", {"none"}),
    ("Not ", {"none"}),
    ("Full", {"full", "gathered"}),
    ("One slice", {"sliced", "gathered"}),
)


def test_drawings_agree_with_the_hubs_words(real: Catalogue) -> None:
    wrong = []
    for row in real.hubs["deepspeed"].phases:
        for state, _ in STATES:
            for stage, _ in STAGES:
                text, drawn = getattr(getattr(row, state), stage), layout(row.phase, state, stage)
                said = next((kinds for words, kinds in FIRST_WORDS if text.startswith(words)), None)
                if said is not None and drawn not in said:
                    wrong.append(f"{row.phase} {state} {stage}: drawn {drawn}, but: {text}")
    assert wrong == []


def test_equal_stages_share_a_cell() -> None:
    alike = ZeroCells(zero1="Whole.", zero2="Whole.", zero3="Sliced.")
    assert [(run.stages, run.span, run.layout) for run in runs("construction", "parameters", alike)] == [
        ("ZeRO-1, 2", 2, "full"),
        ("ZeRO-3", 1, "sliced"),
    ]


def test_glyph_says_what_it_shows() -> None:
    assert "<title>ZeRO-3: a slice on each GPU</title>" in glyph("sliced", "one", "ZeRO-3")


def test_a_figure_is_drawn_as_its_data_say(catalogue: Catalogue) -> None:
    lanes, bars = catalogue.by_slug[COMPLETE].entry.figures
    drawing = figures.drawn(lanes)
    places = re.findall(r'class="span-\w+" x="([0-9.]+)" y="([0-9.-]+)" width="([0-9.]+)"', drawing)
    rows: dict[str, list[tuple[float, float]]] = {}
    for x, y, width in places:
        rows.setdefault(y, []).append((float(x), float(width)))
    # Each begins where the one before ends; a rank that is gone has a text at most.
    assert [len(row) for row in rows.values()] == [3, 2]
    for row in rows.values():
        for (x, width), (following, _) in pairwise(row):
            assert following == pytest.approx(x + width + 1, abs=0.2)
    assert figures.in_words(lanes)[1] == "rank 1: runs (step), then fails (exit), then is gone."
    assert "rank 1: runs (step), then fails (exit), then is gone." in drawing
    widths = dict(
        re.findall(r'class="holds-([\w-]+)" x="[0-9.]+" y="[0-9.]+" width="([0-9.]+)"', figures.drawn(bars))
    )
    assert float(widths["parameters"]) == pytest.approx(figures.WIDTH / 2)
    assert float(widths["optimizer-state"]) == pytest.approx(21 * float(widths["buffers"]), rel=0.01)
    assert figures.in_words(bars)[-1] == "The GPU has 24 GiB."
