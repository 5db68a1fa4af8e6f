"""How long an edit takes to be seen in the page that ``serve`` reloads, in a real browser, with many entries.

``python bench/serve.py`` generates entries (see ``entries``), starts the server on them, opens an entry's page in
Chromium and edits the entry's file again and again. Measured is the time from the write to the first contentful paint of
the reloaded page, which has the new text.
So is the page of another entry that shows the title, and how long the findings that need all entries and the
full-text search take to follow. The figures go into bench/RESULTS.md, below those of ``sites``.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench import entries  # noqa: E402
from bench.results import RESULTS, load, machine, put  # noqa: E402
from generator.catalogue import Catalogue  # noqa: E402
from generator.load import load as load_content  # noqa: E402
from generator.views import related  # noqa: E402
from tests.tools import browser as chromium  # noqa: E402

TITLE = "## From an edit to the reloaded page"
LIMIT_SECONDS = 900
PAUSE_SECONDS = 0.5
"""Between two edits."""

_REPORT = """
new PerformanceObserver((list) => {
  for (const paint of list.getEntriesByName("first-contentful-paint"))
    window.shown(performance.timeOrigin + paint.startTime, document.body.textContent);
}).observe({ type: "paint", buffered: true });
"""
"""When the page was first painted, and what it says."""


@dataclass(frozen=True)
class Served:
    """Seconds: of each edit, of each edit whose effect is on another page, and until the rest followed."""

    count: int
    started: float
    own: Sequence[float]
    other: Sequence[float]
    findings: float
    search: float


class Shown:
    """What an open page showed, and when."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._frames: list[tuple[float, str]] = []
        page.expose_function("shown", lambda at, text: self._frames.append((at / 1000, text)))
        page.add_init_script(_REPORT)

    def until(self, text: str) -> float:
        """The moment of the first paint that shows the text."""
        limit = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < limit:
            found = [at for at, said in self._frames if text in said]
            if found:
                self._frames.clear()
                return found[0]
            self._page.wait_for_timeout(5)
        raise TimeoutError(f"{text!r} was never shown")


class Entry:
    """The file of an entry that is edited, and put back at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = path.read_text(encoding="utf-8")

    def entitle(self, title: str) -> float:
        """Give it another title, and say when that was written."""
        return self._write(re.sub("(?m)^title: .*$", lambda _: f"title: {title}", self._text, count=1))

    def summarize(self, summary: str) -> float:
        """Give it another summary, and say when that was written."""
        text = re.sub(r"(?m)^summary:.*\n(?:[ ]+.*\n)*", lambda _: f"summary: >-\n  {summary}\n", self._text)
        return self._write(text)

    def restore(self) -> None:
        self._write(self._text)

    def _write(self, text: str) -> float:
        assert text != self.path.read_text(encoding="utf-8") or text == self._text
        self.path.write_text(text, encoding="utf-8")
        return time.time()


@contextmanager
def serving(content: Path) -> Iterator[str]:
    """The address of a server of this content, once it answers."""
    command = [sys.executable, str(ROOT / "build.py"), "serve", "--port", "0", "--content", str(content)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield next(line.strip() for line in process.stdout if line.startswith("http://"))
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        process.stdout.close()


def measure(content: Path, count: int, edits: int) -> Served:
    """Edit an entry of this content, which is left as it was."""
    catalogue = Catalogue(load_content(content)[0])
    one = catalogue.current[0]
    # A page that shows the title of the one: a near entry to which it is near, too.
    other = next(
        near.loaded
        for near in related(catalogue, one)
        if any(back.loaded.slug == one.slug for back in related(catalogue, near.loaded))
    )
    entry = Entry(content / "failures" / one.slug / "entry.yaml")
    summary = next(loaded.entry.summary for loaded in reversed(catalogue.current) if loaded.slug != one.slug)
    begun = time.time()
    try:
        with serving(content) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.flags())
            page = browser.new_page()
            shown = Shown(page)
            page.goto(f"{address}failures/{one.slug}/", wait_until="commit")
            started = shown.until(one.entry.title) - begun
            own = [_edited(entry, shown, number) for number in range(edits)]
            page.goto(f"{address}failures/{other.slug}/")
            others = [_edited(entry, shown, number) for number in range(edits, 2 * edits)]
            return Served(count, started, own, others, *_followed(entry, address, other.slug, summary))
    finally:
        entry.restore()


def _edited(entry: Entry, shown: Shown, number: int) -> float:
    time.sleep(PAUSE_SECONDS)
    title = f"Title number {number}"
    took = -entry.entitle(title) + shown.until(title)
    print(f"edit {number}: {1000 * took:.0f} ms", flush=True)
    return took


def _followed(entry: Entry, address: str, other: str, summary: str) -> tuple[float, float]:
    """Seconds until a finding that needs all entries, and until another full-text index."""
    index = _got(f"{address}pagefind/pagefind-entry.json")
    written = entry.summarize(summary)
    findings = search = 0.0
    while not (findings and search):
        if not findings and "this sentence stands elsewhere" in _got(f"{address}failures/{other}/"):
            findings = time.time() - written
        if not search and _got(f"{address}pagefind/pagefind-entry.json") not in ("", index):
            search = time.time() - written
        if time.time() - written > LIMIT_SECONDS:
            raise TimeoutError("findings or search did not follow")
        time.sleep(0.1)
    return findings, search


def _got(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=LIMIT_SECONDS) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError:
        return ""


def report(results: Sequence[Served]) -> str:
    """A section of RESULTS.md."""
    rows = [
        "| entries | first page s | edit to page ms, median | worst | effect on another page ms, median | worst | findings s | search s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in results:
        own, other = ([1000 * seconds for seconds in times] for times in (each.own, each.other))
        rows.append(
            f"| {each.count:,} | {each.started:.1f} | {statistics.median(own):.0f} | {max(own):.0f} "
            f"| {statistics.median(other):.0f} | {max(other):.0f} | {each.findings:.1f} | {each.search:.1f} |"
        )
    ahead = os.sched_getscheduler(0) != os.SCHED_OTHER
    order = "; by `chrt`, all of this ran ahead of the machine's other work" if ahead else ""
    head = f"{TITLE}\n\n{_INTRODUCTION}\n\n{date.today()}; {machine()}. {load()}{order}.\n"
    return "\n".join([head, *rows]) + "\n"


_INTRODUCTION = """Written by `bench/serve.py`: from the write of an entry's file to the first contentful paint of the reloaded page in Chromium,
and until the findings that need all entries, and the full-text search, followed. The first page is from the start of `serve`."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how soon an edit is seen.")
    parser.add_argument("--sizes", default="1000,10000", help="numbers of entries (1000,10000)")
    parser.add_argument("--edits", type=int, default=20)
    parser.add_argument(
        "--content", type=Path, action="append", help="a content folder to take instead of generated entries"
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    results: list[Served] = []
    for content in options.content or []:
        count = len(list((content / "failures").iterdir()))
        results.append(measure(content.resolve(), count, options.edits))
    for count in [] if options.content else map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="firstfault-bench-") as folder:
            entries.write(Path(folder) / "content", count)
            results.append(measure(Path(folder) / "content", count, options.edits))
    section = report(results)
    print(section, flush=True)
    put(section, options.results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
