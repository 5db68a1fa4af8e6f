"""The released versions of a Python package, and their sources, from the index that pip is configured for.

Listing and fetching go through pip's own session and configuration (index, mirrors, certificates, proxies,
credentials), so no registry is named here. Nothing of a package is executed: a source distribution is
unpacked and never built, and of a wheel only the members needed are read, by HTTP ranges, which is what makes
wheels of hundreds of megabytes affordable. What was read of a release is kept in a cache folder as a zip of
its source files.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from ..cache import kept_in

SOURCES = frozenset({".py", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"})
ASIDE = frozenset({"tests", "test", "docs", "examples", "benchmarks", "testing"})
"""Folders at a distribution's root whose texts no user's run prints."""
GENERATED = ("include/ATen/ops/", "include/pybind11/", "include/kineto/", "include/fmt/")
"""Headers of torch's wheels that hold no message of its own: thousands of files."""
LIGHT_BYTES = 4_000_000
"""A package whose newest source distribution is smaller is looked at release by release."""
CHUNK = 1 << 22


class PackageError(Exception):
    """The index or a package can't be read; the message says which and why."""


@dataclass(frozen=True)
class Release:
    """A final release: its source distribution, or else the wheel to read."""

    package: str
    version: Version
    sdist: Any = None
    wheel: Any = None


class Index:
    """What pip's index has, with a cache. Use as ``with open_index(cache) as index``."""

    def __init__(self, session: Any, collector: Any, make_link: Callable[[str], Any], cache: Path) -> None:
        self._session, self._collector, self._make_link = session, collector, make_link
        self._cache = cache
        self._releases: dict[str, tuple[Release, ...]] = {}

    def releases(self, package: str) -> tuple[Release, ...]:
        """The final releases, oldest first; pre-releases are left out. Raises PackageError where there are none."""
        if package not in self._releases:
            self._releases[package] = tuple(_by_version(package, self._links(package)))
        if not self._releases[package]:
            raise PackageError(f"the index has no release of {package}")
        return self._releases[package]

    def is_light(self, package: str) -> bool:
        """Whether every release is looked at, and not only the last one of each minor series."""
        newest = self.releases(package)[-1]
        return newest.sdist is not None and self._length(newest.sdist) <= LIGHT_BYTES

    @contextmanager
    def sources(self, release: Release) -> Iterator[ZipFile]:
        """The release's source files, by their path in the distribution. Raises PackageError."""
        path = self._cache / release.package / f"{release.version}.zip"
        if not path.is_file():
            with _told(release):
                _keep(path, self._read_sdist(release) if release.sdist else self._read_wheel(release))
        with ZipFile(path) as kept:
            yield kept

    def in_binaries(self, release: Release, texts: Iterable[bytes]) -> dict[bytes, str | None]:
        """For each text, the shared library of the release's wheel that holds it. Raises PackageError."""
        path = self._cache / release.package / f"{release.version}.binaries.json"
        known = json.loads(path.read_bytes()) if path.is_file() else {}
        wanted = {text.hex() for text in texts}
        if missing := sorted(wanted - known.keys()):
            with _told(release):
                known |= self._search_binaries(release, missing)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(known, indent=1, sort_keys=True))
        return {bytes.fromhex(key): known[key] for key in wanted}

    def _links(self, package: str) -> Iterator[Any]:
        from pip._internal.index.collector import parse_links

        for location in self._collector.search_scope.get_index_urls_locations(package):
            page = self._collector.fetch_response(self._make_link(location))
            if page is not None:
                yield from parse_links(page)

    def _length(self, link: Any) -> int:
        if link.is_file:
            return Path(link.file_path).stat().st_size
        answer = self._session.head(link.url_without_fragment, headers=_PLAIN, allow_redirects=True)
        answer.raise_for_status()
        return int(answer.headers.get("Content-Length", LIGHT_BYTES + 1))

    def _read_sdist(self, release: Release) -> Iterator[tuple[str, bytes]]:
        data = self._bytes(release.sdist)
        if release.sdist.filename.endswith(".zip"):
            with ZipFile(io.BytesIO(data)) as archive:
                files = [(name, archive.read(name)) for name in archive.namelist() if _is_source(name)]
        else:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                members = [member for member in archive if member.isfile() and _is_source(member.name)]
                files = [(member.name, _member(archive, member)) for member in members]
        for name, content in files:
            inside = name.partition("/")[2]
            if inside and inside.partition("/")[0] not in ASIDE:
                yield inside, content

    def _bytes(self, link: Any) -> bytes:
        if link.is_file:
            return Path(link.file_path).read_bytes()
        answer = self._session.get(link.url_without_fragment, headers=_PLAIN)
        answer.raise_for_status()
        data: bytes = answer.content
        name = link.hash_name
        if name in hashlib.algorithms_guaranteed and hashlib.new(name, data).hexdigest() != link.hash:
            raise PackageError(f"{link.filename} is not what the index says: its hash differs")
        return data

    def _read_wheel(self, release: Release) -> Iterator[tuple[str, bytes]]:
        with self._open(release.wheel) as file, ZipFile(file) as archive:
            for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
                if _is_source(info.filename) and not any(part in info.filename for part in GENERATED):
                    yield info.filename, archive.read(info)

    def _search_binaries(self, release: Release, keys: Sequence[str]) -> dict[str, str | None]:
        """Smallest library first, until every text was found."""
        found: dict[str, str | None] = dict.fromkeys(keys)
        with self._open(release.wheel) as file, ZipFile(file) as archive:
            libraries = [
                info for info in archive.infolist() if ".so" in PurePosixPath(info.filename).suffixes
            ]
            for info in sorted(libraries, key=lambda info: info.compress_size):
                left = {key: bytes.fromhex(key) for key in keys if found[key] is None}
                if not left:
                    break
                with archive.open(info) as library:
                    found |= dict.fromkeys(_held(library, left), info.filename)
        return found

    def _open(self, link: Any) -> BinaryIO:
        if link.is_file:
            return Path(link.file_path).open("rb")
        remote = _RemoteFile(self._session, link.url_without_fragment, self._length(link))
        return io.BufferedReader(remote, CHUNK)


@contextmanager
def open_index(cache: Path) -> Iterator[Index]:
    """The index that ``pip`` would use here. Raises PackageError where pip isn't there or is too old."""
    try:
        from pip._internal.commands import create_command
        from pip._internal.index.collector import LinkCollector
        from pip._internal.models.link import Link
    except ImportError as error:
        raise PackageError(f"needs pip in this environment ({error})") from error
    command: Any = create_command("download")
    options, _ = command.parse_args([])
    with ExitStack() as stack:
        stack.enter_context(command.main_context())
        session = command.get_default_session(options)
        yield Index(session, LinkCollector.create(session, options), Link, cache)


def default_cache() -> Path:
    """Where fetched sources are kept: in the user's cache folder. Raises OSError where there is none."""
    return kept_in("packages")


def last_of_each_minor(releases: Iterable[Release]) -> tuple[Release, ...]:
    """The newest release of each minor series, oldest first."""
    series = {(release.version.epoch, *release.version.release[:2]): release for release in releases}
    return tuple(series.values())


_PLAIN = {"Accept-Encoding": "identity"}


def _by_version(package: str, links: Iterable[Any]) -> Iterator[Release]:
    sdists: dict[Version, Any] = {}
    wheels: dict[Version, list[Any]] = {}
    for link in links:
        try:
            if link.filename.endswith(".whl"):
                name, version, *_ = parse_wheel_filename(link.filename)
                wheels.setdefault(version, []).append(link)
            else:
                name, version = parse_sdist_filename(link.filename)
                sdists.setdefault(version, link)
        except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
            continue
        if name != canonicalize_name(package):
            raise PackageError(f"the index lists {link.filename} under {package}")
    for version in sorted({*sdists, *wheels}):
        if not version.is_prerelease:
            wheel = min(wheels.get(version, ()), key=_preference, default=None)
            if version in sdists or (wheel is not None and _preference(wheel)[0] < 2):
                yield Release(package, version, sdists.get(version), wheel)


def _preference(wheel: Any) -> tuple[int, str]:
    """For any platform first, then for Linux on x86-64: the one with libraries of CUDA; others are not read."""
    name = wheel.filename
    if name.endswith("-any.whl"):
        return 0, name
    return (1 if "linux" in name and "x86_64" in name else 2), name


def _is_source(name: str) -> bool:
    return PurePosixPath(name).suffix in SOURCES


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return file.read() if file else b""


def _keep(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write the zip whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, delete=False) as temporary:
        try:
            with ZipFile(temporary, "w", ZIP_DEFLATED, compresslevel=1) as archive:
                for name, data in files:
                    archive.writestr(name, data)
        except BaseException:
            os.unlink(temporary.name)
            raise
    os.replace(temporary.name, path)


@contextmanager
def _told(release: Release) -> Iterator[None]:
    """Turn what fetching (every error of requests is an OSError) and unpacking may raise into a PackageError."""
    from pip._internal.exceptions import PipError

    try:
        yield
    except (OSError, PipError, BadZipFile, tarfile.TarError) as error:
        raise PackageError(f"{release.package} {release.version} can't be read: {error}") from error


def _held(library: Any, texts: dict[str, bytes]) -> set[str]:
    """Which of the texts stand in the stream, read in pieces that overlap by the longest text."""
    held: set[str] = set()
    overlap, tail = max(map(len, texts.values())), b""
    while chunk := library.read(CHUNK):
        window = tail + chunk
        held |= {key for key, text in texts.items() if key not in held and text in window}
        if len(held) == len(texts):
            break
        tail = window[-overlap:]
    return held


class _RemoteFile(io.RawIOBase):
    """A file behind HTTP, read by ranges; the last few blocks are kept."""

    BLOCKS = 6

    def __init__(self, session: Any, url: str, length: int) -> None:
        self._session, self._url, self._length = session, url, length
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._length}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        number, start = divmod(self._at, CHUNK)
        data = self._block(number)[start : start + len(buffer)] if self._at < self._length else b""
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            self._blocks[number] = self._fetch(number * CHUNK)
            if len(self._blocks) > self.BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return self._blocks[number]

    def _fetch(self, start: int) -> bytes:
        end = min(start + CHUNK, self._length) - 1
        answer = self._session.get(self._url, headers={**_PLAIN, "Range": f"bytes={start}-{end}"})
        answer.raise_for_status()
        if answer.status_code != 206:
            raise OSError("the index's host serves no ranges")
        data: bytes = answer.content
        if len(data) != end - start + 1:
            raise OSError("the index's host cut a range short")
        return data
