"""The real site, built once, served under a subfolder, and read in a real browser."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from .tools import browser as chromium

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real content, built and indexed by the real commands."""
    from generator.build import Options, build

    out = tmp_path_factory.mktemp("host") / "manual"
    result = build(Options(root=ROOT, out=out))
    assert result.ok, "\n".join(map(str, result.findings))
    return out


class QuietHandler(SimpleHTTPRequestHandler):
    """A plain static host: no rewriting, and the 404 page that such hosts serve."""

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where the site is served: under a subfolder, as on any static host."""
    handler = functools.partial(QuietHandler, directory=str(site.parent))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{site.name}/"
    server.shutdown()
    thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.find()
    assert path, chromium.MISSING
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A fresh page that fails the test where it asks another host or prints an error."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("request", lambda r: r.url.startswith((address, "blob:", "data:")) or wrong.append(r.url))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda m: m.type == "error" and wrong.append(m.text))
    yield opened
    context.close()
    assert not wrong, wrong
