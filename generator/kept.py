"""The signature bundle as it was made last, while nothing has changed that it is made from.

It is kept in the user's cache folder, for the commands that read logs: to read the content anew takes longer than
most logs. Whether a file has changed is told by its size and time; the program's own files count, too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

OWN = Path(__file__).parent


def kept(content: Path, make: Callable[[], tuple[Mapping[str, Any], bool]]) -> Mapping[str, Any]:
    """The bundle of a content folder, made where it isn't kept or something has changed.

    ``make`` gives the bundle, and whether it may be kept. Raises what ``make`` does.
    """
    content = content.resolve()
    key = _key(content)
    place = _folder() / f"bundle-{hashlib.sha256(os.fsencode(content)).hexdigest()[:16]}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        was = json.loads(place.read_bytes())
        if was["key"] == key:
            bundle: Mapping[str, Any] = was["bundle"]
            return bundle
    made, is_whole = make()
    if not is_whole:
        return made
    # A cache that can't be written is no cache; nobody has to hear of it.
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps({"key": key, "bundle": made}), encoding="utf-8")
        new.replace(place)
    return made


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "firstfault"


def _key(content: Path) -> str:
    told = hashlib.sha256()
    for path in (*_files(content / "failures", 1), *_files(content / "lines"), *_files(content / "taxonomy")):
        told.update(_told(path))
    for path in _files(OWN, 1):
        told.update(_told(path))
    return told.hexdigest()


def _told(path: str) -> bytes:
    try:
        found = os.stat(path)
    except OSError:
        return f"{path}\0gone\0".encode("utf-8", "surrogateescape")
    return f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}\0".encode(
        "utf-8", "surrogateescape"
    )


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
