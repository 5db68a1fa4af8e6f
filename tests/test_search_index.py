"""Pagefind's real binary on small catalogues: silent, the same bytes twice, taken over where nothing has changed."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import search_index
from generator.build import Options, build
from generator.catalogue import Catalogue
from generator.load import load
from generator.search_index import FOLDER, STAMP, Documents, documents, index, index_files
from generator.write import SiteError

RIGHT = Path(__file__).parent / "malformed" / "content"
ENTRY = "failures/port-taken/entry.yaml"
PAGE = """<!doctype html><html lang="en"><head><title>{title}</title></head>
<body data-pagefind-body><h1 data-pagefind-meta="title">{title}</h1><p>{text}</p></body></html>"""


def made_up(count: int) -> Documents:
    return Documents(
        {
            f"failures/entry-{number}/index.html": PAGE.format(
                title=f"Entry {number}",
                text=" ".join(f"word{number * factor % 97}" for factor in range(1, 60)),
            )
            for number in range(count)
        }
    )


def files(site: Path) -> dict[str, bytes]:
    return {
        path.relative_to(site).as_posix(): path.read_bytes()
        for path in sorted((site / FOLDER).rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return shutil.copytree(RIGHT, tmp_path / "content")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one each time that Pagefind runs."""
    seen: list[str] = []
    run = search_index._run

    def counted(command: list[str], folder: Path) -> None:
        seen.append(command[0])
        run(command, folder)

    monkeypatch.setattr(search_index, "_run", counted)
    return seen


def test_the_same_documents_give_the_same_bytes(tmp_path: Path) -> None:
    index(made_up(120), tmp_path / "first")
    index(made_up(120), tmp_path / "second")
    assert files(tmp_path / "first") == files(tmp_path / "second") == index_files(made_up(120))


def test_only_what_a_browser_needs_is_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    index(made_up(3), tmp_path)
    written = files(tmp_path)
    assert len([name for name in written if name.startswith("pagefind/fragment/")]) == 3
    assert "pagefind/pagefind.js" in written
    assert not [name for name in written if "-ui" in name or "highlight" in name]
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]
    assert capfd.readouterr() == ("", "")


def test_settings_of_others_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGEFIND_OUTPUT_SUBDIR", "elsewhere")
    monkeypatch.setenv("PAGEFIND_VERBOSE", "true")
    index(made_up(1), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {FOLDER}


def test_without_entries_there_is_an_index(tmp_path: Path) -> None:
    index(Documents({}), tmp_path)
    assert "pagefind/pagefind.js" in files(tmp_path)


def test_a_missing_binary_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pagefind_bin", None)
    with pytest.raises(
        SiteError, match=r"^full-text search needs Pagefind: pip install 'firstfault\[site\]'$"
    ):
        index(made_up(1), tmp_path)


def test_documents_hold_what_is_worth_finding(content: Path) -> None:
    """A page's title, its message without holes, symptoms, causes and fixes by their titles; no body of theirs."""
    catalogue = Catalogue(load(content)[0])
    found = documents(catalogue)
    assert list(found.by_path) == [f"failures/{slug}/index.html" for slug in ("disk-full", "port-taken")]
    entry = catalogue.by_slug["port-taken"].entry
    text = found.by_path["failures/port-taken/index.html"]
    for part in (entry.title, entry.causes[0].title, entry.fixes[0].title):
        assert part in text
    assert entry.causes[0].text.strip() not in text
    assert "`" not in text


def put(path: Path, field: str, word: str) -> None:
    """Put a word before the value of a field."""
    text = path.read_text()
    assert f"{field}: " in text
    path.write_text(text.replace(f"{field}: ", f"{field}: {word} ", 1))


def built(content: Path, out: Path) -> dict[str, bytes]:
    result = build(Options(content=content, out=out))
    assert result.ok, result.findings
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("field", "word", "made"), [("restart_why", "Certainly,", 1), ("title", "Unheard", 2)]
)
def test_an_index_is_taken_over_where_its_words_are_unchanged(
    content: Path, tmp_path: Path, runs: list[str], field: str, word: str, made: int
) -> None:
    out = tmp_path / "site"
    first = built(content, out)
    put(content / ENTRY, field, word)
    again = built(content, out)
    assert len(runs) == made
    assert again != first
    stamp = f"{FOLDER}/{STAMP}"
    assert (again[stamp] == first[stamp]) == (made == 1)
    assert again == built(content, tmp_path / "clean")
    assert len(runs) == made + 1


def cut(folder: Path) -> None:
    path = next((folder / "fragment").iterdir())
    path.write_bytes(path.read_bytes()[:-1])


def removed(folder: Path) -> None:
    next((folder / "index").iterdir()).unlink()


def added(folder: Path) -> None:
    (folder / "more.js").write_text("")


def another(folder: Path) -> None:
    (folder / "pagefind.js").write_text("alert();")


def unmarked(folder: Path) -> None:
    (folder / STAMP).unlink()


def mismarked(folder: Path) -> None:
    (folder / STAMP).write_text("[]")


def of_another_pagefind(folder: Path) -> None:
    stamp = json.loads((folder / STAMP).read_text())
    (folder / STAMP).write_text(json.dumps({**stamp, "documents": "0" * 64}))


@pytest.mark.parametrize(
    "spoil", [cut, removed, added, another, unmarked, mismarked, of_another_pagefind, shutil.rmtree]
)
def test_a_spoiled_index_is_not_taken_over(
    tmp_path: Path, runs: list[str], spoil: Callable[[Path], None]
) -> None:
    former, new = tmp_path / "former", tmp_path / "new"
    index(made_up(3), former)
    right = files(former)
    spoil(former / FOLDER)
    index(made_up(3), new, former)
    assert files(new) == right
    assert len(runs) == 2


def test_an_index_can_be_taken_over_to_another_file_system(
    tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*paths: object, **options: object) -> None:
        raise OSError("another device")

    index(made_up(3), tmp_path / "former")
    monkeypatch.setattr("os.link", refuse)
    index(made_up(3), tmp_path / "new", tmp_path / "former")
    assert files(tmp_path / "new") == files(tmp_path / "former")
    assert len(runs) == 1
