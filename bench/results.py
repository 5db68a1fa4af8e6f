"""What the scripts that measure share: bench/RESULTS.md, where each replaces its own section, the machine in words,
and what comes from npm."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "bench" / "tools"
RESULTS = ROOT / "bench" / "RESULTS.md"
HEAD = "# What was measured\n\nWritten by `make bench`, a section by each script; not edited by hand.\n"
_SECTION = re.compile(r"^(?=## )", re.MULTILINE)


def put(section: str, path: Path = RESULTS) -> None:
    """Write a section, which begins with its title (``## ...``), in place of the one of that title, else at the end."""
    title = section.partition("\n")[0]
    assert title.startswith("## "), title
    _, *others = _SECTION.split(path.read_text(encoding="utf-8")) if path.is_file() else [HEAD]
    titles = [other.partition("\n")[0] for other in others]
    place = titles.index(title) if title in titles else len(others)
    others[place : place + 1] = [section]
    path.write_text("\n".join(part.strip() + "\n" for part in (HEAD, *others)), encoding="utf-8")


def machine() -> str:
    """The machine, in words."""
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*:\s*(.+)", info, re.MULTILINE)
    total = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    cores = len(os.sched_getaffinity(0))
    memory = int(total[1]) >> 20 if total else 0
    return f"{model[1] if model else platform.machine()}, {cores} cores, {memory} GiB, Linux {platform.release()}"


def load() -> str:
    """What else the machine did, in words."""
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return f"The machine's load over the last 1, 5 and 15 minutes was {load}"


def install_tools() -> None:
    """Install what bench/tools/package-lock.json names from npm, unless it is there."""
    lock = TOOLS / "package-lock.json"
    wanted, stamp = hashlib.sha256(lock.read_bytes()).hexdigest(), TOOLS / "node_modules" / "firstfault.stamp"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    npm = [sys.executable, "-m", "tests.tools.npm", "ci", "--prefix", str(TOOLS), "--ignore-scripts"]
    subprocess.run([*npm, "--no-audit", "--no-fund", "--loglevel=error"], cwd=ROOT, check=True)
    stamp.write_text(wanted)
