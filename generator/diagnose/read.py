"""Files, folders, archives and standard input → streams of bytes in UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from .scan import Stream

SKIPPED = frozenset(
    (
        ".pt",
        ".pth",
        ".bin",
        ".safetensors",
        ".ckpt",
        ".npy",
        ".npz",
        ".pkl",
        ".parquet",
        ".arrow",
        ".so",
        ".o",
        ".a",
        ".pyc",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".pdf",
        ".zip",
        ".tar",
        ".tgz",
        ".bz2",
        ".xz",
        ".7z",
        ".whl",
        ".exe",
        ".dll",
        ".db",
        ".sqlite",
        ".json",
        ".yaml",
        ".yml",
        ".py",
        ".sh",
        ".html",
        ".css",
        ".js",
        ".md",
    )
)
"""Endings of files in a folder that are no logs; a file that is named itself is always read."""

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True)
class Source:
    """A log: its name as it is told, and how to open it. ``open`` raises OSError or ValueError."""

    name: str
    open: Callable[[], Stream]


def sources_of(arguments: list[str]) -> Iterator[Source | str]:
    """The logs that the arguments name; a string is why one can't be read."""
    for argument in arguments:
        if argument == "-":
            yield Source("-", lambda: _decoded(_buffered(cast(BinaryIO, sys.stdin.buffer))))
            continue
        path = Path(argument)
        if not argument:
            yield "'': no name of a file or folder"
        elif path.is_dir():
            yield from _of_folder(path)
        elif path.exists():
            yield _of_file(path)
        else:
            yield f"{argument}: no such file or folder"


def _of_folder(folder: Path) -> Iterator[Source | str]:
    found = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            if not name.startswith(".") and path.suffix.lower() not in SKIPPED and path.is_file():
                found += 1
                yield _of_file(path)
    if not found:
        yield f"{folder}: holds no log"


def _of_file(path: Path) -> Source:
    return Source(path.as_posix(), lambda: _opened(path))


def _opened(path: Path) -> Stream:
    raw = path.open("rb", buffering=0)
    start = _peeked(raw)
    if start.startswith(b"\x1f\x8b"):
        return _decoded(_buffered(cast(BinaryIO, gzip.GzipFile(fileobj=raw))))
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return _decoded(_buffered(_zstandard(raw)))
    if any(start.startswith(mark) for mark, _ in _MARKS):
        return _decoded(_buffered(cast(BinaryIO, raw)))
    return cast(Stream, raw)


def _peeked(raw: io.FileIO) -> bytes:
    """The first bytes; what can't be wound back, such as a pipe, is read as it is."""
    if not raw.seekable():
        return b""
    start = raw.read(8) or b""
    raw.seek(0)
    return start


def _zstandard(raw: io.FileIO) -> BinaryIO:
    try:
        import zstandard
    except ImportError as error:
        raise ValueError("is compressed with zstd, and the package zstandard is not installed") from error
    return cast(BinaryIO, _Frames(raw, lambda: zstandard.ZstdDecompressor().decompressobj()))


class _Frames(io.RawIOBase):
    """Frames of zstd one after the other, read as one. Raises EOFError where the last one is cut."""

    def __init__(self, raw: io.FileIO, make: Callable[[], Any]) -> None:
        self._raw, self._make = raw, make
        self._frame = make()
        self._packed = self._left = b""
        self._begun = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            if not self._packed:
                self._packed = self._raw.read(1 << 18) or b""
            if not self._packed:
                if self._begun:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
                return 0
            self._left = self._frame.decompress(self._packed)
            self._packed, self._begun = b"", not self._frame.eof
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, self._make()
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def _buffered(stream: BinaryIO) -> io.BufferedReader:
    return io.BufferedReader(cast(io.RawIOBase, stream), 1 << 20)


def _decoded(stream: io.BufferedReader) -> Stream:
    """The stream in UTF-8, as its mark at the start says."""
    start = stream.peek(4)[:4]
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            stream.read(len(mark))
            return stream if encoding == "utf-8" else _Transcoded(stream, encoding)
    return stream


class _Transcoded:
    """A stream in UTF-16, read as UTF-8."""

    def __init__(self, stream: io.BufferedReader, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._left = b""
        self._ended = False

    def readinto(self, buffer: memoryview) -> int:
        while not self._left and not self._ended:
            data = self._stream.read(1 << 18)
            self._ended = not data
            self._left = self._decoder.decode(data, final=self._ended).encode("utf-8", "replace")
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
