"""Pagefind's real binary on small sites: silent, the same bytes twice, errors in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from generator.search_index import FOLDER, index
from generator.write import SiteError

PAGE = """<!doctype html><html lang="en"><head><title>{title}</title></head>
<body><main data-pagefind-body><h1>{title}</h1><p>{text}</p></main></body></html>"""


def site(folder: Path, pages: int) -> Path:
    for number in range(pages):
        page = folder / "failures" / f"entry-{number}" / "index.html"
        page.parent.mkdir(parents=True)
        text = " ".join(f"word{number * factor % 97}" for factor in range(1, 60))
        page.write_text(PAGE.format(title=f"Entry {number}", text=text), encoding="utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted((folder / FOLDER).rglob("*"))
        if path.is_file()
    }


def test_one_site_gives_the_same_bytes_twice(tmp_path: Path) -> None:
    first, second = site(tmp_path / "first", 120), site(tmp_path / "second", 120)
    index(first)
    index(second)
    assert files(first) == files(second)


def test_only_what_a_browser_needs_is_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    index(site(tmp_path, 3))
    written = files(tmp_path)
    assert len([name for name in written if name.startswith("pagefind/fragment/")]) == 3
    assert "pagefind/pagefind.js" in written
    assert not [name for name in written if "-ui" in name or "highlight" in name]
    assert capfd.readouterr() == ("", "")


def test_settings_of_others_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGEFIND_OUTPUT_SUBDIR", "elsewhere")
    monkeypatch.setenv("PAGEFIND_VERBOSE", "true")
    index(site(tmp_path, 1))
    assert {path.name for path in tmp_path.iterdir()} == {"failures", FOLDER}


def test_an_empty_site_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        SiteError, match=r"^Pagefind could not index the site: .*not able to build an index"
    ) as told:
        index(tmp_path)
    assert "\n" not in str(told.value)


def test_a_missing_binary_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pagefind_bin", None)
    with pytest.raises(
        SiteError, match=r"^full-text search needs Pagefind: pip install 'firstfault\[site\]'$"
    ):
        index(tmp_path)
