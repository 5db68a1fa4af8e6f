"""A build that keeps its entries packed, as it does where there are many, writes what any other does."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from generator import load
from generator.build import Options, build
from generator.content import LoadedEntry
from generator.model import Entry
from generator.packing import whole
from generator.write import SiteError

from . import golden


@pytest.fixture
def content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the small content, of which the entries are packed."""
    monkeypatch.setattr(load, "PACKED", 1)
    return shutil.copytree(golden.CONTENT, tmp_path / "content")


def _both(content: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[LoadedEntry, LoadedEntry]]:
    """Each entry packed, and as it is."""
    small = load.load(content)[0].entries
    monkeypatch.undo()
    return list(zip(small, load.load(content)[0].entries, strict=True))


def test_every_field_is_what_it_was(content: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for small, full in _both(content, monkeypatch):
        assert type(small.entry) is not Entry
        assert {name: getattr(small.entry, name) for name in Entry.model_fields} == dict(full.entry)
        assert whole(small.entry) == full.entry
        assert dict(small.files) == full.files
        assert small.positions.source == full.positions.source
        assert dict(small.positions.places) == dict(full.positions.places)
        assert dict(small.positions.scalars) == dict(full.positions.scalars)


def test_what_there_is_not_is_missing(content: Path) -> None:
    entry = load.load(content)[0].entries[0].entry
    with pytest.raises(AttributeError, match="no_such_field"):
        _ = entry.no_such_field  # type: ignore[attr-defined]


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_site_is_the_same(
    jobs: int, content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites = []
    for name in ("packed", "whole"):
        assert build(Options(content=content, out=tmp_path / name, jobs=jobs)).ok
        files = (path for path in (tmp_path / name).rglob("*") if path.is_file())
        sites.append({path.relative_to(tmp_path / name): path.read_bytes() for path in files})
        monkeypatch.undo()
    assert sites[0] == sites[1]


@pytest.mark.parametrize("change", ["write", "remove"])
def test_a_file_that_changes_meanwhile_is_told(change: str, content: Path) -> None:
    loaded = load.load(content)[0].entries[0]
    path = content / "failures" / loaded.slug / "entry.yaml"
    if change == "write":
        path.write_text(path.read_text() + "\n")
    else:
        path.unlink()
    with pytest.raises(SiteError, match=r"entry\.yaml"):
        _ = loaded.positions.source
