"""The signature bundle and the index of ``find`` as they were made last, while nothing has changed that they are made from.

They are kept in the user's cache folder, for the commands that read logs: to read the content anew takes longer than
most logs. Whether a file has changed is told by its size and times, of which nobody can set the last; the program's
own files count, too. What is kept is taken only from a file of the user's own, and as it was written.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .cache import cache_folder

OWN = Path(__file__).parent
TICK_NANOSECONDS = 10_000_000
"""The clock by which Linux tells when a file changed ticks a hundred times a second, or oftener."""


def kept(content: Path, make: Callable[[], tuple[Mapping[str, Any], bool]], name: str) -> Mapping[str, Any]:
    """What is kept of a content folder under a name, made where it isn't there or something has changed.

    ``make`` gives it, and whether it may be kept. Raises what ``make`` does.
    """
    content = content.resolve()
    folder = cache_folder()
    if folder is None:
        return make()[0]
    key, newest = _key(content)
    place = folder / f"{name}-{hashlib.sha256(os.fsencode(content)).hexdigest()[:16]}.json"
    with suppress(OSError, ValueError):
        head, _, data = _own_file(place).partition(b"\n")
        if head == _head(key, data):
            bundle: Mapping[str, Any] = json.loads(data)
            return bundle
    _await_next_tick(newest)
    made, is_whole = make()
    if not is_whole:
        return made
    # A cache that can't be written is no cache; nobody has to hear of it.
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        new = place.with_suffix(f".{os.getpid()}")
        data = json.dumps(made).encode()
        new.write_bytes(_head(key, data) + b"\n" + data)
        new.replace(place)
    return made


def _await_next_tick(newest: int) -> None:
    """What changes twice within one tick has the same times twice; so nothing is read in the tick of its last change."""
    left = newest + TICK_NANOSECONDS - time.time_ns()
    if 0 < left <= TICK_NANOSECONDS:
        time.sleep(left / 1e9)


def _own_file(place: Path) -> bytes:
    """What the file holds. Raises OSError for what is none, or is another user's."""
    found = place.stat()
    if not stat.S_ISREG(found.st_mode) or (hasattr(os, "geteuid") and found.st_uid != os.geteuid()):
        raise PermissionError(f"{place}: not this user's file")
    return place.read_bytes()


def _head(key: str, data: bytes) -> bytes:
    """The first line: of what the bundle was made, and that it is as it was written."""
    return f"{key} {hashlib.sha256(data).hexdigest()}".encode()


def _key(content: Path) -> tuple[str, int]:
    """A digest of what is told of every file, and when the last one changed."""
    told, newest = hashlib.sha256(), 0
    folders = [(content / "failures", 1), (content / "lines", 0), (content / "taxonomy", 0), (OWN, 1)]
    for folder, deep in folders:
        for path in _files(folder, deep):
            text, changed = _told(path)
            told.update(text)
            newest = max(newest, changed)
    return told.hexdigest(), newest


def _told(path: str) -> tuple[bytes, int]:
    """Path, size, times and number of a file, and when it changed."""
    try:
        found = os.stat(path)
    except OSError:
        return f"{path}\0gone\0".encode("utf-8", "surrogateescape"), 0
    times = f"{found.st_mtime_ns}\0{found.st_ctime_ns}"
    text = f"{path}\0{found.st_size}\0{times}\0{found.st_ino}\0"
    return text.encode("utf-8", "surrogateescape"), found.st_ctime_ns


def _files(folder: Path, deep: int = 0) -> Iterator[str]:
    """Its YAML, Python and JSON files, and those of its folders, sorted; nothing where it can't be listed."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith((".yaml", ".py", ".json")):
            yield path
        elif deep and "." not in name and name != "__pycache__":
            yield from _files(Path(path), deep - 1)
