"""A built site → its full-text index, by Pagefind's own binary, into ``pagefind/`` of the site."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import zlib
from pathlib import Path

from .write import SiteError

FOLDER = "pagefind"
_NOT_OURS = ("pagefind-ui", "pagefind-modular-ui", "pagefind-component-ui", "pagefind-highlight")
"""What Pagefind adds for sites that use its own search box."""
_LIMIT_SECONDS = 600


def index(folder: Path) -> None:
    """Index the pages of ``folder`` that have a ``data-pagefind-body``; the same site gives the same bytes.

    Raises SiteError, with one line, where the ``site`` extra isn't installed or Pagefind fails.
    """
    _run([str(_executable()), "--site", str(folder.resolve()), "--output-subdir", FOLDER, "--silent"], folder)
    for path in sorted((folder / FOLDER).iterdir()):
        if path.name.startswith(_NOT_OURS):
            path.unlink()
    _require_whole(folder / FOLDER)


def _require_whole(folder: Path) -> None:
    """Raise SiteError where a file of the index is missing or cut: on a full disk Pagefind ends with 0 all the same."""
    try:
        entry = json.loads((folder / "pagefind-entry.json").read_bytes())
        pages = sum(language["page_count"] for language in entry["languages"].values())
        enough = len(list((folder / "fragment").iterdir())) == pages
    except (OSError, ValueError, LookupError, TypeError):
        enough = False
    cut = [path.name for path in sorted(folder.rglob("*.*")) if path.is_file() and not _is_whole(path)]
    if cut or not enough:
        what = ", ".join(cut[:3]) or "files are missing"
        raise SiteError(f"Pagefind left an index that isn't whole ({what}): is the disk full?")


def _is_whole(path: Path) -> bool:
    data = path.read_bytes()
    if path.suffix == ".js":
        return data.rstrip().endswith((b"};", b"();"))
    if not path.suffix.startswith((".pagefind", ".pf_")):
        return bool(data)
    try:
        return bool(gzip.decompress(data))
    except (OSError, EOFError, zlib.error):
        return False


def _executable() -> Path:
    try:
        from pagefind_bin import get_executable  # type: ignore[import-untyped]
    except ImportError as error:
        raise SiteError("full-text search needs Pagefind: pip install 'firstfault[site]'") from error
    return Path(get_executable())


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
