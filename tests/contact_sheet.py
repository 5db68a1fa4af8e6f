"""Every kind of page at three widths, light and dark, on one sheet: ``python -m tests.contact_sheet``.

It writes contact/index.html, which git ignores: look at it before and after a change of the design.
"""

from __future__ import annotations

import functools
import shutil
import sys
import threading
from html import escape
from http.server import ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright

from generator.build import Options, build

from .conftest import ROOT, QuietHandler
from .test_reading import BUSY, KINDS
from .tools import browser as chromium

OUT = ROOT / "contact"
WIDTHS = (390, 820, 1440)
SCHEMES = ("light", "dark")
HEIGHT = 2000
"""Pixels of a page that the sheet shows; the rest is cut."""


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    with TemporaryDirectory() as folder:
        result = build(Options(root=ROOT, out=Path(folder) / "site"))
        assert result.ok, "\n".join(map(str, result.findings))
        handler = functools.partial(QuietHandler, directory=str(Path(folder) / "site"))
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.flags())
            rows = [_row(browser, f"http://127.0.0.1:{server.server_port}/", path) for path in KINDS]
            browser.close()
        server.shutdown()
    (OUT / "index.html").write_text(_sheet(rows), encoding="utf-8")
    print(OUT / "index.html")
    return 0


def _row(browser: Browser, address: str, path: str) -> tuple[str, list[str]]:
    """A page's address, and the pictures of it."""
    name = "".join(letter if letter.isalnum() else "_" for letter in path) or "home"
    pictures = []
    for width in WIDTHS:
        for scheme in SCHEMES:
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.goto(address + path)
            page.locator(BUSY).wait_for(state="detached")
            picture = f"{name}-{width}-{scheme}.png"
            height = min(HEIGHT, page.evaluate("document.documentElement.scrollHeight"))
            clip = {"x": 0, "y": 0, "width": width, "height": height}
            page.screenshot(path=OUT / picture, full_page=True, clip=clip)  # type: ignore[arg-type]
            page.close()
            pictures.append(picture)
    return path, pictures


def _sheet(rows: list[tuple[str, list[str]]]) -> str:
    cells = "".join(
        f"<h2>/{escape(path)}</h2><p>{''.join(f'<img src={picture!r} height=600> ' for picture in pictures)}</p>"
        for path, pictures in rows
    )
    return f"<!doctype html><meta charset=utf-8><title>Contact sheet</title><style>p{{white-space:nowrap}}</style>{cells}"


if __name__ == "__main__":
    sys.exit(main())
