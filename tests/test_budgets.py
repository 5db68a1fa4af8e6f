"""What a page of every kind may weigh, load and move before somebody uses it."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Route, expect

from bench.pages import pages_by_kind
from generator.pages import Kind

from .test_reading import BUSY
from .test_site import document

HTML, CSS, JS = 25_000, 12_000, 8_000
"""Compressed bytes of a page, of its style sheets, and of all scripts that it loads before somebody uses it."""
HTML_OF = {"hub": 60_000}
"""A hub tells of all its failures, side by side."""
CSS_OF = {"diagnose": 13_000}
"""The diagnosis brings what shows its answer, which has no page of its own."""
JS_OF = {"compare": 9_000, "diagnose": 13_000}
"""These do something beside being read."""
STATES = [
    ("entry", "?view=on-call"),
    ("hub", "?stage=3"),
    ("compare", "?with=zero3-weight-must-be-2d,zero3-param-not-available"),
]
"""Addresses that show another state of a page from the start."""
IMPORT = re.compile(r'^(?:import|export)\b[^;]*?\bfrom "([^"]+)";', re.MULTILINE)


def packed(paths: Iterable[Path]) -> int:
    return sum(len(gzip.compress(path.read_bytes(), 9, mtime=0)) for path in paths)


def loaded(page: Path, host: Path) -> set[Path]:
    """The files that a page of the host's folder names in its head, with what its scripts import."""
    found: set[Path] = set()
    queue = [
        (host / path.lstrip("/") if path.startswith("/") else page.parent / path).resolve()
        for path in (urlsplit(link).path for link in document(page).assets)
        if path.endswith((".css", ".js", ".svg"))
    ]
    while queue:
        path = queue.pop()
        if path not in found:
            found.add(path)
            imports = IMPORT.findall(path.read_text(encoding="utf-8")) if path.suffix == ".js" else []
            queue += [(path.parent / name).resolve() for name in imports]
    return found


def file_of(site: Path, page: str) -> Path:
    return site / page / "index.html" if page.endswith("/") or page == "" else site / page


def test_weight_of_every_page(site: Path) -> None:
    kinds = pages_by_kind(site)
    assert kinds.keys() == {*get_args(Kind)} - {"redirect"}
    for kind, pages in kinds.items():
        for page in pages:
            path = file_of(site, page)
            assert packed([path]) <= HTML_OF.get(kind, HTML), page
        files = loaded(file_of(site, pages[0]), site.parent)
        weight: Counter[str] = Counter()
        for file in files:
            weight[file.suffix] += packed([file])
        assert weight[".css"] <= CSS_OF.get(kind, CSS), kind
        assert weight[".js"] <= JS_OF.get(kind, JS), (kind, sorted(file.name for file in files))


@dataclass(frozen=True)
class Visit:
    """What moved on a page without somebody's doing, and what the page loaded."""

    moved: list[Any]
    asked: set[str]


def visit(context: BrowserContext, url: str) -> Visit:
    """Read the page to its end; the scripts come when it has been painted without them, as over a slow network."""
    page = context.new_page()
    held: list[Route] = []
    asked: set[str] = set()
    page.route(MODULES, lambda route: held.append(route))
    page.on("request", lambda request: asked.add(request.url))
    page.goto(url, wait_until="commit")
    page.wait_for_function("() => window.painted")
    page.route(MODULES, lambda route: route.continue_())
    for route in held:
        route.continue_()
    page.wait_for_load_state()
    expect(page.locator(BUSY)).to_have_count(0)
    page.evaluate(READ_TO_THE_END)
    moved = page.evaluate("window.moved")
    page.close()
    return Visit(moved, asked)


@pytest.fixture(params=[390, 1440])
def context(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": request.param, "height": 900}, reduced_motion="reduce")
    opened.add_init_script(WATCH)
    yield opened
    opened.close()


def test_a_page_moves_nothing_and_loads_nothing_else(
    context: BrowserContext, site: Path, address: str
) -> None:
    for pages in pages_by_kind(site).values():
        page = pages[0]
        found = visit(context, address + page)
        assert found.moved == [], page
        files = {
            file.relative_to(site.resolve()).as_posix() for file in loaded(file_of(site, page), site.parent)
        }
        assert found.asked - {address + name for name in files} == {address + page}


def test_a_page_in_another_state_moves_nothing(context: BrowserContext, site: Path, address: str) -> None:
    kinds = pages_by_kind(site)
    for kind, state in STATES:
        assert visit(context, address + kinds[kind][0] + state).moved == [], (kind, state)


MODULES = re.compile(r"/js/(?!preferences\.)")
WATCH = """
window.painted = false;
window.moved = [];
new PerformanceObserver(() => { window.painted = true; }).observe({type: "paint", buffered: true});
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) {
    if (shift.value > 0) window.moved.push([shift.value, ...shift.sources.map((source) => source.node?.outerHTML?.slice(0, 120))]);
  }
}).observe({type: "layout-shift", buffered: true});
"""
READ_TO_THE_END = """async () => {
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  await painted();
  for (let top = 0; top < document.documentElement.scrollHeight; top += 5 * innerHeight) {
    scrollTo(0, top);
    await painted();
  }
  scrollTo(0, 0);
  await painted();
}"""
