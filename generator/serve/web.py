"""The web application: the site's files, with the findings over its pages, and the lines of the content's files."""

from __future__ import annotations

import asyncio
import html
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from ..finding import printable
from ..load import MAX_FILE_BYTES
from .editions import Editions
from .site import Site
from .workshop import NONE, Problem, State

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What the pages say of themselves, and what a page can't say of itself: that no other may frame it."""
KEEP_ALIVE_SECONDS = 15
PATIENCE_SECONDS = 1.0
"""So long a browser waits for the first state before it gets a page that says so; a program waits until it is there."""


def application(site: Site, content: Path, static: Path) -> Starlette:
    """The web application that serves ``site`` as it is at each request; its styles and scripts are of ``static``."""
    editions = Editions(static)

    async def events(request: Request) -> Response:
        seen, told = (request.query_params.get(name, "") for name in ("seen", "told"))
        return StreamingResponse(_events(site, seen, told), media_type="text/event-stream")

    async def file(request: Request) -> Response:
        path = request.path_params["path"]
        if path in _OWN_FILES:
            return _response(path, _OWN_FILES[path])
        is_browser = "text/html" in request.headers.get("accept", "")
        with suppress(TimeoutError):
            await asyncio.wait_for(_first_state(site), PATIENCE_SECONDS if is_browser else None)
        if site.state is None:
            return _page("reading.html", _READING, None, 0)
        asked = request.query_params.get("edition")
        is_now = asked == editions.now()
        response = await _answer(site, path, editions)
        # What changed while it was answered may be the one edition or the other.
        if is_now and asked == editions.now():
            response.headers["Cache-Control"] = "max-age=31536000, immutable"
        return response

    async def source(request: Request) -> Response:
        line = request.query_params.get("line", "")
        number = int(line) if re.fullmatch("[0-9]{1,7}", line) else 0
        return _source(site, content, request.path_params["path"], number)

    return Starlette(
        routes=[
            Route("/_serve/events", events),
            Route("/_serve/source/{path:path}", source),
            Route("/{path:path}", file),
        ]
    )


async def _first_state(site: Site) -> None:
    while site.state is None and not site.closing:
        await site.changed.wait()


async def _events(site: Site, seen: str, told: str) -> AsyncIterator[str]:
    """An event when the page that has ``seen`` a version is out of date, and before that others with new findings.

    Comments keep the line open until then.
    """
    while not site.closing:
        changed, state = site.changed, site.state
        if state is not None and str(state.version) != seen:
            yield "data: changed\n\n"
            return
        if state is not None and str(site.told) != told:
            told = str(site.told)
            yield f"event: findings\ndata: {json.dumps(_findings(state))}\n\n"
        try:
            await asyncio.wait_for(changed.wait(), KEEP_ALIVE_SECONDS)
        except TimeoutError:
            yield ": still here\n\n"


async def _answer(site: Site, path: str, editions: Editions) -> Response:
    if path in site.index:
        return _response(path, site.index[path])
    answer = await site.answer(path)
    name = f"{path}index.html" if path == "" or path.endswith("/") else path
    if answer.data is not None:
        if name.endswith(".html"):
            return _page(name, editions.linked(answer.data), answer.state, site.told)
        return _response(name, answer.data)
    if answer.state.words == NONE:
        return _page("findings.html", _NO_PAGE_YET, answer.state, site.told, 500)
    if answer.is_folder:
        return RedirectResponse(f"/{path}/")
    if answer.state.problems and path.startswith("failures/"):
        return _page("404.html", _NOT_YET, answer.state, site.told, 404)
    missing = await site.answer("404.html")
    return _page("404.html", missing.data or _NO_PAGE, missing.state, site.told, 404)


def _source(site: Site, content: Path, path: str, line: int) -> Response:
    """A text file of the content with its lines numbered, and a link that opens it in an editor."""
    root = content.resolve()
    try:
        file = (root.parent / path).resolve()
        # What isn't a file, as a pipe, may never end.
        if not file.is_relative_to(root) or not file.is_file():
            return _page("404.html", _NO_PAGE, site.state, site.told, 404)
        with file.open("rb") as opened:
            lines = opened.read(MAX_FILE_BYTES).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):
        return _page("404.html", _NO_PAGE, site.state, site.told, 404)
    rows = "".join(
        f'<li id="line-{number}"{" class=at" if number == line else ""}>{html.escape(printable(text))}</li>'
        for number, text in enumerate(lines, 1)
    )
    name = html.escape(path)
    editor = f"vscode://file{quote(str(file))}:{line or 1}"
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/_serve/findings.css"></head><body class="serve-source">'
        f'<h1>{name}</h1><p><a href="{html.escape(editor)}">Open it in VS Code</a></p><ol>{rows}</ol></body></html>'
    )
    return _page("source.html", page.encode(), site.state, site.told)


def _page(name: str, data: bytes, state: State | None, told: int, status: int = 200) -> Response:
    """An HTML page with what this server adds to it: nothing to one that leads on, whose policy allows no script."""
    if b'http-equiv="refresh"' in data:
        return _response(name, data, status)
    version, findings = (0, "") if state is None else (state.version, _findings(state))
    added = (
        f'<div id="serve-over">{findings}</div>'
        f'<script src="/_serve/reload.js" data-version="{version}" data-told="{told}"></script>'
    ).encode()
    before, end, after = data.rpartition(b"</body>")
    whole = before + added + end + after if end else data + added
    return _response(name, whole, status)


def _findings(state: State) -> str:
    problems = state.problems
    if not problems:
        return ""
    items = "".join(f"<li>{_item(problem)}</li>" for problem in problems)
    count = f"{len(problems)} finding{'s' if len(problems) > 1 else ''}"
    return (
        '<link rel="stylesheet" href="/_serve/findings.css">'
        f'<details class="serve-findings" open><summary>{count}; {state.words}</summary><ul>{items}</ul></details>'
    )


def _item(problem: Problem) -> str:
    text = html.escape(problem.text)
    return f'<a href="{html.escape(problem.link)}">{text}</a>' if problem.link else text


def _response(name: str, data: bytes, status: int = 200) -> Response:
    kind = _KINDS.get(name.rpartition(".")[2], "application/octet-stream")
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
    }
    return Response(data, status, headers, media_type=kind)


_KINDS = {
    "css": "text/css",
    "html": "text/html",
    "ico": "image/x-icon",
    "js": "text/javascript",
    "json": "application/json",
    "log": "text/plain",
    "mjs": "text/javascript",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "wasm": "application/wasm",
    "xml": "application/xml",
}
"""By a file's extension; not asked of the system, whose answers differ."""
_READING = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Reading</title><link rel="icon" href="data:,"></head>
<body><h1>The content is being read</h1><p>The page comes when it is.</p></body></html>
"""
_NO_PAGE_YET = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Findings</title><link rel="icon" href="data:,"></head>
<body><h1>Nothing to show yet</h1><p>The page reloads when the content changes.</p></body></html>
"""
_NOT_YET = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Errors</title></head>
<body><h1>No such entry, or one with errors</h1>
<p>What keeps entries from being shown stands below. The page comes when it is repaired.</p></body></html>
"""
_NO_PAGE = b"<!doctype html><html lang=en><head><title>404</title></head><body>No such page</body></html>"
_OWN_FILES = {
    "_serve/reload.js": b"""// Reloads the page when the site has changed since it was made; new findings alone are laid over it.
const { version, told } = document.currentScript.dataset;
const events = new EventSource(`/_serve/events?seen=${version}&told=${told}`);
const over = document.getElementById("serve-over");
events.onmessage = () => { events.close(); location.reload(); };
events.addEventListener("findings", (event) => {
  const former = over.querySelector("details");
  const [open, top] = [former?.open ?? true, former?.scrollTop ?? 0];
  over.innerHTML = JSON.parse(event.data);
  const now = over.querySelector("details");
  if (now) [now.open, now.scrollTop] = [open, top];
});
addEventListener("pagehide", () => events.close());
""",
    "_serve/findings.css": b""".serve-findings {
  position: fixed; inset: auto 0 0 0; z-index: 100; max-block-size: 60vh; overflow: auto; box-sizing: border-box;
  padding: 1rem 1.25rem; background: #2b0b0e; color: #ffe9e9; font: 14px/1.5 ui-monospace, monospace;
}
.serve-findings summary { font-weight: bold; cursor: pointer; }
.serve-findings a { color: inherit; }
.serve-findings li { margin-block-start: 0.5rem; overflow-wrap: anywhere; white-space: pre-wrap; }
.serve-source { margin: 1rem 1rem 50vh; font: 14px/1.6 ui-monospace, monospace; }
.serve-source h1 { font-size: 1rem; }
.serve-source ol { padding-inline-start: 4em; }
.serve-source li { white-space: pre-wrap; overflow-wrap: anywhere; scroll-margin-block-start: 30vh; }
.serve-source li.at { background: #ffd9d9; color: #2b0b0e; }
@media print { .serve-findings { display: none; } }
""",
}
