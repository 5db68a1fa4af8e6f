"""What is kept is what would be made now, whatever happened to the content or to the cache."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from generator.cli import _bundle, _find_index, run
from generator.kept import TICK_NANOSECONDS, kept

RIGHT = Path(__file__).parent / "malformed" / "content"
ENTRY = "failures/port-taken/entry.yaml"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return shutil.copytree(RIGHT, tmp_path / "content")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for the program's own folder, which no test may change."""
    own = tmp_path / "own"
    (own / "part").mkdir(parents=True)
    monkeypatch.setattr("generator.kept.OWN", own)
    return own


def refuse() -> tuple[dict[str, Any], bool]:
    raise AssertionError("made again")


def test_it_is_made_once(content: Path) -> None:
    made = _bundle(content)
    assert kept(content, refuse, "signatures") == made
    assert list(made["entries"]) == ["disk-full", "port-taken"]


@pytest.mark.parametrize(
    "change", ["title", "same size", "same time", "new", "removed", "taxonomy", "lines", "program", "touched"]
)
def test_a_change_is_seen(content: Path, change: str, own: Path) -> None:
    before = _bundle(content)
    path = content / ENTRY
    text = path.read_text()
    match change:
        case "title":
            path.write_text(text.replace("title: Address", "title: The address"))
        case "same size":
            path.write_text(text.replace("title: Address", "title: Adresse"))
        case "same time":
            was = path.stat()
            path.write_text(text.replace("title: Address", "title: Adresse"))
            os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        case "new":
            shutil.copytree(content / "failures/port-taken", content / "failures/another")
            other = content / "failures/another/entry.yaml"
            other.write_text(text.replace("[Errno 98]", "[Errno 97]"))
        case "removed":
            shutil.rmtree(content / "failures/port-taken")
        case "taxonomy":
            tags = content / "taxonomy/tags.yaml"
            tags.write_text(tags.read_text() + "- id: new-tag\n  name: New tag\n  definition: A new one.\n")
        case "lines":
            os.utime(content / "lines/torchrun.yaml", ns=(1, 1))
        case "program":
            (own / "part/other.py").write_text("")
        case _:
            os.utime(path, ns=(1, 1))
    with pytest.raises(AssertionError, match="made again"):
        kept(content, refuse, "signatures")
    after = _bundle(content)
    assert (after != before) == (change not in ("taxonomy", "lines", "program", "touched"))
    assert kept(content, refuse, "signatures") == after


def test_the_index_of_find_is_kept_beside_the_bundle(content: Path) -> None:
    bundle, index = _bundle(content), _find_index(content)
    assert kept(content, refuse, "signatures") == bundle
    assert kept(content, refuse, "search") == index
    assert list(index["slugs"]) == list(bundle["entries"])


def test_nothing_is_read_within_the_tick_of_its_last_change(tmp_path: Path, own: Path) -> None:
    """Else a second change in that tick, of equal size, would have left no trace."""
    path = tmp_path / "content/lines/one.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("- id: one")
    read: list[int] = []

    def make() -> tuple[dict[str, Any], bool]:
        read.append(time.time_ns())
        return {}, True

    kept(tmp_path / "content", make, "one")
    assert read[0] - path.stat().st_ctime_ns >= TICK_NANOSECONDS
    kept(tmp_path / "content", make, "one")
    assert len(read) == 1


def test_two_folders_keep_two(content: Path, tmp_path: Path) -> None:
    other = shutil.copytree(content, tmp_path / "other")
    shutil.rmtree(other / "failures/disk-full")
    one, two = _bundle(content), _bundle(other)
    assert kept(content, refuse, "signatures") == one != two == kept(other, refuse, "signatures")


@pytest.mark.parametrize("left", [b"", b"{", b"[]", b'{"key": 1}', b"\xff"])
def test_a_spoiled_cache_is_no_cache(content: Path, cache: Path, left: bytes) -> None:
    made = _bundle(content)
    (place,) = (cache / "firstfault").iterdir()
    place.write_bytes(left)
    assert _bundle(content) == made
    assert kept(content, refuse, "signatures") == made


@pytest.mark.parametrize("left", [b"[]", b"null", b"{}", b'{"entries": 5}'])
def test_what_was_not_written_so_is_not_taken(content: Path, cache: Path, left: bytes) -> None:
    made = _bundle(content)
    (place,) = (cache / "firstfault").iterdir()
    head, _, _ = place.read_bytes().partition(b"\n")
    place.write_bytes(head + b"\n" + left)
    assert _bundle(content) == made


def test_a_pipe_is_not_waited_for(content: Path, cache: Path) -> None:
    made = _bundle(content)
    (place,) = (cache / "firstfault").iterdir()
    place.unlink()
    os.mkfifo(place)
    assert _bundle(content) == made
    assert kept(content, refuse, "signatures") == made


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file away")
def test_the_file_of_another_user_is_not_taken(content: Path, cache: Path) -> None:
    _bundle(content)
    (place,) = (cache / "firstfault").iterdir()
    os.chown(place, 65534, -1)
    with pytest.raises(AssertionError, match="made again"):
        kept(content, refuse, "signatures")


@pytest.mark.parametrize("home", ["~", "relative", ""])
def test_without_a_home_nothing_is_kept(
    content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    """As where a container runs with a number that no user has: expanduser leaves the tilde."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", home)
    monkeypatch.chdir(tmp_path)
    assert list(_bundle(content)["entries"]) == ["disk-full", "port-taken"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["content"]


def test_a_cache_that_cannot_be_written_is_no_error(content: Path, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    assert _bundle(content) == _bundle(content)


def test_what_lacks_an_entry_is_not_kept(content: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = content / ENTRY
    path.write_text(path.read_text().replace("title: Address", "titel: Address"))
    for _ in range(2):
        assert run(["find", "No space left on device", "--content", str(content)]) == 0
        assert "without the entries that have errors: port-taken" in capsys.readouterr().err
