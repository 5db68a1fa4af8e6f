"""The real site, built once, served under a subfolder, and read in a real browser."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from generator.build import Options, build

from .tools import browser as chromium

ROOT = Path(__file__).parents[1]


class QuietHandler(SimpleHTTPRequestHandler):
    """A plain static host, silent."""

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder that is served, and its address."""
    folder = tmp_path_factory.mktemp("host")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()


@pytest.fixture(scope="session")
def options(host: tuple[Path, str]) -> Options:
    """How the site is built: the real content, for a subfolder of the host."""
    folder, root = host
    return Options(root=ROOT, out=folder / "manual", base_url=f"{root}manual/")


@pytest.fixture(scope="session")
def site(options: Options) -> Path:
    """The folder of the built and indexed site."""
    result = build(options)
    assert result.ok, "\n".join(map(str, result.findings))
    return options.out


@pytest.fixture(scope="session")
def address(site: Path, options: Options) -> str:
    """Where the site is served."""
    return options.base_url


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
