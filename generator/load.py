"""A content folder → ``Content`` with the place of every field, and findings.

Nothing here raises for what a folder may hold: whatever can't be read, isn't YAML of the allowed kind or
doesn't fit the models is a finding. Links that lead out of the folder are not followed. Names that start
with a dot belong to tools (editors, git) and are not content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import TypeAdapter

from . import packing
from .content import Content, LoadedEntry, Positions, TextPage
from .finding import Explanation, Finding, printable, shown
from .model import (
    Entry,
    Family,
    Hub,
    Inline,
    LinePattern,
    LineSet,
    Package,
    Part,
    Phase,
    Plain,
    Slug,
    System,
    Tag,
)
from .parallel import mapped
from .validate import did_you_mean, validate, with_stand_ins
from .yaml_document import compose, decode, read_document

T = TypeVar("T")
MAX_FILE_BYTES = 4_000_000
MAX_RECORD_BYTES = 64_000_000
"""Of what is recorded of all entries: some hundred bytes for each log."""
PACKED = 3_000
"""Entries from which on they are packed: memory then counts for more than the time that it takes."""
FOLDERS = ("evidence", "failures", "healthy", "hubs", "lines", "pages", "taxonomy")
SCHEMA_FILE = "entry.schema.json"


Read = tuple[LoadedEntry | None, list[Finding]]
"""What an entry's folder holds, as far as it can be read, and what is wrong with it."""


def load(root: Path, count: int = 1) -> tuple[Content, list[Finding]]:
    """Everything in the content folder ``root``, sorted, and what is wrong with it; read by ``count`` processes.

    An entry or other document with an error is not in the content. Paths of findings start with the
    folder's own name.
    """
    rest, findings = load_rest(root)
    names, of_folder = entry_names(root)
    many = len(names) >= PACKED
    read = partial(load_packed if many else load_entry, root)
    reads = dict(zip(names, mapped(read, names, count), strict=True))
    if many:
        packing.lay_aside(loaded.entry for loaded, _ in reads.values() if loaded)
    of_entries = (finding for _, found in reads.values() for finding in found)
    return with_entries(rest, reads), sorted([*findings, *of_folder, *of_entries])


def load_rest(root: Path) -> tuple[Content, list[Finding]]:
    """All but the entries."""
    loader = _Loader(root)
    return loader.rest(), loader.findings


def entry_names(root: Path) -> tuple[list[str], list[Finding]]:
    """What the folder of the entries holds, sorted."""
    loader = _Loader(root)
    return loader.names(root / "failures"), loader.findings


def load_entry(root: Path, name: str) -> Read:
    """What stands under this name among the entries."""
    loader = _Loader(root)
    return loader.entry(root / "failures" / name), loader.findings


def load_packed(root: Path, name: str) -> Read:
    """The same, small where nothing is wrong with it."""
    loaded, findings = load_entry(root, name)
    return packing.packed(loaded, root / "failures" / name) if loaded and not findings else loaded, findings


def with_entries(rest: Content, reads: Mapping[str, Read]) -> Content:
    """The content with the entries that were read, in their order."""
    right, damaged, broken = [], [], []
    for name, (loaded, findings) in reads.items():
        if loaded is not None and not findings:
            right.append(loaded)
            continue
        broken.append(name)
        if loaded is not None:
            damaged.append(loaded)
    return replace(rest, entries=tuple(right), damaged=tuple(damaged), broken=frozenset(broken))


class PageHead(Part):
    """The front matter of a text page."""

    title: Plain
    description: Inline


@dataclass
class _Loader:
    """Walks one folder; findings and positions gather as it goes."""

    root: Path
    findings: list[Finding] = field(default_factory=list)
    positions: dict[str, Positions] = field(default_factory=dict)

    def rest(self) -> Content:
        self._look_for_strays()
        taxonomy = self.root / "taxonomy"
        return Content(
            phases=self._required_list(taxonomy / "phases.yaml", Phase),
            families=self._required_list(taxonomy / "families.yaml", Family),
            systems=self._required_list(taxonomy / "systems.yaml", System),
            tags=self._required_list(taxonomy / "tags.yaml", Tag),
            packages=self._required_list(taxonomy / "packages.yaml", Package),
            entries=(),
            hubs=tuple(self._hubs()),
            lines=tuple(self._lines()),
            pages=tuple(self._pages()),
            healthy=MappingProxyType({file.name: data for file, data in self._files("healthy", ".log")}),
            evidence=MappingProxyType(
                {file.name: data for file, data in self._files("evidence", ".json", MAX_RECORD_BYTES)}
            ),
            positions=MappingProxyType(self.positions),
        )

    def report(self, path: Path, code: str, message: str, hint: str = "") -> None:
        self.findings.append(Finding(self._shown(path), 1, 1, code, "error", message, hint))

    def _shown(self, path: Path) -> str:
        """The path for findings: from the content folder's own name on, with '/', and printable."""
        parts = (self.root.resolve().name, *path.relative_to(self.root).parts)
        return "/".join(map(printable, parts))

    def _look_for_strays(self) -> None:
        for path in self._listing(self.root):
            if path.name not in FOLDERS and path.name != SCHEMA_FILE:
                hint = did_you_mean(path.name, FOLDERS) or "content is in " + ", ".join(FOLDERS)
                self.report(path, "stray-file", f"nothing reads {shown(path.name)}", hint)
        for path in self._listing(self.root / "taxonomy"):
            names = ("families.yaml", "packages.yaml", "phases.yaml", "systems.yaml", "tags.yaml")
            if path.name not in names:
                self.report(
                    path, "stray-file", f"nothing reads {shown(path.name)}", did_you_mean(path.name, names)
                )

    def entry(self, folder: Path) -> LoadedEntry | None:
        if not self._stays_inside(folder):
            return None
        if not folder.is_dir():
            hint = "an entry is a folder with entry.yaml"
            self.report(folder, "stray-file", f"{shown(folder.name)} is no folder", hint)
            return None
        if not is_slug(folder.name):
            message = f"the folder's name {shown(folder.name)} is no slug"
            self.report(
                folder, "bad-slug", message, "lower-case letters, digits and single hyphens, at most 80"
            )
        files = {path.name: self._bytes(path) for path in self._listing(folder)}
        document = files.pop("entry.yaml", None)
        path = folder / "entry.yaml"
        if document is None:
            if _is_missing(path):
                self.report(path, "missing-file", "the entry's folder has no entry.yaml")
            return None
        read, findings = read_document(self._shown(path), document)
        self.findings += findings
        if read is None:
            return None
        entry, more = validate(Entry, read, findings)
        self.findings += more
        entry = entry or with_stand_ins(Entry, read)
        if entry is None:
            return None
        # What can't be read is told; it is there all the same.
        kept = {name: data or b"" for name, data in files.items()}
        loaded = LoadedEntry(folder.name, entry, read.positions, kept)
        # Told here, where several processes load.
        _ = loaded.shown
        return loaded

    def _hubs(self) -> Iterator[Hub]:
        for path, data in self._files("hubs", ".yaml"):
            hub, positions = self._document(path, data, Hub)
            if hub is not None:
                self.positions[positions.path] = positions
                yield hub

    def _lines(self) -> Iterator[LinePattern]:
        for path, data in self._files("lines", ".yaml"):
            lines, positions = self._document(path, data, LineSet)
            if lines is not None:
                self.positions[positions.path] = positions
                yield from lines.lines

    def _pages(self) -> Iterator[TextPage]:
        for path, data in self._files("pages", ".md"):
            page = self._page(path, data)
            if page is not None:
                self.positions[page.positions.path] = page.positions
                yield page

    def _page(self, path: Path, data: bytes) -> TextPage | None:
        name = self._shown(path)
        if not is_slug(path.stem):
            message = f"the page's name {shown(path.stem)} is no slug"
            self.report(path, "bad-slug", message, "lower-case letters, digits and single hyphens")
        text, findings = decode(name, data)
        self.findings += findings
        if text is None:
            return None
        front = _FRONT_MATTER.match(text)
        if front is None:
            hint = "start with '---', title: and description:, '---'"
            self.report(path, "front-matter", "the page has no front matter", hint)
            return None
        document, findings = compose(name, text[: front.end("head")])
        self.findings += findings
        if document is None:
            return None
        head, more = validate(PageHead, document, findings)
        self.findings += more
        if head is None or findings:
            return None
        body = front.end()
        places = {**document.positions.places, ("body",): (text.count("\n", 0, body) + 1, 1)}
        scalars = {**document.positions.scalars, ("body",): (body, "")}
        positions = Positions(name, MappingProxyType(places), text, MappingProxyType(scalars))
        return TextPage(path.stem, head.title, head.description, text[body:].replace("\r\n", "\n"), positions)

    def _required_list(self, path: Path, kind: type[T]) -> tuple[T, ...]:
        if _is_missing(path):
            self.report(path, "missing-file", "this file of the taxonomy is missing")
            return ()
        data = self._bytes(path)
        return () if data is None else self._list(path, data, kind)

    def _list(self, path: Path, data: bytes, kind: type[T]) -> tuple[T, ...]:
        items, positions = self._document(path, data, tuple[kind, ...])  # type: ignore[valid-type]
        if items is None:
            return ()
        self.positions[positions.path] = positions
        return items

    def _document(self, path: Path, data: bytes, kind: type[T]) -> tuple[T | None, Positions]:
        name = self._shown(path)
        document, findings = read_document(name, data)
        self.findings += findings
        if document is None:
            return None, Positions(name)
        value, more = validate(kind, document, findings)
        self.findings += more
        return (None if findings else value), document.positions

    def _files(self, folder: str, suffix: str, most: int = MAX_FILE_BYTES) -> Iterator[tuple[Path, bytes]]:
        for path in self._listing(self.root / folder):
            if path.suffix != suffix:
                self.report(path, "stray-file", f"only {suffix} files are read here", "")
            elif (data := self._bytes(path, most)) is not None:
                yield path, data

    def _listing(self, folder: Path) -> list[Path]:
        """What the folder holds, sorted by name, without hidden names and what leads out."""
        paths = [folder / name for name in self.names(folder)]
        return [path for path in paths if self._stays_inside(path)]

    def names(self, folder: Path) -> list[str]:
        """The names in the folder, sorted, without hidden ones; none where it isn't there."""
        try:
            return sorted(filter(is_visible, os.listdir(folder)))
        except FileNotFoundError:
            return []
        except OSError as error:
            self.report(folder, "unreadable", f"can't be listed: {error.strerror}")
            return []

    def _stays_inside(self, path: Path) -> bool:
        try:
            inside = not path.is_symlink() or path.resolve(strict=True).is_relative_to(self.root.resolve())
        except PermissionError as error:
            self.report(path, "unreadable", f"can't be read: {error.strerror}")
            return False
        except (OSError, RuntimeError):
            inside = False
        if not inside:
            self.report(path, "link-out", _LEADS_OUT, "put the file itself there")
        return inside

    def _bytes(self, path: Path, most: int = MAX_FILE_BYTES) -> bytes | None:
        """What the file holds; None, and a finding, where it can't be read as a file of a sensible size."""
        try:
            if not path.is_file():
                self.report(path, "stray-file", f"{shown(path.name)} is not a file")
                return None
            with path.open("rb") as file:
                # Asked for more than there is, a system call would be given megabytes to fill.
                size = os.fstat(file.fileno()).st_size
                data = file.read(min(size, most) + 1)
        except OSError as error:
            self.report(path, "unreadable", f"can't be read: {error.strerror}")
            return None
        if len(data) > most:
            hint = "keep what is needed; of a log, the lines around the error"
            self.report(path, "too-large", f"the file has over {most} bytes", hint)
            return None
        return data


def _is_missing(path: Path) -> bool:
    """Whether nothing has this name; not where the system doesn't say."""
    try:
        path.lstat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


_LEADS_OUT = "a symbolic link that leads nowhere or out of the content folder"
_FRONT_MATTER = re.compile(r"(?P<head>---\r?\n(?:(?!---\r?\n).*\n)*)---\r?\n")
_SLUG: TypeAdapter[str] = TypeAdapter(Slug)


def is_visible(name: str) -> bool:
    """Whether a file or folder of this name is content, not a tool's."""
    return not name.startswith((".", "__pycache__"))


def is_slug(name: str) -> bool:
    """Whether the name can be an entry's."""
    try:
        _SLUG.validate_python(name)
    except ValueError:
        return False
    return True


CODES: Mapping[str, Explanation] = {
    "missing-file": Explanation(
        "A file that has to be there isn't: an entry's entry.yaml, or one of the taxonomy."
    ),
    "stray-file": Explanation("A file or folder that nothing reads: in the wrong place, or wrongly named."),
    "unreadable": Explanation("The system refused to open the file or to list the folder."),
    "link-out": Explanation("Symbolic links may not lead out of the content folder."),
    "front-matter": Explanation(
        "A page of content/pages starts with its title and description between two lines of three hyphens.",
        "# About",
        "---\ntitle: About\ndescription: Who writes this.\n---\n# About",
    ),
}
