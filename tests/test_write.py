"""A site is written whole or not at all, whatever happens in between."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any

import pytest

from generator import search_index, write
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


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.soak)])
@pytest.mark.parametrize("swap", ["exchange", "two renames"])
def test_a_killed_build_leaves_a_whole_site(tmp_path: Path, swap: str, kills: int) -> None:
    """Killed at moments of a loop of builds: after the next one's clearing, all files are of one build."""
    out, chance = tmp_path / "site", Random(kills)
    for _ in range(kills):
        builder = subprocess.Popen(
            [sys.executable, "-c", BUILDER, str(out), swap], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert builder.stdout is not None
        builder.stdout.readline()
        _wait_for_a_site(out, tmp_path / ".site-firstfault-former")
        # Different moments of a build, which takes some milliseconds.
        with pytest.raises(subprocess.TimeoutExpired):
            builder.wait(timeout=chance.uniform(0.001, 0.03))
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


# --- the whole command, where the system refuses ------------------------------------------------------

CONTENT = Path(__file__).parent / "malformed" / "content"


def command(out: Path, content: Path = CONTENT) -> list[str]:
    return [sys.executable, str(ROOT / "build.py"), "build", "--content", str(content), "--out", str(out)]


def built(out: Path, content: Path = CONTENT, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(out, content), capture_output=True, text=True, timeout=120, **{"umask": 0o022, **options}
    )


@pytest.fixture(scope="module")
def lone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The site that a build alone makes of the content."""
    out = tmp_path_factory.mktemp("lone") / "site"
    assert built(out).returncode == 0
    return contents(out)


def test_an_index_with_a_file_cut_or_lost_is_refused(tmp_path: Path, lone: dict[str, bytes]) -> None:
    """What Pagefind leaves on a full disk, where it ends with 0 all the same."""
    own = f"{search_index.FOLDER}/{search_index.STAMP}"
    index = {path: data for path, data in lone.items() if path.startswith("pagefind/") and path != own}
    for path, data in index.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    search_index._require_whole(tmp_path / "pagefind")
    for path, data in index.items():
        for left in (b"", data[: len(data) // 2], data[: len(data) // 4096 * 4096], data[:-1]):
            (tmp_path / path).write_bytes(left)
            with pytest.raises(SiteError, match="isn't whole"):
                search_index._require_whole(tmp_path / "pagefind")
        (tmp_path / path).write_bytes(data)
    next((tmp_path / "pagefind" / "fragment").iterdir()).unlink()
    with pytest.raises(SiteError, match=r"isn't whole \(files are missing\)"):
        search_index._require_whole(tmp_path / "pagefind")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Content with another title, of which another site is made."""
    content = copytree(CONTENT, tmp_path_factory.mktemp("other") / "content")
    entry = content / "failures" / "port-taken" / "entry.yaml"
    entry.write_text(
        entry.read_text().replace("title: Address already in use at launch", "title: The port is taken")
    )
    return content


def assert_refused(done: subprocess.CompletedProcess[str], reason: str) -> None:
    """One line that says what happened and what stands there; no traceback."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("firstfault: ")
    assert reason in done.stderr
    assert "-firstfault-new-" not in done.stderr


def limited_to(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize(
    ("share", "reason"),
    [(0, "File too large"), (0.3, "File too large"), (1, "Pagefind could not index the site: ")],
    ids=["the first file", "a later file", "the index"],
)
def test_a_file_that_is_too_large_leaves_the_old_site(
    tmp_path: Path, lone: dict[str, bytes], other: Path, share: float, reason: str
) -> None:
    out = tmp_path / "site"
    assert built(out).returncode == 0
    own = max(len(data) for path, data in lone.items() if not path.startswith("pagefind/"))
    largest = max(len(data) for data in lone.values())
    # The largest files are those of the index.
    assert own + 1 < largest
    limit = own + 1 if share == 1 else int(own * share)
    done = built(out, other, preexec_fn=limited_to(limit))
    assert_refused(done, reason)
    if share < 1:
        assert done.stderr.endswith("; the site that was there stays\n")
    assert contents(out) == lone
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


ON_A_SMALL_DISK = """
import os, subprocess, sys
free, out, first, second = int(sys.argv[1]), sys.argv[2], sys.argv[3].split(chr(31)), sys.argv[4].split(chr(31))
folder = os.path.dirname(out)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "none", folder], check=True)
print(subprocess.run(first, capture_output=True).returncode)
def state():
    return {os.path.join(root, name): open(os.path.join(root, name), "rb").read()
            for root, _, names in os.walk(folder) for name in names if name != "filler"}
before = state()
disk = os.statvfs(folder)
with open(os.path.join(folder, "filler"), "wb") as filler:
    filler.write(bytes(max(0, disk.f_bavail * disk.f_frsize - free)))
done = subprocess.run(second, capture_output=True, text=True)
print(done.returncode, state() == before, sorted(os.listdir(folder)), done.stderr, sep=chr(10), end="")
"""


def can_mount() -> bool:
    """Whether this system lets anybody have a file system of their own."""
    mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not can_mount(), reason="needs a user namespace that may mount")
@pytest.mark.parametrize(
    ("share", "reason"),
    [(0, "No space left on device"), (0.5, "No space left on device"), (1.05, "an index that isn't whole")],
    ids=["no room", "room for half", "room for all but the index"],
)
def test_a_full_disk_leaves_the_old_site(
    tmp_path: Path, lone: dict[str, bytes], other: Path, share: float, reason: str
) -> None:
    pages = 4096  # a tmpfs gives whole pages
    own = sum(
        -(-len(data) // pages) * pages for path, data in lone.items() if not path.startswith("pagefind/")
    )
    out = tmp_path / "site"
    arguments = [
        str(int(own * share)),
        str(out),
        chr(31).join(command(out)),
        chr(31).join(command(out, other)),
    ]
    done = subprocess.run(
        ["unshare", "-rm", sys.executable, "-c", ON_A_SMALL_DISK, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    first, code, same, names, *told = done.stdout.splitlines()
    assert (first, code, same, names) == ("0", "2", "True", "['filler', 'site']"), done.stdout + done.stderr
    assert len(told) == 1
    assert reason in told[0]
    assert "-firstfault-new-" not in told[0]


def unprivileged() -> None:
    """In a child that was root: modes hold for it, too (PR_CAPBSET_DROP of CAP_DAC_OVERRIDE, prctl(2))."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


def test_a_read_only_parent_leaves_the_old_site(tmp_path: Path, lone: dict[str, bytes], other: Path) -> None:
    out = tmp_path / "made" / "site"
    assert built(out).returncode == 0
    out.parent.chmod(0o555)
    try:
        done = built(out, other, preexec_fn=unprivileged)
        new = built(out.with_name("second"), preexec_fn=unprivileged)
    finally:
        out.parent.chmod(0o755)
    assert_refused(done, f"{out}: Permission denied; the site that was there stays")
    assert_refused(new, f"{out.with_name('second')}: Permission denied; no site was written")
    assert contents(out) == lone
    assert [path.name for path in out.parent.iterdir()] == ["site"]


def test_a_read_only_site_is_replaced_whole(tmp_path: Path, lone: dict[str, bytes], other: Path) -> None:
    out = tmp_path / "site"
    assert built(out, other).returncode == 0
    for folder in (out / "failures", out):
        folder.chmod(0o555)
    done = built(out, preexec_fn=unprivileged)
    assert (done.returncode, done.stderr) == (0, "")
    assert contents(out) == lone
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("pairs", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_two_builds_at_once_into_one_folder(
    tmp_path: Path, lone: dict[str, bytes], other: Path, pairs: int
) -> None:
    assert built(tmp_path / "apart" / "site", other).returncode == 0
    wholes = [lone, contents(tmp_path / "apart" / "site")]
    out = tmp_path / "made" / "site"
    for _ in range(pairs):
        running = [
            subprocess.Popen(command(out, content), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for content in (CONTENT, other)
        ]
        told = [each.communicate(timeout=120) for each in running]
        assert [each.returncode for each in running] == [0, 0], told
        assert contents(out) in wholes
        assert [path.name for path in out.parent.iterdir()] == ["site"]


def test_a_swap_that_fails_half_way_puts_the_old_site_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where names can't change places: the old site is out of the way, and the new one can't take its name."""
    out = tmp_path / "site"
    write_site(OLD, out)
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if "-new-" in self.name and target == out:
            raise OSError(errno.EIO, "Input/output error", str(self))
        return rename(self, target)

    monkeypatch.setattr(write, "_exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(SiteError, match=r"site: Input/output error; the site that was there stays$"):
        write_site(NEW, out)
    assert contents(out) == as_dict(OLD)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
