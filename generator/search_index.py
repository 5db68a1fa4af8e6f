"""The catalogue → its full-text index, by Pagefind's own binary, into ``pagefind/`` of the site.

Pagefind reads no page of the site. It gets a small document for each entry, of what is worth finding: read whole,
pages take it longer than all the rest of a build. What the index was made of is told in a file beside it; where the
former site has an index of the same documents, that is taken over.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path, PurePosixPath

from .catalogue import Catalogue
from .content import LoadedEntry
from .find import without_holes
from .write import SiteError, linked

FOLDER = "pagefind"
STAMP = "made-of.json"
"""Which documents and which Pagefind the index was made of, and a digest of its files."""
DOCUMENTS = ".documents"
_NOT_OURS = ("pagefind-ui", "pagefind-modular-ui", "pagefind-component-ui", "pagefind-highlight")
"""What Pagefind adds for sites that use its own search box."""
_NO_ENTRIES = (("index.html", '<!doctype html><html lang="en"><body>First Fault</body></html>'),)
"""Pagefind refuses to index nothing."""
_LIMIT_SECONDS = 600


@dataclass(frozen=True)
class Documents:
    """What Pagefind reads: HTML by the paths of the pages that it leads to, sorted."""

    by_path: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """Of the documents and of the Pagefind that is installed. Raises SiteError where none is."""
        told = hashlib.sha256(f"{_version()}\0{_NOT_OURS}\0".encode())
        for path, text in self.by_path.items():
            told.update(f"{path}\0{text}\0".encode())
        return told.hexdigest()


def documents(catalogue: Catalogue) -> Documents:
    """A document for each entry that isn't withdrawn."""
    entries = sorted(catalogue.current, key=lambda loaded: loaded.slug)
    return Documents({f"failures/{one.slug}/index.html": _document(one, catalogue) for one in entries})


def index(found: Documents, folder: Path, former: Path | None = None) -> None:
    """Put the index of the documents into the site ``folder``: the same documents give the same bytes.

    It is taken over from the ``former`` site where that has it whole. Raises SiteError, with one line, where the
    ``site`` extra isn't installed or Pagefind fails.
    """
    if former is None or not _take_over(former / FOLDER, folder / FOLDER, found.digest):
        _make(found, folder)


def index_files(found: Documents) -> dict[str, bytes]:
    """The files of the index by their paths in a site. Raises SiteError as ``index`` does, and OSError."""
    with tempfile.TemporaryDirectory(prefix="firstfault-") as name:
        _make(found, Path(name))
        return {f"{FOLDER}/{path}": data for path, data in _files(Path(name, FOLDER))}


def _make(found: Documents, folder: Path) -> None:
    source, out = folder.resolve() / DOCUMENTS, folder.resolve() / FOLDER
    for path, text in found.by_path.items() or _NO_ENTRIES:
        (source / path).parent.mkdir(parents=True)
        (source / path).write_text(text, encoding="utf-8")
    _run([str(_executable()), "--site", str(source), "--output-path", str(out), "--silent"], source)
    shutil.rmtree(source)
    for file in sorted(out.iterdir()):
        if file.name.startswith(_NOT_OURS):
            file.unlink()
    stamp = {"documents": found.digest, "files": _digest(_require_whole(out))}
    (out / STAMP).write_text(json.dumps(stamp) + "\n", encoding="utf-8")


# --- what Pagefind reads


def _document(loaded: LoadedEntry, catalogue: Catalogue) -> str:
    title = html.escape(loaded.entry.title)
    texts = "".join(f"<p>{html.escape(_plain(text))}</p>" for text in _texts(loaded, catalogue) if text)
    return (
        f'<!doctype html><html lang="en"><head><title>{title}</title></head>'
        f'<body data-pagefind-body><h1 data-pagefind-meta="title">{title}</h1>{texts}</body></html>'
    )


def _texts(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[str]:
    """What is worth finding. An entry's own words come first, since the part around a hit is shown."""
    entry = loaded.entry
    yield entry.summary
    yield entry.look_instead or ""
    yield from (without_holes(signature.text) for signature in entry.signatures)
    yield from (symptom.sign for symptom in entry.symptoms)
    yield from (cause.title for cause in entry.causes)
    yield from (fix.title for fix in entry.fixes)
    names = [catalogue.families[entry.family].name if entry.family in catalogue.families else entry.family]
    names += [catalogue.tags[tag].name for tag in entry.tags if tag in catalogue.tags]
    names += [catalogue.systems[one.id].name for one in entry.systems if one.id in catalogue.systems]
    yield ", ".join(names)


_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\s]*\)")


def _plain(text: str) -> str:
    """Inline Markdown without its marks."""
    return _LINK.sub(r"\1", text).replace("`", "").replace("**", "")


# --- a former site's index


def _take_over(former: Path, new: Path, digest: str) -> bool:
    """Whether ``new`` is now the index ``former``, which is of these documents, and whole."""
    try:
        stamp = json.loads((former / STAMP).read_bytes())
        files = list(_files(former))
    except (OSError, ValueError):
        return False
    wanted = {"documents": digest, "files": _digest((path, data) for path, data in files if path != STAMP)}
    if stamp != wanted:
        return False
    for path, data in files:
        target = new / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not linked(former / path, target):
            target.write_bytes(data)
    return True


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of every file under the folder, sorted."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _digest(files: Iterable[tuple[str, bytes]]) -> str:
    told = hashlib.sha256()
    for path, data in files:
        told.update(f"{path}\0{len(data)}\0".encode() + data)
    return told.hexdigest()


# --- Pagefind


def _require_whole(folder: Path) -> list[tuple[str, bytes]]:
    """The index's files. Raises SiteError where one is missing or cut: on a full disk Pagefind ends with 0 all the same."""
    files = list(_files(folder))
    try:
        entry = json.loads(dict(files)["pagefind-entry.json"])
        pages = sum(language["page_count"] for language in entry["languages"].values())
        enough = sum(path.startswith("fragment/") for path, _ in files) == pages
    except (ValueError, LookupError, TypeError):
        enough = False
    cut = [path.rpartition("/")[2] for path, data in files if not _is_whole(path, data)]
    if cut or not enough:
        what = ", ".join(cut[:3]) or "files are missing"
        raise SiteError(f"Pagefind left an index that isn't whole ({what}): is the disk full?")
    return files


def _is_whole(path: str, data: bytes) -> bool:
    suffix = PurePosixPath(path).suffix
    if suffix == ".js":
        return data.rstrip().endswith((b"};", b"();"))
    if not suffix.startswith((".pagefind", ".pf_")):
        return bool(data)
    try:
        return bool(gzip.decompress(data))
    except (OSError, EOFError, zlib.error):
        return False


def _executable() -> Path:
    try:
        from pagefind_bin import get_executable  # type: ignore[import-untyped]
    except ImportError as error:
        raise SiteError(_MISSING) from error
    return Path(get_executable())


def _version() -> str:
    try:
        return metadata.version("pagefind_bin")
    except metadata.PackageNotFoundError as error:
        raise SiteError(_MISSING) from error


_MISSING = "full-text search needs Pagefind: pip install 'firstfault[site]'"


def _run(command: list[str], folder: Path) -> None:
    # Pagefind also takes settings from its working folder and from PAGEFIND_ variables.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PAGEFIND_")}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SiteError(f"Pagefind could not index the site: {error}") from error
    if done.returncode:
        told = " ".join(done.stderr.split()).removeprefix("Error: ") or _how_it_ended(done.returncode)
        raise SiteError(f"Pagefind could not index the site: {told}")


def _how_it_ended(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
