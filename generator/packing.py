"""Entries of which there are many, kept small: what links to them show is in memory, the rest in files.

An entry is packed in two parts, each unpacked for as long as somebody works on it. What stands in its folder is
read again when it is asked for.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple
from zlib import crc32

from .content import PROSE, FieldPath, LoadedEntry, Positions
from .model import Entry
from .parallel import trim
from .write import SiteError
from .yaml_document import positions_of

_KEPT = frozenset({"changes", "do_now", "quick_answer", "reviewed", "summary"})
_PARTS = (frozenset({"affected", "leads_to", "look_alikes", "signatures"}), PROSE - _KEPT)
"""What other pages may show, too, and what an entry's own page alone shows."""
_PART_OF = {name: number for number, names in enumerate(_PARTS) for name in names}
_NAME = "packed"
"""Under which a packed entry has its parts, which are no field."""
_UNPACKED = 32
"""So many parts stay unpacked at a time."""


def packed(loaded: LoadedEntry, folder: Path) -> LoadedEntry:
    """The same, small, of an entry that was loaded from ``folder``."""
    source = FilesOnDisk.of(folder, {"entry.yaml": loaded.positions.source.encode()})
    positions = _PositionsOnDisk(loaded.positions.path, source)
    return LoadedEntry(loaded.slug, _Packed.of(loaded.entry), positions, FilesOnDisk.of(folder, loaded.files))


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


class _Place(NamedTuple):
    """Where a packed part stands in a file."""

    file: IO[bytes]
    offset: int
    size: int


class _Packed(Entry):
    """An entry of which a part is unpacked when something of that is asked for."""

    @classmethod
    def of(cls, entry: Entry) -> Entry:
        fields = {name: getattr(entry, name) for name in Entry.model_fields}
        small = cls.model_construct(**fields)
        for name in _PART_OF:
            del small.__dict__[name]
        parts = ({name: fields[name] for name in names} for names in _PARTS)
        small.__dict__[_NAME] = [pickle.dumps(part, pickle.HIGHEST_PROTOCOL) for part in parts]
        return small

    def lay_aside(self, file: IO[bytes]) -> None:
        parts: list[bytes] = self.__dict__[_NAME]
        self.__dict__[_NAME] = [_Place(file, file.tell(), file.write(part)) for part in parts]

    def __getattr__(self, name: str) -> Any:
        number = _PART_OF.get(name)
        if number is None:
            return super().__getattr__(name)  # type: ignore[misc]
        return _unpacked(self.__dict__[_NAME][number])[name]


@lru_cache(_UNPACKED)
def _unpacked(part: bytes | _Place) -> dict[str, Any]:
    data = part if isinstance(part, bytes) else os.pread(part.file.fileno(), part.size, part.offset)
    fields: dict[str, Any] = pickle.loads(data)
    return fields


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
