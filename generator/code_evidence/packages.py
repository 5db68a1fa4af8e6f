"""A release → the folder with its source: the environment's, or fetched from where pip looks."""

from __future__ import annotations

import subprocess
from importlib.metadata import distributions
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from ..evidence.packages import PackageError, open_index


class Environment:
    """An interpreter with packages, and a folder in which releases that it doesn't hold are unpacked."""

    def __init__(self, python: Path, cache: Path) -> None:
        self.python, self._cache = python, cache
        self.site = _site_packages(python)
        self._installed = {
            canonicalize_name(found.metadata["Name"]): Version(found.version).public
            for found in distributions(path=[str(self.site)])
        }

    def holds(self, release: str) -> bool:
        """Whether the interpreter itself imports this release; a local label such as +cpu is no matter."""
        name, _, version = release.partition("==")
        return self._installed.get(canonicalize_name(name)) == Version(version).public

    def folder(self, release: str) -> Path:
        """The folder in which the release's modules lie. Raises PackageError."""
        if self.holds(release):
            return self.site
        target = self._cache / "unpacked" / release.replace("==", "-")
        if not target.is_dir():
            self._fetch(release, target)
        return target / "src" if (target / "src").is_dir() else target

    def _fetch(self, release: str, target: Path) -> None:
        name, _, version = release.partition("==")
        with open_index(self._cache) as index:
            found = [one for one in index.releases(name) if one.version == Version(version)]
            if not found:
                raise PackageError(f"the index has no release {version} of {name}")
            with index.sources(found[0]) as archive:
                archive.extractall(target)


def _site_packages(python: Path) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    try:
        done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PackageError(f"{python} is no Python interpreter that runs: {error}") from error
    return Path(done.stdout.strip())
