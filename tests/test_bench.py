"""What bench/ builds with is what it says: entries that ``check`` takes, the same ones again, and the same text for everybody."""

from __future__ import annotations

import html
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench import entries, markdown, pages, results, sites
from generator.checks import examine, examine_logs
from generator.checks.texts import texts
from generator.content import Content
from generator.load import load

COUNT = 10


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real content as it is now: somebody may be writing in it."""
    source = tmp_path_factory.mktemp("source") / "content"
    return shutil.copytree(Path(__file__).parents[1] / "content", source)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Path:
    folder = tmp_path_factory.mktemp("generated") / "content"
    entries.write(folder, COUNT, source=source)
    return folder


@pytest.fixture(scope="module")
def generated(folder: Path) -> Content:
    return load(folder)[0]


def test_check_takes_the_entries(folder: Path) -> None:
    content, findings = examine(folder)
    assert [finding for finding in findings if finding.severity == "error"] == []
    assert len(content.entries) == COUNT
    assert examine_logs(content) == []


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    folder: Path, source: Path, tmp_path: Path
) -> None:
    def files(root: Path) -> dict[str, bytes]:
        return {
            path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
        }

    entries.write(tmp_path / "again", COUNT, source=source)
    assert files(tmp_path / "again") == files(folder)
    entries.write(tmp_path / "other", COUNT, seed=8, source=source)
    names = [{path.name for path in (root / "failures").iterdir()} for root in (folder, tmp_path / "other")]
    assert not names[0] & names[1]


def test_an_entry_is_as_long_as_the_one_whose_shape_it_has(source: Path) -> None:
    content, _ = load(source)
    made = entries.Generator(content, COUNT)
    for number in range(COUNT):
        original = made.shape(number).loaded.positions.source
        drawn = made.entry(number).files["entry.yaml"].decode()
        assert 0.8 < len(drawn) / len(original) < 1.2
        assert Counter(re.findall(r"^\w+:", drawn, re.M)) == Counter(re.findall(r"^\w+:", original, re.M))


def test_no_two_entries_have_a_message_or_code_in_common(generated: Content) -> None:
    for kind in ("signatures", "examples"):
        found = Counter(
            text.value
            for loaded in generated.entries
            for text in texts(loaded.entry)
            if text.field[0] == kind and text.field[-1] == {"signatures": "text", "examples": "code"}[kind]
        )
        assert [value for value, times in found.items() if times > 1] == []


def test_the_markdown_has_every_text_of_the_entry(generated: Content) -> None:
    for loaded in generated.entries:
        shown = _letters(html.unescape(markdown.body(loaded.entry)))
        for text in texts(loaded.entry):
            if text.field[0] not in ("title", "logs", "figures", "changes"):
                assert _letters(text.value) in shown, text.field


def _letters(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "", text)


def test_a_measured_command_is_timed_and_a_failing_one_is_told(tmp_path: Path) -> None:
    measure = sites.measured(["sh", "-c", "head -c 30000000 /dev/zero | tail -c 1 >made"], tmp_path)
    assert (tmp_path / "made").read_bytes() == b"\0"
    assert measure.cpu > 0
    assert measure.wall > 0
    assert 1 < measure.peak < 500
    with pytest.raises(sites.Failed, match="ended with 3: no such luck"):
        sites.measured(["sh", "-c", "echo no such luck; exit 3"], tmp_path)


def test_a_report_gives_the_ratios_to_hugo() -> None:
    def rows(*walls: float) -> dict[str, list[sites.Measure]]:
        return {"clean": [sites.Measure(wall, 2 * wall, 100) for wall in walls], "again": []}

    text = sites.report(3, {"ours": rows(3, 1, 2), "hugo": rows(4, 4, 4)})
    assert "| ours | clean | 2.00 | 4.00 | 100 | 0.50 | 0.50 |" in text
    assert "| hugo | clean | 4.00 | 8.00 | 100 | 1.00 | 1.00 |" in text


def test_a_script_replaces_its_own_section_of_the_results(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    for section in ("## One\n\nfirst\n", "## Two\n\n### Part\n\nkept\n", "## One\n\nsecond\n"):
        results.put(section, path)
    assert path.read_text() == f"{results.HEAD}\n## One\n\nsecond\n\n## Two\n\n### Part\n\nkept\n"


def said_by_lighthouse(performance: float, paint: float) -> dict[str, Any]:
    audits = {
        name: {"numericValue": 0, "score": 1, "scoreDisplayMode": "numeric"}
        for name in (
            "cumulative-layout-shift",
            "total-blocking-time",
            "total-byte-weight",
            "largest-contentful-paint",
        )
    }
    audits["first-contentful-paint"] = {"numericValue": paint, "score": 0.8, "scoreDisplayMode": "numeric"}
    audits["uses-http2"] = {"score": None, "scoreDisplayMode": "notApplicable"}
    categories = {name: {"score": 1, "auditRefs": []} for name in pages.BARS}
    refs = [{"id": name, "weight": 1} for name in ("first-contentful-paint", "uses-http2")]
    categories["performance"] = {"score": performance, "auditRefs": refs}
    return {"audits": audits, "categories": categories}


def test_the_median_of_lighthouse_is_held_against_the_bar() -> None:
    rounds = [
        pages.measured(said_by_lighthouse(score, paint)) for score, paint in ((0.99, 1), (0.9, 9), (0.94, 3))
    ]
    found = pages.middle(rounds)
    assert found.first_paint == 3
    assert found.wrong == ("first-contentful-paint",)
    assert pages.under_the_bar(found) == ["performance 94"]
    assert pages.under_the_bar(rounds[0]) == []


def test_a_run_of_lighthouse_that_failed_is_no_measure() -> None:
    report = {**said_by_lighthouse(1, 1), "runtimeError": {"code": "NO_FCP", "message": "no paint"}}
    with pytest.raises(SystemExit, match="no paint"):
        pages.measured(report)
