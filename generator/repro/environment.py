"""One virtual environment a set of dependencies, in the user's cache.

CACHE/HASH/ holds ``venv``, ``torch_extensions`` (what its torch compiles) and ``ready.json``, which is written
last: a folder without it was left by a set-up that was interrupted, and is made anew. CACHE/HASH.lock is
held by whoever makes or uses the environment.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet

from ..cache import kept_in
from .interrupt import started
from .script import Script

NEWEST_MINOR = 20
"""Of Python 3, looked for on PATH."""


class EnvironmentFailure(Exception):
    """Why there is no environment, in a line."""


@dataclass(frozen=True)
class Environment:
    """An environment that is ready: its folder, and the releases of what was asked for, by name."""

    folder: Path
    versions: Mapping[str, str]

    @property
    def venv(self) -> Path:
        return self.folder / "venv"

    @property
    def python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def extensions(self) -> Path:
        return self.folder / "torch_extensions"


def default_cache() -> Path:
    """Where environments are kept: in the user's cache folder. Raises OSError where there is none."""
    return kept_in("repro")


@contextmanager
def prepared(script: Script, cache: Path, say: Callable[[str], None]) -> Iterator[Environment]:
    """The script's environment, made where it isn't there, and nobody else's until the end.

    ``say`` hears of what takes long. Raises EnvironmentFailure.
    """
    interpreter, version = _interpreter(script.python)
    key = hashlib.sha256("\n".join((version, *script.dependencies)).encode()).hexdigest()[:16]
    cache = cache.absolute()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{key}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        environment = _ready(cache / key)
        if environment is None:
            say(f"setting up {', '.join(script.dependencies) or 'an empty environment'} in {cache / key}")
            environment = _made(cache / key, interpreter, script.dependencies)
        # A compilation that was killed leaves its lock, for which torch waits for ever.
        for baton in environment.extensions.glob("**/lock"):
            baton.unlink()
        yield environment


def _interpreter(wanted: SpecifierSet) -> tuple[str, str]:
    """A Python that the range allows, and its minor version: the one running, or the newest on PATH."""
    if _python_version(sys.executable) in wanted:
        return sys.executable, f"{sys.version_info.major}.{sys.version_info.minor}"
    for minor in range(NEWEST_MINOR, 6, -1):
        found = shutil.which(f"python3.{minor}")
        version = _python_version(found) if found else ""
        if found and version and version in wanted:
            return found, f"3.{minor}"
    raise EnvironmentFailure(f"no Python {wanted} is here; it was looked for as python3.N on PATH")


def _python_version(python: str) -> str:
    """Such as 3.11.7; empty where the program doesn't run."""
    code = "import platform; print(platform.python_version())"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def _ready(folder: Path) -> Environment | None:
    """The environment in the folder, where its set-up ended and its Python is still there."""
    try:
        versions = json.loads((folder / "ready.json").read_bytes())
    except (OSError, ValueError):
        return None
    environment = Environment(folder, versions)
    return environment if environment.python.exists() else None


def _made(folder: Path, interpreter: str, dependencies: tuple[str, ...]) -> Environment:
    if folder.exists():
        shutil.rmtree(folder)
    environment = Environment(folder, {})
    environment.extensions.mkdir(parents=True)
    without_pip = () if dependencies else ("--without-pip",)
    _do([interpreter, "-m", "venv", *without_pip, str(environment.venv)])
    for arguments in installs(dependencies):
        _do([str(environment.python), "-m", "pip", "install", "--quiet", *arguments])
    versions = _versions(environment.python, dependencies)
    (folder / "ready.json").write_text(json.dumps(versions, indent=2) + "\n")
    return Environment(folder, versions)


def installs(dependencies: tuple[str, ...]) -> Iterator[list[str]]:
    """What pip is told, in order. torch comes first and alone: DeepSpeed's setup.py imports it."""
    torch = [each for each in dependencies if each.startswith("torch==")]
    if torch:
        # What a build without isolation finds; 80 is the last with pkg_resources, which old releases import.
        yield ["setuptools<81", "wheel", "packaging", "psutil", "py-cpuinfo", "ninja"]
        yield torch
    if len(dependencies) > len(torch):
        yield [*(["--no-build-isolation"] if torch else []), *dependencies]


def _do(command: list[str]) -> None:
    # DeepSpeed's set-up asks which accelerator there is, and may compile all its ops.
    variables = {**os.environ, "DS_ACCELERATOR": "cpu", "DS_BUILD_OPS": "0"}
    variables.pop("PYTHONPATH", None)
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with started(command, _end, env=variables, text=True, errors="replace", **pipes) as process:
        output, _ = process.communicate()
    if process.returncode != 0:
        said = [line for line in output.splitlines() if line.strip()]
        shown = next((line for line in said if line.startswith("ERROR")), said[-1] if said else "no word")
        raise EnvironmentFailure(f"{' '.join(command[1:])}: {shown}")


def _end(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _versions(python: Path, dependencies: tuple[str, ...]) -> dict[str, str]:
    """The installed releases of the dependencies, local part and all, and Python's own."""
    names = [re.split(r"[\[=]", each)[0] for each in dependencies]
    code = (
        "import json, platform, sys; from importlib.metadata import version; "
        "print(json.dumps({name: version(name) for name in sys.argv[1:]} | {'python': platform.python_version()}))"
    )
    done = subprocess.run([str(python), "-c", code, *names], capture_output=True, text=True, check=True)
    versions: dict[str, str] = json.loads(done.stdout)
    return versions
