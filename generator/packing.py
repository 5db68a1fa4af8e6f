"""Entries of which there are many, kept small: what links to them show is in memory, the rest in files.

Of an entry each field is packed by itself, and unpacked for as long as somebody works on it. What stands in its folder
is read again when it is asked for.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import IO, Any
from zlib import crc32

from .content import PROSE, FieldPath, LoadedEntry, Positions
from .model import Entry
from .parallel import trim
from .write import SiteError
from .yaml_document import positions_of

_KEPT = frozenset({"changes", "do_now", "quick_answer", "reviewed", "summary"})
_LAID = tuple(sorted({"affected", "leads_to", "look_alikes", "signatures", *PROSE} - _KEPT))
"""The fields that are packed, each by itself: who goes through all entries asks for one or two."""
_INDEX = {name: number for number, name in enumerate(_LAID)}
_NAME = "packed"
"""Under which a packed entry has them, which is no field."""
_UNPACKED = 256
"""So many stay unpacked at a time."""


def packed(loaded: LoadedEntry, folder: Path) -> LoadedEntry:
    """The same, small, of an entry that was loaded from ``folder``."""
    source = FilesOnDisk.of(folder, {"entry.yaml": loaded.positions.source.encode()})
    positions = _PositionsOnDisk(loaded.positions.path, source)
    small = LoadedEntry(
        loaded.slug, _Packed.of(loaded.entry), positions, FilesOnDisk.of(folder, loaded.files)
    )
    small.__dict__["shown"] = loaded.shown
    return small


def whole(entry: Entry) -> Entry:
    """The entry with all its fields, for who goes through them without asking for each by its name."""
    if not isinstance(entry, _Packed):
        return entry
    return Entry.model_construct(**{name: getattr(entry, name) for name in Entry.model_fields})


def lay_aside(entries: Iterable[Entry]) -> None:
    """Put what is packed into a file without a name, which this process and those that it forks can read."""
    if not hasattr(os, "pread"):
        return
    file = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as a part may be asked for
    for entry in entries:
        if isinstance(entry, _Packed):
            entry.lay_aside(file)
    file.flush()
    trim()


@dataclass(frozen=True, slots=True)
class _Places:
    """Where an entry's packed fields stand in a file: each from one of the offsets to the next."""

    file: IO[bytes]
    offsets: array[int]

    def unpacked(self, number: int) -> Any:
        return _unpacked(self.file, self.offsets[number], self.offsets[number + 1])


@lru_cache(_UNPACKED)
def _unpacked(file: IO[bytes], start: int, end: int) -> Any:
    return pickle.loads(os.pread(file.fileno(), end - start, start))


class _Packed(Entry):
    """An entry of which a field is unpacked when it is asked for."""

    @classmethod
    def of(cls, entry: Entry) -> Entry:
        fields = {name: getattr(entry, name) for name in Entry.model_fields}
        small = cls.model_construct(**fields)
        for name in _LAID:
            del small.__dict__[name]
        small.__dict__[_NAME] = [pickle.dumps(fields[name], pickle.HIGHEST_PROTOCOL) for name in _LAID]
        return small

    def lay_aside(self, file: IO[bytes]) -> None:
        packed: list[bytes] = self.__dict__[_NAME]
        offsets = array("Q", accumulate(map(len, packed), initial=file.tell()))
        file.writelines(packed)
        self.__dict__[_NAME] = _Places(file, offsets)

    def __getattr__(self, name: str) -> Any:
        number = _INDEX.get(name)
        if number is None:
            return super().__getattr__(name)  # type: ignore[misc]
        packed: list[bytes] | _Places = self.__dict__[_NAME]
        return packed.unpacked(number) if isinstance(packed, _Places) else pickle.loads(packed[number])


@dataclass(frozen=True, slots=True)
class FilesOnDisk(Mapping[str, bytes]):
    """Files of a folder, each read whenever it is asked for. Raises SiteError where one isn't as it was."""

    folder: Path
    known: Mapping[str, tuple[int, int]]
    """Size and checksum by name."""

    @classmethod
    def of(cls, folder: Path, files: Mapping[str, bytes]) -> FilesOnDisk:
        return cls(folder, {name: (len(data), crc32(data)) for name, data in files.items()})

    def __getitem__(self, name: str) -> bytes:
        known = self.known[name]
        path = self.folder / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise SiteError(f"{path}: {error.strerror}, and was there when the build began") from error
        if (len(data), crc32(data)) != known:
            raise SiteError(f"{path}: changed since the build began")
        return data

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


class _PositionsOnDisk(Positions):
    """Places in an entry.yaml, found when one is asked for."""

    def __init__(self, path: str, files: FilesOnDisk) -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "files", files)

    def __reduce__(self) -> tuple[object, ...]:
        return _PositionsOnDisk, (self.path, self.files)

    files: FilesOnDisk

    @property
    def source(self) -> str:
        return self.files["entry.yaml"].decode()

    @property
    def places(self) -> Mapping[FieldPath, tuple[int, int]]:
        return positions_of(self.path, self.source).places

    @property
    def scalars(self) -> Mapping[FieldPath, tuple[int, str]]:
        return positions_of(self.path, self.source).scalars
