"""What Lighthouse says of the built site: one page of every kind, on a simulated telephone and its slow network.

``python bench/pages.py`` builds the real site, serves it as a good static host does, and runs Lighthouse on the
largest page of each kind (and on the smallest entry) round by round, in a Chromium of its own each time. It writes the
medians to bench/RESULTS.md and ends with 1 where a page is under the bar. Lighthouse comes from
bench/tools/package-lock.json. Scores fall while others use the machine: then read the transferred size and the shift.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench.results import RESULTS, TOOLS, install_tools, load, machine, put  # noqa: E402
from generator.build import Options, build  # noqa: E402
from generator.serve.web import POLICY  # noqa: E402
from tests.tools import browser  # noqa: E402
from tests.tools.npm import NODE  # noqa: E402

BARS = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
LIMIT_SECONDS = 180


# --- what is measured


def pages_by_kind(site: Path) -> dict[str, list[str]]:
    """The addresses, from the site's root, of all pages of each kind, the one with the largest file first.

    A page says its kind in ``data-page``; redirects, which nobody reads, have none.
    """
    sizes: dict[str, list[tuple[int, str]]] = {}
    for path in site.rglob("*.html"):
        data = path.read_bytes()
        if kind := re.search(rb'^<html[^>]* data-page="([^"]+)"', data, re.MULTILINE):
            address = path.relative_to(site).as_posix().removesuffix("index.html")
            sizes.setdefault(kind[1].decode(), []).append((len(gzip.compress(data, mtime=0)), address))
    return {kind: [page for _, page in sorted(found, reverse=True)] for kind, found in sorted(sizes.items())}


@dataclass(frozen=True)
class Measure:
    """What one run of Lighthouse said of a page; times in milliseconds as simulated."""

    scores: dict[str, int]
    """Of 100, by category."""
    first_paint: float
    largest_paint: float
    shift: float
    blocked: float
    transferred: float
    """Bytes, with headers."""
    wrong: tuple[str, ...]
    """The audits that took something from a score."""


def measured(report: dict[str, Any]) -> Measure:
    """The measure that a report of Lighthouse holds."""
    audits, categories = report["audits"], report["categories"]
    if problem := report.get("runtimeError"):
        raise SystemExit(f"Lighthouse: {problem['message']}")
    numbers = (
        audits[name]["numericValue"]
        for name in (
            "first-contentful-paint",
            "largest-contentful-paint",
            "cumulative-layout-shift",
            "total-blocking-time",
            "total-byte-weight",
        )
    )
    wrong = [
        ref["id"]
        for category in categories.values()
        for ref in category["auditRefs"]
        if ref["weight"] > 0 and (audits[ref["id"]]["score"] or 0) < 1 and _judged(audits[ref["id"]])
    ]
    scores = {name: round(100 * (category["score"] or 0)) for name, category in categories.items()}
    return Measure(scores, *numbers, tuple(wrong))


def _judged(audit: dict[str, Any]) -> bool:
    return audit["scoreDisplayMode"] not in ("notApplicable", "manual", "informative")


def middle(measures: Sequence[Measure]) -> Measure:
    """Medians of all figures."""

    def of(name: str) -> float:
        return statistics.median(getattr(measure, name) for measure in measures)

    scores = {name: round(statistics.median(m.scores[name] for m in measures)) for name in BARS}
    figures = map(of, ("first_paint", "largest_paint", "shift", "blocked", "transferred"))
    return Measure(scores, *figures, tuple(sorted({each for measure in measures for each in measure.wrong})))


def under_the_bar(measure: Measure) -> list[str]:
    return [f"{name} {measure.scores[name]}" for name, bar in BARS.items() if measure.scores[name] < bar]


# --- who measures


@contextmanager
def served(site: Path, listener: socket.socket) -> Iterator[None]:
    """The site on the listener's address, as a good static host sends it: packed, kept for a while, with its policy."""
    app = Starlette(
        routes=[Mount("/", _Files(directory=site, html=True))],
        middleware=[Middleware(GZipMiddleware, minimum_size=500)],
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=20)


class _Files(StaticFiles):
    async def get_response(self, path: str, scope: MutableMapping[str, Any]) -> Response:
        response = await super().get_response(path, scope)
        kept = "no-cache" if response.media_type == "text/html" else "public, max-age=31536000"
        response.headers["Cache-Control"] = kept
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def lighthouse(address: str, out: Path) -> Measure:
    """One run on the address, for a telephone, in a browser of its own that talks to nobody else; the report goes to
    ``out``."""
    chromium = browser.find()
    if chromium is None:
        raise SystemExit(f"bench: {browser.MISSING}")
    with tempfile.TemporaryDirectory(prefix="firstfault-lighthouse-") as folder:
        command = [
            *(str(NODE), str(TOOLS / "node_modules" / "lighthouse" / "cli" / "index.js"), address),
            *("--quiet", "--no-enable-error-reporting", "--output=json", f"--output-path={out}"),
            f"--chrome-flags={' '.join(browser.flags())}",
        ]
        environment = {**os.environ, "CHROME_PATH": chromium, "TMPDIR": folder}
        run = subprocess.run(
            command, env=environment, cwd=folder, capture_output=True, text=True, timeout=LIMIT_SECONDS
        )
        if run.returncode or not out.is_file():
            raise SystemExit(f"Lighthouse ended with {run.returncode} on {address}: {run.stderr[-2000:]}")
        return measured(json.loads(out.read_bytes()))


def chosen(site: Path) -> dict[str, str]:
    """A page for each name: the largest of every kind, and the smallest entry."""
    kinds = pages_by_kind(site)
    return {kind: found[0] for kind, found in kinds.items()} | {"short entry": kinds["entry"][-1]}


def run(address: str, pages: dict[str, str], rounds: int, reports: Path) -> dict[str, list[Measure]]:
    """Measures by the page's name, page by page in turn in each round."""
    table: dict[str, list[Measure]] = {name: [] for name in pages}
    for number in range(1, rounds + 1):
        for name, page in pages.items():
            measure = lighthouse(address + page, reports / f"{name.replace(' ', '-')}-{number}.json")
            table[name].append(measure)
            said = " ".join(f"{score:3}" for score in measure.scores.values())
            print(f"{number} {name:12} {said}  {' '.join(measure.wrong)}", flush=True)
    return table


# --- what is said of it


_INTRODUCTION = """## The pages, by Lighthouse

By `bench/pages.py`: Lighthouse {version} with its settings for a telephone (1.6 Mbit/s, 150 ms, a processor four times
slower, all simulated), the largest page of every kind and the smallest entry, from a server that packs and sends the
policy. Scores of 100; milliseconds; what was transferred on the first visit, in KB. The bars: performance 95, the others 100.
"""


def report(rounds: int, pages: dict[str, str], table: dict[str, list[Measure]]) -> str:
    """The section of bench/RESULTS.md."""
    version = json.loads((TOOLS / "package.json").read_text())["devDependencies"]["lighthouse"]
    lines = [
        _INTRODUCTION.format(version=version),
        f"{date.today()}; {machine()}; median of {rounds} round{'s' * (rounds > 1)}.",
        "",
        "| kind | page | performance | accessibility | best practices | SEO | first paint | largest paint | shift | blocked | KB |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, page in pages.items():
        m = middle(table[name])
        scores = " | ".join(str(m.scores[each]) for each in BARS)
        figures = f"{m.first_paint:.0f} | {m.largest_paint:.0f} | {m.shift:.3f} | {m.blocked:.0f} | {m.transferred / 1000:.1f}"
        lines.append(f"| {name} | `/{page}` | {scores} | {figures} |")
    return "\n".join([*lines, "", f"{load()}."]) + "\n"


def main() -> int:
    options = _options()
    install_tools()
    with tempfile.TemporaryDirectory(prefix="firstfault-pages-") as folder:
        listener = socket.create_server(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        built = build(Options(root=ROOT, out=Path(folder) / "site", base_url=address))
        if not built.ok:
            print("\n".join(map(str, built.findings)), file=sys.stderr)
            return 1
        pages = chosen(Path(folder) / "site")
        if options.only:
            pages = {name: page for name, page in pages.items() if name in options.only.split(",")}
        with served(Path(folder) / "site", listener):
            reports = options.reports or Path(folder)
            reports.mkdir(parents=True, exist_ok=True)
            table = run(address, pages, options.rounds, reports.resolve())
    section = report(options.rounds, pages, table)
    print(section)
    if not options.only:
        put(section, options.results)
    failed = {name: under for name in pages if (under := under_the_bar(middle(table[name])))}
    for name, under in failed.items():
        print(f"{name}: {', '.join(under)} ({' '.join(middle(table[name]).wrong)})", file=sys.stderr)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run Lighthouse on a page of every kind.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="names of kinds, separated by commas; then nothing is written")
    parser.add_argument("--reports", type=Path, help="a folder that keeps what Lighthouse said, as JSON")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
