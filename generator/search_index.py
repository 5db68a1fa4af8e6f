"""A built site → its full-text index, by Pagefind's own binary, into ``pagefind/`` of the site."""

from __future__ import annotations

import os
import subprocess
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
        told = " ".join(done.stderr.split()).removeprefix("Error: ") or f"exit code {done.returncode}"
        raise SiteError(f"Pagefind could not index the site: {told}")
