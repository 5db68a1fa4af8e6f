"""Where this program keeps what takes long to get: in the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path | None:
    """firstfault in the user's cache folder; None for a user without a home, as in a container of any number."""
    base, home = os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~")
    if os.path.isabs(base):
        return Path(base) / "firstfault"
    return Path(home) / ".cache" / "firstfault" if os.path.isabs(home) else None


def kept_in(name: str) -> Path:
    """The folder of that name in the cache folder. Raises OSError, in words, where there is none."""
    folder = cache_folder()
    if folder is None:
        raise OSError("this user has no home folder to keep things in; name a folder with --cache")
    return folder / name
