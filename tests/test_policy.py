"""The security policy in a real browser: no page offends it, with the meta element alone or with the server's
header; it holds against what it is for; and nothing is asked of another host."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect

from generator.build import site_files
from generator.load import load
from generator.serve.site import Site
from generator.serve.web import POLICY, application
from generator.serve.workshop import Answer, State
from generator.write import arrange, write_site

from . import golden
from .conftest import ROOT
from .test_hostile import served
from .test_reading import BUSY, KINDS

LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.effectiveDirective}: ${event.blockedURI}`));
"""


class Made:
    """Answers with files that are all there already."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    async def ask(self, name: str, *arguments: Any) -> Answer:
        (path,) = arguments
        name = f"{path}index.html" if path == "" or path.endswith("/") else path
        return Answer(self.files.get(name), State(1), f"{path}/index.html" in self.files)


@contextmanager
def served_by_us(files: Mapping[str, bytes]) -> Iterator[str]:
    """The address of a site that ``serve`` sends, with its headers and what it adds to pages."""
    site = Site(Made(files), State(1))
    listener = socket.create_server(("127.0.0.1", 0))
    app = application(site, ROOT / "content", ROOT / "static")
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        site.closing = True
        server.should_exit = server.force_exit = True
        thread.join(timeout=20)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def with_header(site: Path) -> Iterator[str]:
    """The address of the real site at a server's root, served by us."""
    files = arrange(site_files(load(ROOT / "content")[0], ROOT))
    index = {
        path.relative_to(site).as_posix(): path.read_bytes() for path in (site / "pagefind").rglob("*.*")
    }
    with served_by_us({**files, **index}) as address:
        yield address


@dataclass
class Watched:
    """A page that takes down what it asks of other hosts and what it says of errors."""

    page: Page
    address: str
    foreign: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.add_init_script(LISTEN)
        self.page.on("request", lambda request: self._take(request.url))
        # What the policy stops is reported as a request that failed.
        self.page.on(
            "requestfailed", lambda request: request.failure == "csp" and self.stopped.append(request.url)
        )
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))

    def _take(self, url: str) -> None:
        if not url.startswith((self.address, "blob:", "data:")):
            self.foreign.append(url)

    def violations(self) -> list[str]:
        found: list[str] = self.page.evaluate("window.violations")
        return found


@pytest.fixture(params=["the meta element alone", "the header of serve"])
def watched(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Watched]:
    name = "address" if request.param == "the meta element alone" else "with_header"
    context = browser.new_context()
    yield Watched(context.new_page(), request.getfixturevalue(name))
    context.close()


def test_no_page_offends_its_policy(watched: Watched) -> None:
    page = watched.page
    for path in KINDS:
        page.goto(watched.address + path)
        expect(page.locator(BUSY)).to_have_count(0)
        assert watched.violations() == [], path
    assert (watched.foreign, watched.errors) == ([], [])


@pytest.mark.parametrize("way", ["the meta element alone", "the header of serve"])
def test_a_redirect_does_not_offend_it(way: str, browser: Browser, tmp_path: Path) -> None:
    files = site_files(golden.catalogue().content, ROOT)
    write_site(files, tmp_path / "site")
    running = served(tmp_path / "site") if way.startswith("the meta") else served_by_us(arrange(files))
    context = browser.new_context()
    with running as address:
        watched = Watched(context.new_page(), address)
        watched.page.goto(f"{address}failures/weight-must-be-2d/")
        watched.page.wait_for_url("**/failures/zero3-weight-must-be-2-d/")
        watched.page.wait_for_load_state()
        assert (watched.violations(), watched.foreign, watched.errors) == ([], [], [])
        context.close()


def test_search_and_diagnosis_do_not_offend_it_either(watched: Watched) -> None:
    page = watched.page
    page.goto(f"{watched.address}about/")
    page.keyboard.press("/")
    page.keyboard.insert_text("gradient reduced twice")
    expect(page.get_by_role("status")).to_have_text(re.compile("result"))
    assert watched.violations() == []
    page.goto(f"{watched.address}diagnose/")
    page.locator("[data-sample]").first.click()
    expect(page.locator("#verdict")).to_be_visible()
    assert watched.violations() == []
    assert (watched.foreign, watched.errors) == ([], [])


ATTACKS = {
    "script-src-elem": "e = document.createElement('script'); e.textContent = 'window.owned = 1'",
    "script-src-attr": "e = document.createElement('b'); e.setAttribute('onclick', 'window.owned = 1'); e.click()",
    "style-src-elem": "e = document.createElement('style'); e.textContent = 'body { display: none }'",
    "style-src-attr": "e = document.createElement('b'); e.setAttribute('style', 'display: none')",
    "img-src": "e = document.createElement('img'); e.src = 'https://example.com/x.png'",
    "frame-src": "e = document.createElement('iframe'); e.src = 'https://example.com/'",
    "object-src": "e = document.createElement('object'); e.data = 'https://example.com/x.svg'",
    "font-src": "new FontFace('x', 'url(https://example.com/x.woff2)').load().catch(() => {}); e = document.createElement('b')",
    "connect-src": "fetch('https://example.com/').catch(() => {}); e = document.createElement('b')",
    "base-uri": "e = document.createElement('base'); e.href = 'https://example.com/'",
    "form-action": "e = document.createElement('form'); e.action = 'https://example.com/'; document.body.append(e); e.submit()",
}


@pytest.mark.parametrize("directive", ATTACKS)
def test_the_policy_holds(watched: Watched, directive: str) -> None:
    page = watched.page
    page.goto(f"{watched.address}about/")
    page.evaluate(f"() => {{ let e; {ATTACKS[directive]}; document.body.append(e); }}")
    page.wait_for_function("() => window.violations.length > 0")
    assert {each.partition(":")[0] for each in watched.violations()} == {directive}
    assert page.evaluate("window.owned") is None
    assert watched.foreign == watched.stopped


def test_eval_is_refused(watched: Watched) -> None:
    watched.page.goto(f"{watched.address}about/")
    refused = "() => { try { return Function('return 1')(); } catch (error) { return error.name; } }"
    # The driver's own evaluation is exempt from the policy; a script of the page is not.
    watched.page.evaluate(f"() => setTimeout(() => {{ window.said = ({refused})(); }})")
    watched.page.wait_for_function("() => window.said !== undefined")
    assert watched.page.evaluate("window.said") == "EvalError"


def test_the_header_says_what_the_pages_say(site: Path) -> None:
    stated = re.search(r'Content-Security-Policy" content="([^"]+)"', (site / "index.html").read_text())
    assert stated is not None
    said, header = (
        {words.partition(" ")[0]: words.partition(" ")[2] for words in policy.split("; ")}
        for policy in (stated[1], POLICY)
    )
    assert said.items() <= header.items()
    assert header.keys() - said.keys() == {"frame-ancestors"}
    assert said["default-src"] == "'none'"
    assert "unsafe-inline" not in POLICY
    assert "'unsafe-eval'" not in POLICY
