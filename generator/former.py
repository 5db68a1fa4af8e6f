"""What of the former site need not be made again: an entry's files, where nothing has changed that they are made from.

The user's cache folder has, of each site, a digest of what each such file was made from, and one of the file. An
entry's page and documents are made from its folder; from what they show of other entries (``PROSE`` is what they
don't); and from all else that pages are made from: taxonomy, hubs, texts, templates, this program, what it uses,
and the addresses. A file that isn't as it was written is made again, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path

from .cache import cache_folder
from .content import Content, LoadedEntry
from .write import File, Made, Maker, digest

_USED = ("jinja2", "markdown-it-py", "markupsafe", "mdurl", "pydantic", "pygments")
_OWN = Path(__file__).parent


def keys(content: Content, root: Path, addresses: Iterable[str]) -> dict[str, str]:
    """By slug, a digest of all that the entry's files are made from."""
    common = hashlib.sha256(repr(tuple(addresses)).encode())
    shown = [loaded.shown for loaded in content.entries]
    for part in (*_program(), *_folder(root / "templates"), *_beside(content), *shown):
        common.update(len(part).to_bytes(8, "big") + part)
    return {loaded.slug: _key(common.copy(), loaded) for loaded in content.entries}


def _key(told: hashlib._Hash, loaded: LoadedEntry) -> str:
    for part in (loaded.positions.source.encode(), *_pairs(loaded.files)):
        told.update(len(part).to_bytes(8, "big") + part)
    return told.hexdigest()[:32]


def _beside(content: Content) -> Iterable[bytes]:
    sources = {path: positions.source.encode() for path, positions in content.positions.items()}
    return [*_pairs(sources), *_pairs(content.evidence), *_pairs(content.healthy)]


def _program() -> Iterable[bytes]:
    versions = {name: metadata.version(name).encode() for name in _USED}
    return [platform.python_version().encode(), *_pairs(versions), *_folder(_OWN)]


def _folder(folder: Path) -> Iterable[bytes]:
    """Path and bytes of every file that is no compiled Python."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return _pairs({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})


def _pairs(named: Mapping[str, bytes]) -> list[bytes]:
    return [part for name in sorted(named) for part in (name.encode(), named[name])]


@dataclass(frozen=True)
class Former:
    """The site at ``folder``, and what is known of its files, by their paths."""

    folder: Path
    made: Made

    @classmethod
    def at(cls, folder: Path) -> Former:
        folder = folder.resolve()
        try:
            told = json.loads(_record(folder).read_bytes())
            return cls(folder, {path: (made_of, found) for path, (made_of, found) in told.items()})
        except (OSError, ValueError, TypeError, AttributeError):
            return cls(folder, {})

    def renew(self, made: Made) -> None:
        """Keep what is known of the site that has taken this one's place. Where it can't be kept, the next makes all."""
        with suppress(OSError):
            record = _record(self.folder)
            record.parent.mkdir(parents=True, exist_ok=True)
            new = record.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(made))
            new.replace(record)

    def or_made(self, path: str, made_of: str, make: Maker) -> Maker:
        """What makes the file at ``path``, unless it is here already."""
        return partial(self._files, path, made_of, make)

    def _files(self, path: str, made_of: str, make: Maker) -> list[File]:
        data = self._data(path, made_of)
        if data is None:
            return [replace(file, made_of=made_of) for file in make()]
        stands_at = self.folder / path
        return [File(path, data, made_of=made_of, digest=self.made[path][1], stands_at=stands_at)]

    def _data(self, path: str, made_of: str) -> bytes | None:
        was_made_of, found = self.made.get(path, ("", ""))
        if was_made_of != made_of:
            return None
        try:
            data = (self.folder / path).read_bytes()
        except OSError:
            return None
        return data if digest(data) == found else None


def _record(folder: Path) -> Path:
    """Where it is kept what is known of the site at ``folder``. Raises FileNotFoundError for a user without a home."""
    cache = cache_folder()
    if cache is None:
        raise FileNotFoundError
    return cache / f"site-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}.json"
