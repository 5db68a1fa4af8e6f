"""A site is written whole or not at all, whatever happens in between."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from generator import write
from generator.write import MARKER, File, SiteError, arrange, write_site

ROOT = Path(__file__).parents[1]
OLD = [File("index.html", b"old"), File("a/b.html", b"old")]
NEW = [File("index.html", b"new"), File("c/d.html", b"new")]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MARKER
    }


def as_dict(files: list[File]) -> dict[str, bytes]:
    return {file.path: file.data for file in files}


@pytest.fixture(params=["exchange", "two renames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to swap; the second is what systems without renameat2 take."""
    if request.param == "two renames":
        monkeypatch.setattr(write, "_exchange", lambda one, other: False)
    return str(request.param)


def test_the_folder_holds_exactly_the_files(tmp_path: Path, way: str) -> None:
    out = tmp_path / "deep" / "site"
    assert write_site(OLD, out) == 2
    assert contents(out) == as_dict(OLD)
    write_site(NEW, out)
    assert contents(out) == as_dict(NEW)
    assert [path.name for path in out.parent.iterdir()] == ["site"]


def test_exchange_is_in_use_where_it_is_promised(tmp_path: Path) -> None:
    if sys.platform != "linux":
        return
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    (one / "x").touch()
    assert write._exchange(one, other)
    assert (other / "x").exists()


def test_finish_works_in_the_new_folder_before_the_swap(tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(OLD, out)

    def finish(folder: Path) -> None:
        assert contents(out) == as_dict(OLD)
        assert contents(folder) == as_dict(NEW)
        (folder / "index").write_bytes(b"added")

    write_site(NEW, out, finish)
    assert contents(out) == {**as_dict(NEW), "index": b"added"}


def test_a_failed_finish_leaves_the_old_site(tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(OLD, out)

    def fail(folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(SiteError, match="No space left on device"):
        write_site(NEW, out, fail)
    assert contents(out) == as_dict(OLD)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


CLASHES = {
    "same path": ["a.html", "a.html"],
    "case": ["A.html", "a.html"],
    "case of a folder": ["A/x.html", "a/y.html"],
    "composed and decomposed": ["\u00e9.html", "e\u0301.html"],
    "file and folder": ["a", "a/b"],
    "folder and file": ["a/b", "a"],
    "folder and file in other case": ["a/b", "A"],
}


@pytest.mark.parametrize("paths", CLASHES.values(), ids=CLASHES)
def test_two_files_at_one_path_are_refused_by_name(paths: list[str]) -> None:
    one, other = (File(path, b"", f"source {n}") for n, path in enumerate(paths))
    with pytest.raises(SiteError, match=r"from source 0.* and .*from source 1"):
        arrange([one, other])


def test_files_of_one_folder_do_not_clash() -> None:
    assert list(arrange([File("a/c", b""), File("a/b", b""), File("ab", b"")])) == ["a/b", "a/c", "ab"]


@pytest.mark.parametrize(
    "path", ["", "/", "/etc/x", "..", "../x", "a/../x", "a//x", "./x", "a/", "a\\x", "C:/x", "a\0b", "a\nb", MARKER, "x" * 256]
)  # fmt: skip
def test_paths_that_leave_the_site_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(SiteError):
        write_site([File(path, b"")], tmp_path / "site")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "thesis"
    out.mkdir()
    (out / "chapter.tex").write_bytes(b"years")
    with pytest.raises(SiteError, match="something else than a site of ours"):
        write_site(NEW, out)
    assert contents(out) == {"chapter.tex": b"years"}


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    write_site(NEW, tmp_path / "site")
    assert contents(tmp_path / "site") == as_dict(NEW)


def test_a_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "site").write_bytes(b"x")
    with pytest.raises(SiteError, match="is not a folder"):
        write_site(NEW, tmp_path / "site")


def test_a_parent_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for out in (tmp_path / "file" / "site", tmp_path / "file" / "a" / "site"):
        with pytest.raises(SiteError, match=r"/file: is not a folder"):
            write_site(NEW, out)


def test_the_root_is_no_site() -> None:
    with pytest.raises(SiteError, match="can't be a site"):
        write_site(NEW, Path("/"))


def test_a_parent_that_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "site"
    write_site(OLD, out)

    def refuse(self: Path, *arguments: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        with pytest.raises(SiteError, match="Permission denied"):
            write_site(NEW, out)
    assert contents(out) == as_dict(OLD)


def test_a_link_to_a_site_stays_a_link(tmp_path: Path) -> None:
    write_site(OLD, tmp_path / "real")
    (tmp_path / "site").symlink_to("real")
    write_site(NEW, tmp_path / "site")
    assert (tmp_path / "site").is_symlink()
    assert contents(tmp_path / "real") == as_dict(NEW)


def test_a_site_kept_by_a_killed_swap_is_put_back(tmp_path: Path) -> None:
    """Killed between the two renames: the site is under its former name, and a new one half there."""
    out = tmp_path / "site"
    write_site(OLD, out)
    out.rename(tmp_path / ".site-firstfault-former")
    (tmp_path / ".site-firstfault-new-1").mkdir()
    with pytest.raises(SiteError):
        write_site([File("index.html", b"")], out, finish=_refuse)
    assert contents(out) == as_dict(OLD)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def _refuse(folder: Path) -> None:
    raise OSError(errno.EIO, "Input/output error")


BUILDER = """
import sys
from pathlib import Path
from generator import write
out, two_renames = Path(sys.argv[1]), sys.argv[2] == "two renames"
if two_renames:
    write._exchange = lambda one, other: False
print("ready", flush=True)
for number in range(10**6):
    data = b"%d" % number
    write.write_site([write.File(f"{i % 7}/{i}.html", data) for i in range(40)], out)
"""


@pytest.mark.parametrize("swap", ["exchange", "two renames"])
def test_a_killed_build_leaves_a_whole_site(tmp_path: Path, swap: str) -> None:
    """Killed at ten moments of a loop of builds: after the next one's clearing, all files are of one build."""
    out = tmp_path / "site"
    for moment in range(10):
        builder = subprocess.Popen(
            [sys.executable, "-c", BUILDER, str(out), swap], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert builder.stdout is not None
        builder.stdout.readline()
        _wait_for_a_site(out, tmp_path / ".site-firstfault-former")
        # Different moments of a build, which takes some milliseconds.
        with pytest.raises(subprocess.TimeoutExpired):
            builder.wait(timeout=0.003 * moment + 0.001)
        builder.send_signal(signal.SIGKILL)
        builder.wait()
        builder.stdout.close()
        if swap == "exchange":
            assert_whole(out)
        with pytest.raises(SiteError):
            write_site([File("x", b"")], out, finish=_refuse)
        assert_whole(out)
        assert [path.name for path in tmp_path.iterdir()] == ["site"]


def _wait_for_a_site(out: Path, former: Path) -> None:
    while not (out.exists() or former.exists()):
        os.sched_yield()


def assert_whole(out: Path) -> None:
    found = contents(out)
    assert len(found) == 40
    assert len(set(found.values())) == 1
