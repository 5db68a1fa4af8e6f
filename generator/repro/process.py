"""Run one part of a reproduction: in a fresh folder, with a small environment, for a limited time, to the last child."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path
from uuid import uuid4

from .environment import Environment
from .interrupt import started
from .neutral import Replacement, neutral, path_replacement, word_replacement

KEPT_VARIABLES = frozenset(
    [
        "PATH",
        "LANG",
        "LC_ALL",
        "TZ",
        "CC",
        "CXX",
        "CFLAGS",
        "CXXFLAGS",
        "LDFLAGS",
        "CPATH",
        "LIBRARY_PATH",
        "LD_LIBRARY_PATH",
        "OPENBLAS_CORETYPE",
        "OPENBLAS_L2_SIZE",
    ]
)
"""What a compiler and a numeric library may need. The rest (RANK, MASTER_ADDR, SLURM_*, HF_*, ...) would change
what happens."""
MARK = "FIRSTFAULT_REPRO"
"""A variable of all processes of a run, by which those that left its process group are found."""


@dataclass(frozen=True)
class Ran:
    """How a part ended. ``exit_code`` is None where its time was over; ``output`` is neutral."""

    seconds: float
    exit_code: int | None
    output: bytes


def run_part(script: bytes, part: str, environment: Environment, limit: float) -> Ran:
    """Run ``python repro.py PART`` for at most ``limit`` seconds; afterwards none of its processes is left."""
    root = Path(tempfile.mkdtemp(prefix="firstfault-")).resolve()
    try:
        for name in ("run", "home", "tmp"):
            (root / name).mkdir()
        (root / "run" / "repro.py").write_bytes(script)
        start = time.monotonic()
        exit_code = _run(part, environment, root, limit)
        seconds = time.monotonic() - start
        return Ran(
            seconds, exit_code, neutral((root / "output").read_bytes(), _replacements(environment, root))
        )
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _run(part: str, environment: Environment, root: Path, limit: float) -> int | None:
    variables = _variables(environment, root)
    command = [str(environment.python), "repro.py", part]

    # A file, since a pipe would stay open with any process that outlives the script.
    def end(process: subprocess.Popen[bytes]) -> None:
        _end(process, variables[MARK])

    with (
        (root / "output").open("wb") as output,
        started(
            command, end, cwd=root / "run", env=variables, stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None


def _variables(environment: Environment, root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES}
    return {
        "LANG": "C.UTF-8",
        **kept,
        "PATH": os.pathsep.join((str(environment.python.parent), kept.get("PATH", os.defpath))),
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "PWD": str(root / "run"),
        "TORCH_EXTENSIONS_DIR": str(environment.extensions),
        "CUDA_VISIBLE_DEVICES": "",
        # Lines of several processes stand in the order in which they were printed.
        "PYTHONUNBUFFERED": "1",
        MARK: uuid4().hex,
    }


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """Kill the process group, and what left it: torchrun's workers have sessions of their own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    give_up = time.monotonic() + 10
    while (left := _marked(mark)) and time.monotonic() < give_up:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _marked(mark: str) -> list[int]:
    """The processes with this mark that are alive; none on systems without /proc."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        # A process may end meanwhile, and others' are not ours to read. A dead one has no variables.
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def _replacements(environment: Environment, root: Path) -> list[Replacement]:
    """What is known exactly of this machine and this run, the longer paths first."""
    paths: Mapping[Path, str] = {
        root / "run": "/data/run",
        root / "home": "/home/user",
        root / "tmp": "/tmp",
        environment.venv: "/opt/venv",
        environment.extensions: "/data/cache/torch_extensions",
        (environment.python.resolve().parents[1]): "/opt/python",
        Path(os.path.expanduser("~")): "/home/user",
    }
    return [
        *(path_replacement(path, shown) for path, shown in paths.items()),
        word_replacement(socket.getfqdn(), "node-a"),
        word_replacement(socket.gethostname(), "node-a"),
        word_replacement(getuser(), "user"),
    ]
