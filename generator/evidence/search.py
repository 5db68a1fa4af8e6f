"""A release's sources → which of the signatures' messages stand in it, where."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from zipfile import ZipFile, ZipInfo

from ..model import Signature, Source
from . import match
from .messages import Message, messages

SPECIFIC = 24
"""Bytes of a literal that is looked for in any file; a shorter one counts only in the file that is named."""


@dataclass(frozen=True)
class Wanted:
    """A signature of an entry whose source can be fetched."""

    slug: str
    signature: Signature
    source: Source
    package: str

    @property
    def name(self) -> str:
        return f"{self.slug}/{self.signature.id}"

    @cached_property
    def in_python(self) -> bool:
        return self.source.file.endswith(".py")

    @cached_property
    def base(self) -> str:
        return PurePosixPath(self.source.file).name

    @cached_property
    def literal(self) -> bytes | None:
        """As it stands in a file."""
        return self.source.literal.encode() if self.source.literal else None

    @cached_property
    def compiled(self) -> bytes:
        """What a library holds of it: the literal without its placeholders' neighbours, or the text's longest piece."""
        if self.source.literal:
            return re.sub(r"\\n", "\n", self.source.literal).encode()
        pieces = re.split(r"\{\w+(?::\w+)?\}", self.signature.text)
        return max(pieces, key=len).replace("{{", "{").replace("}}", "}").encode()

    @cached_property
    def patterns(self) -> tuple[match.Pattern, ...]:
        """The text, and the literal where there is one."""
        text = match.of_signature(self.signature.text)
        return (text, match.of_literal(self.source.literal)) if self.source.literal else (text,)


@dataclass(frozen=True)
class Hit:
    """A file that has the message: the line of the whole text, of the literal, or of both."""

    file: str
    text: int | None
    literal: int | None

    @property
    def line(self) -> int:
        return self.text or self.literal or 1


class Searcher:
    """Looks through releases one by one; a file that didn't change is looked at once."""

    def __init__(self, wanted: Iterable[Wanted]) -> None:
        self._wanted = tuple(wanted)
        self._known: dict[tuple[str, int, int, str], Hit | None] = {}
        self._last: dict[str, str] = {}

    def search(self, sources: ZipFile) -> dict[str, list[Hit]]:
        """For each signature's name the files of the release that have it, the most likely first."""
        files = [_File(sources, info) for info in sources.infolist()]
        return {wanted.name: self._hits(wanted, files) for wanted in self._wanted}

    def _hits(self, wanted: Wanted, files: list[_File]) -> list[Hit]:
        """In the files of the named name, or where it stood in the last release; in all, where it isn't there."""
        of_kind = [file for file in files if file.is_python == wanted.in_python]
        last = self._last.get(wanted.name)
        likely = [file for file in of_kind if file.base == wanted.base or file.path == last]
        hits = self._in(wanted, likely)
        if not any(hit.text and (hit.literal or not wanted.literal) for hit in hits):
            hits = self._in(wanted, of_kind)
        hits.sort(key=lambda hit: _likelihood(hit, wanted.source.file))
        if hits:
            self._last[wanted.name] = hits[0].file
        return hits

    def _in(self, wanted: Wanted, files: Iterable[_File]) -> list[Hit]:
        hits = []
        for file in files:
            key = (*file.key, wanted.name)
            if key not in self._known:
                self._known[key] = _hit(wanted, file)
            if hit := self._known[key]:
                hits.append(hit)
        return hits


class _File:
    """A file of a release, read as far as it is needed."""

    def __init__(self, sources: ZipFile, info: ZipInfo) -> None:
        self._sources, self._info = sources, info
        self.path = info.filename
        self.base = info.filename.rpartition("/")[2]
        self.is_python = info.filename.endswith(".py")
        self.key = (info.filename, info.CRC, info.file_size)

    @cached_property
    def data(self) -> bytes:
        return self._sources.read(self._info)

    @cached_property
    def words(self) -> frozenset[str]:
        return match.words_of(self.data.decode("utf-8", "replace"))

    @cached_property
    def messages(self) -> tuple[tuple[Message, match.Pattern], ...]:
        return tuple((one, match.of_pieces(one.pieces)) for one in messages(self.data))

    def may_hold(self, pattern: match.Pattern) -> bool:
        """Whether it has most of the pattern's words, and half of its pairs of words; holes may hold the others."""
        held = sum(len(word) for word in pattern.words if word in self.words)
        if not held or held < match.SHARE * pattern.in_words:
            return False
        pairs = sum(pair.encode() in self.data for pair in pattern.pairs)
        return pairs * 2 >= len(pattern.pairs)


def _hit(wanted: Wanted, file: _File) -> Hit | None:
    literal = _line(file.data, wanted.literal) if wanted.literal else None
    text = None
    if not file.is_python:
        text = None if wanted.literal else _line(file.data, wanted.compiled)
    elif any(map(file.may_hold, wanted.patterns)):
        text = _message_line(wanted.patterns[0], file.messages)
        if literal is None and wanted.literal:
            literal = _message_line(wanted.patterns[1], file.messages)
    if literal and not text and file.base != wanted.base and len(wanted.literal or b"") < SPECIFIC:
        literal = None
    return Hit(file.path, text, literal) if text or literal else None


def _line(data: bytes, text: bytes) -> int | None:
    at = data.find(text)
    return None if at < 0 else data.count(b"\n", 0, at) + 1


def _message_line(pattern: match.Pattern, read: Iterable[tuple[Message, match.Pattern]]) -> int | None:
    """The line of the message that holds most of the pattern."""
    best, line = 0, None
    for message, upstream in read:
        if match.shares_words(pattern, upstream):
            held = match.held_letters(pattern, upstream)
            if held > best and match.is_enough(held, pattern):
                best, line = held, message.line
    return line


def _likelihood(hit: Hit, file: str) -> tuple[bool, bool, bool, str]:
    """The named file first, then one of its name, then what has the whole text."""
    named, found = PurePosixPath(file), PurePosixPath(hit.file)
    same = found.parts[-len(named.parts) :] == named.parts or named.parts[-len(found.parts) :] == found.parts
    return not same, found.name != named.name, hit.text is None, hit.file
