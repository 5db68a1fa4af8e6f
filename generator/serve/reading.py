"""A content folder as it was read last: after a change, only what changed is read again.

Whether a file has changed is told by whoever saw it change. Who may have missed something asks ``missed``, which
looks at every file's size, times and number. What was young when it was read may change again within one tick
of the clock of its file system, with all of these as they were; so its bytes are compared until it isn't young.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..content import Content
from ..finding import Finding
from ..load import Read, entry_names, is_visible, load_entry, load_rest, with_entries
from ..parallel import mapped

YOUNG_SECONDS = 2.5
"""The coarsest clock of a file system that is met, FAT's, ticks every two seconds."""

Told = tuple[tuple[str, int, int, int, int], ...]
"""Of each file: its name, size, times and number."""


@dataclass(frozen=True)
class _Kept:
    """An entry as it was read, and what its folder told just before."""

    read: Read
    told: Told
    young: bool


class Reading:
    """The entries and the rest of a content folder, each as it was read last."""

    def __init__(self, root: Path, count: int = 1) -> None:
        """Read all, by ``count`` processes."""
        self.root = root
        names, self._of_folder = entry_names(root)
        self._entries = dict(zip(names, mapped(partial(_read, root), names, count), strict=True))
        self._rest, self._of_rest = load_rest(root)
        self._again: set[str] = set()
        self.content = self._put_together()

    @property
    def findings(self) -> list[Finding]:
        """What doesn't load."""
        of_entries = (finding for name in self.content.broken for finding in self._entries[name].read[1])
        return sorted([*self._of_rest, *self._of_folder, *of_entries])

    @property
    def names(self) -> frozenset[str]:
        """Of the entries, whether or not they load."""
        return frozenset(self._entries)

    def look(self, paths: Iterable[Path]) -> tuple[frozenset[str], bool]:
        """Read again what these paths are or are in: the entries that differ, and whether the rest does.

        What a former look read while it was young is read again, too.
        """
        names, self._again = self._again, set()
        is_rest = False
        for path in paths:
            parts = self._within(path)
            if parts[:1] != ("failures",):
                is_rest |= is_visible(parts[0]) if parts else True
            elif len(parts) > 1:
                names.add(parts[1])
            else:
                found, self._of_folder = entry_names(self.root)
                names |= self._entries.keys() ^ set(found)
        changed = frozenset(name for name in names if is_visible(name) and self._read_again(name))
        is_rest = is_rest and self._read_rest_again()
        if changed or is_rest:
            self.content = self._put_together()
        return changed, is_rest

    def missed(self) -> list[Path]:
        """What has changed since it was read, as far as that can be told; and the rest, which is quickly read."""
        found, _ = entry_names(self.root)
        names = {name for name, kept in self._entries.items() if self._may_differ(name, kept)}
        names |= self._entries.keys() ^ set(found)
        return [*(self.root / "failures" / name for name in sorted(names)), self.root]

    def _within(self, path: Path) -> tuple[str, ...]:
        for root in (self.root, self.root.resolve()):
            if path.is_relative_to(root):
                return path.relative_to(root).parts
        return ()

    def _put_together(self) -> Content:
        return with_entries(self._rest, {name: self._entries[name].read for name in sorted(self._entries)})

    def _may_differ(self, name: str, kept: _Kept) -> bool:
        folder = self.root / "failures" / name
        return kept.told != _told(folder) or (kept.young and not _holds(folder, kept))

    def _read_again(self, name: str) -> bool:
        before = self._entries.get(name)
        if not os.path.lexists(self.root / "failures" / name):
            self._entries.pop(name, None)
            return before is not None
        now = _read(self.root, name)
        if now.young:
            self._again.add(name)
        if before is None or not _is_same(before.read, now.read):
            self._entries[name] = now
            return True
        self._entries[name] = _Kept(before.read, now.told, now.young)
        return False

    def _read_rest_again(self) -> bool:
        before, told = self._rest, self._of_rest
        self._rest, self._of_rest = load_rest(self.root)
        return told != self._of_rest or _sources(before) != _sources(self._rest)


def _read(root: Path, name: str) -> _Kept:
    begun = time.time_ns()
    told = _told(root / "failures" / name)
    newest = max((moment for _, _, *times, _ in told for moment in times), default=0)
    return _Kept(load_entry(root, name), told, newest > begun - YOUNG_SECONDS * 1e9)


def _told(folder: Path) -> Told:
    return tuple(sorted(_of_files(folder)))


def _of_files(folder: Path) -> Iterator[tuple[str, int, int, int, int]]:
    try:
        with os.scandir(folder) as files:
            names = ["", *(file.name for file in files if is_visible(file.name))]
    except OSError:
        names = [""]
    for name in names:
        try:
            found = os.stat(folder / name)
        except OSError:
            yield name, -1, 0, 0, 0
        else:
            yield name, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _holds(folder: Path, kept: _Kept) -> bool:
    """Whether the folder's files are still those that were read."""
    loaded, findings = kept.read
    # What isn't a file, as a pipe, is a finding, and may never end.
    if loaded is None or findings:
        return False
    try:
        files = {name: (folder / name).read_bytes() for name, *_ in kept.told if name}
    except OSError:
        return False
    source = files.pop("entry.yaml", None)
    return source == loaded.positions.source.encode() and files == loaded.files


def _is_same(one: Read, other: Read) -> bool:
    """Whether the two were read from the same bytes, as far as anything of them shows."""
    (entry, findings), (other_entry, other_findings) = one, other
    if findings != other_findings or (entry is None) != (other_entry is None):
        return False
    if entry is None or other_entry is None:
        return True
    return entry.positions.source == other_entry.positions.source and entry.files == other_entry.files


def _sources(rest: Content) -> tuple[object, ...]:
    """What the documents and files beside the entries hold."""
    sources = {path: positions.source for path, positions in rest.positions.items()}
    return sources, dict(rest.healthy), dict(rest.evidence)
