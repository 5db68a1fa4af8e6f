"""Files → folder, whole or not at all: the only code that writes.

A site is written into a hidden sibling of its folder and then changes places with it, in one step where
the system can exchange two names (Linux's renameat2). Elsewhere two renames follow each other; a build
that is killed between them leaves the former site as ``.NAME-firstfault-former``, and the next build puts it back
before it does anything else. What a killed build left half written, the next one clears. Builds into
folders of one parent wait for each other.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .parallel import mapped, trim

TRIMMED_BYTES = 4_000_000
"""When so much has been written, memory that it took is given back to the system."""
MARKER = ".firstfault"
"""The file by which a folder is known as a site of ours, that may be replaced."""
_MARKER_TEXT = b"A site written by First Fault. The next build replaces this folder.\n"


class SiteError(Exception):
    """A site that can't be written: the message says what and where."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the site: its path from the site's root, with '/', and what it holds.

    ``source`` says what it was made from, for the message when two files want one path. ``made_of`` is a digest of
    that, where the next build asks for it, and ``stands_at`` a file that holds the same and may be linked to.
    """

    path: str
    data: bytes
    source: str = ""
    made_of: str = ""
    digest: str = ""
    stands_at: Path | None = None


Made = Mapping[str, tuple[str, str]]
"""Of files by their paths, what they were made of, and a digest of what they hold."""
Maker = Callable[[], Iterable[File]]


def write_site(
    files: Iterable[File],
    out: Path,
    finish: Callable[[Path], None] = lambda folder: None,
    makers: Sequence[Maker] = (),
    count: int = 1,
    remember: Callable[[Made], None] = lambda made: None,
) -> int:
    """Make ``out`` a folder that holds exactly ``files``, what ``makers`` make and ``finish`` adds; the number of files.

    Each maker's files are written where they are made, in one of ``count`` processes, and held no longer.
    ``finish`` gets the new folder before it takes its place, ``remember`` at last what files were made of. Raises SiteError, and leaves ``out`` as it
    was, where two files want one path, ``out`` is something else than a site of ours, or the system refuses.
    """
    arranged = arrange(files)
    out = out.resolve()
    _refuse_place(out)
    new = out.with_name(f"{_new_prefix(out)}{os.getpid()}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with _alone(out.parent):
            _restore(out)
            _refuse_foreign(out)
            _clear(out)
            try:
                written = _fill(new, arranged, makers, count)
                finish(new)
                _sync(new)
                _swap(new, out)
            finally:
                _restore(out)
                _clear(out)
            remember({file.path: (file.made_of, file.digest) for file in written if file.made_of})
    except OSError as error:
        raise SiteError(_told(error, new, out)) from error
    return len(written)


def _told(error: OSError, new: Path, out: Path) -> str:
    """What the system refused, by the path that the file would have had, and what stands there now."""
    where = str(error.filename or out).replace(str(new), str(out))
    left = "the site that was there stays" if (out / MARKER).is_file() else "no site was written"
    return f"{where}: {error.strerror or error}; {left}"


def arrange(files: Iterable[File]) -> dict[str, bytes]:
    """The files by path, sorted. Raises SiteError for a path that leaves the site, or one that two files want.

    Two paths that differ in case alone are one on many file systems, and so are the two spellings
    that Unicode has for some letters.
    """
    taken: dict[str, tuple[str, File]] = {}
    arranged: dict[str, File] = {}
    for file in files:
        _refuse_path(file)
        parts = file.path.split("/")
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth])
            whole = depth == len(parts)
            other_path, other = taken.setdefault(_folded(path), (path, file))
            is_shared_folder = other is not file and not whole and other_path == path and other.path != path
            if other is not file and not is_shared_folder:
                raise SiteError(f"two files want one path: {_named(other)} and {_named(file)}")
        arranged[file.path] = file
    return {path: arranged[path].data for path in sorted(arranged)}


def _named(file: File) -> str:
    return f"{file.path} (from {file.source})" if file.source else file.path


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _refuse_path(file: File) -> None:
    parts = file.path.split("/")
    bad = any(part in ("", ".", "..") or len(part.encode()) > 255 for part in parts)
    if bad or not file.path.isprintable() or "\\" in file.path or ":" in parts[0] or parts[0] == MARKER:
        raise SiteError(f"{_named(file)!r} is no path inside a site")


@contextlib.contextmanager
def _alone(parent: Path) -> Iterator[None]:
    """Hold a lock on the folder, where the system has such locks; it ends with the process."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    handle = os.open(parent, os.O_RDONLY)
    try:
        # Some network file systems have no locks; there, two builds at once are the user's to avoid.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _former(out: Path) -> Path:
    return out.with_name(f".{out.name}-firstfault-former")


def _restore(out: Path) -> None:
    """Finish what a build left that was killed between two renames."""
    former = _former(out)
    if not former.is_dir():
        return
    if out.exists():
        shutil.rmtree(former)
    else:
        former.rename(out)


def _refuse_foreign(out: Path) -> None:
    if not os.path.lexists(out):
        return
    if not out.is_dir():
        raise SiteError(f"{out}: is not a folder")
    if any(out.iterdir()) and not (out / MARKER).is_file():
        raise SiteError(f"{out}: holds something else than a site of ours (no {MARKER}); not replaced")


def _refuse_place(out: Path) -> None:
    if not out.name:
        raise SiteError(f"{out}: can't be a site")
    above = next(path for path in out.parents if os.path.lexists(path))
    if not above.is_dir():
        raise SiteError(f"{above}: is not a folder")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _fill(folder: Path, files: Mapping[str, bytes], makers: Sequence[Maker], count: int) -> list[File]:
    """Write all files; what comes back names them and holds nothing."""
    folder.mkdir()
    (folder / MARKER).write_bytes(_MARKER_TEXT)
    made = {""}
    untrimmed = 0

    def write(file: File) -> File:
        target, parent = f"{folder}/{file.path}", file.path.rpartition("/")[0]
        if parent not in made:
            os.makedirs(f"{folder}/{parent}", exist_ok=True)
            made.add(parent)
        if file.stands_at is None or not linked(file.stands_at, target):
            _write(target, file.data)
        known = file.digest or (digest(file.data) if file.made_of else "")
        return replace(file, data=b"", digest=known, stands_at=None)

    def make(maker: Maker) -> list[File]:
        nonlocal untrimmed
        written = []
        for file in maker():
            _refuse_path(file)
            untrimmed += len(file.data)
            written.append(write(file))
        if untrimmed > TRIMMED_BYTES:
            trim()
            untrimmed = 0
        return written

    written = [write(File(path, data)) for path, data in files.items()]
    written += [file for part in mapped(make, makers, count) for file in part]
    arrange(written)
    return written


def _write(target: str, data: bytes) -> None:
    # Without a buffer, which costs more than the writing of a small file.
    with open(target, "wb", buffering=0) as file:
        left = memoryview(data)
        while left:
            left = left[file.write(left) :]


def linked(file: Path, target: str | Path) -> bool:
    """Whether the file has this name, too, now."""
    with contextlib.suppress(OSError):
        if not file.is_symlink():
            os.link(file, target)
            return True
    return False


def _sync(folder: Path) -> None:
    """Have the new files on the disk before the name leads to them: one call for all where there is one."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if syncfs is None or syncfs(handle) != 0:
            for path in folder.rglob("*"):
                _sync_one(path)
    finally:
        os.close(handle)


def _sync_one(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _swap(new: Path, out: Path) -> None:
    """``out`` is the new folder, and what was there is under ``new`` or gone."""
    if not out.exists():
        new.rename(out)
    elif not _exchange(new, out):
        former = _former(out)
        out.rename(former)
        new.rename(out)
        # From here it is rubbish, and must not be taken for a site to restore.
        former.rename(new)


def _exchange(one: Path, other: Path) -> bool:
    """Let two names change places in one step; False, with nothing done, where the system can't."""
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    if renameat2 is None:
        return False
    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE, renameat2(2)
    return bool(renameat2(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def _new_prefix(out: Path) -> str:
    return f".{out.name}-firstfault-new-"


def _clear(out: Path) -> None:
    """Remove the folders of builds that ended or were killed.

    A killed build's indexer may live a moment longer and write on; what it leaves, the next build clears.
    """
    for path in out.parent.iterdir():
        if path.name.startswith(_new_prefix(out)):
            shutil.rmtree(path, onerror=_retry)


def _retry(remove: Callable[[str], object], name: str, error: object) -> None:
    """Remove what stands in a folder that somebody made read-only; what can't be removed stays for the next build."""
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(name), 0o700)
        remove(name)
