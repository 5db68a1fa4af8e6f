"""The site in memory, served on this machine alone; a change in content, templates or static rebuilds it.

The findings are laid over every page, each with a link to its line. An entry with errors shows as far as it can
be drawn; where that isn't possible, the last good site stays, or at the start the site without that entry. What
only this server adds to a page (a script that waits for changes, the findings) comes from its own files, so the
site's policy holds here as it does for readers.
"""

from __future__ import annotations

import asyncio
import html
import re
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import jinja2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from watchfiles import awatch

from . import search_index
from .build import ROOT, forbids, site_files
from .catalogue import Catalogue
from .checks import examine
from .content import Content
from .finding import Finding, printable
from .load import MAX_FILE_BYTES
from .write import SiteError, arrange

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What the pages say of themselves, and what a page can't say of itself: that no other may frame it."""
KEEP_ALIVE_SECONDS = 15
LOOK_MILLISECONDS = 500
"""After which it is asked again whether the folders are those that are watched."""


@dataclass(frozen=True)
class Options:
    """What to serve, and where: port 0 is any free one."""

    content: Path = ROOT / "content"
    root: Path = ROOT
    port: int = 8000


@dataclass(frozen=True)
class Problem:
    """What is wrong, in a line, and the address of the place that it is at."""

    text: str
    link: str = ""


@dataclass(frozen=True)
class Snapshot:
    """One build: its files, or None where it couldn't be made, and what would forbid it."""

    files: Mapping[str, bytes] | None
    problems: tuple[Problem, ...] = ()
    whole: bool = True
    """Whether every entry is in it."""
    documents: search_index.Documents | None = None
    """What its full-text index is made of."""


def serve(options: Options, say: Callable[[str], None]) -> None:
    """Serve until interrupted; ``say`` gets the address once it can be opened. Raises OSError for a taken port."""
    listener = socket.create_server(("127.0.0.1", options.port))
    with listener, suppress(KeyboardInterrupt):
        asyncio.run(_serve(options, listener, say))


def make(options: Options) -> Snapshot:
    """Build in memory, without the full-text index, as much as can be built."""
    content, findings = examine(options.content)
    if not forbids(findings, strict=False):
        files, why = _files(content, options.root)
        return Snapshot(files, why, documents=search_index.documents(Catalogue(content)))
    problems = tuple(Problem(str(finding), _link(finding, options.content)) for finding in findings)
    files, _ = _files(content, options.root)
    if files is not None:
        return Snapshot(files, problems, not content.broken, search_index.documents(Catalogue(content)))
    wrong = {finding.path for finding in findings if finding.severity == "error"}
    right = tuple(loaded for loaded in content.entries if loaded.positions.path not in wrong)
    content = replace(content, entries=right)
    files, _ = _files(content, options.root)
    return Snapshot(files, problems, False, search_index.documents(Catalogue(content)))


def _files(content: Content, root: Path) -> tuple[Mapping[str, bytes] | None, tuple[Problem, ...]]:
    """The site's files, or None and why they can't be made."""
    try:
        return arrange(site_files(content, root)), ()
    except jinja2.TemplateError as error:
        place = f"{error.filename}:{error.lineno}: " if isinstance(error, jinja2.TemplateSyntaxError) else ""
        return None, (Problem(f"{place}template: {error.message}"),)
    except Exception as error:
        # A template that is being edited, or an entry with errors, may raise anything; the server outlives it.
        return None, (Problem(f"{type(error).__name__}: {error}"),)


def _link(finding: Finding, content: Path) -> str:
    """Where this server shows the place of a finding; nothing where there is no file."""
    if not (content.resolve().parent / finding.path).is_file():
        return ""
    return f"/_serve/source/{quote(finding.path)}?line={finding.line}#line-{finding.line}"


@dataclass
class Site:
    """What is served at this moment."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    documents: search_index.Documents | None = None
    index: Mapping[str, bytes] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    state: str = "there is no good site yet"
    """What is shown under the problems."""
    told: tuple[Problem, ...] = ()
    version: int = field(default_factory=time.time_ns)
    closing: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, snapshot: Snapshot) -> None:
        """Serve the snapshot, or a better former site under its problems, and let every open page reload."""
        if snapshot.files is not None and (snapshot.whole or not self.files):
            self.files, self.documents = snapshot.files, snapshot.documents
            self.state = "shown as it is" if snapshot.whole else "shown without the entries that have errors"
        elif self.files:
            self.state = "this is the last good site"
        self.problems = snapshot.problems
        self.version += 1
        self.wake()

    def wake(self) -> None:
        former, self.changed = self.changed, asyncio.Event()
        former.set()


async def _serve(options: Options, listener: socket.socket, say: Callable[[str], None]) -> None:
    site = Site()
    site.take(await asyncio.to_thread(make, options))
    _tell(site, say)
    config = uvicorn.Config(
        application(site, options.content), log_level="warning", access_log=False, lifespan="off"
    )
    server = _Server(config, site, lambda: say(f"http://127.0.0.1:{listener.getsockname()[1]}/"))
    background = [
        asyncio.create_task(_watch(options, site, say)),
        asyncio.create_task(_keep_indexed(site, say)),
    ]
    # Let the watcher begin before anybody is told the address.
    await asyncio.sleep(0)
    try:
        await server.serve(sockets=[listener])
    finally:
        for task in background:
            task.cancel()
        await asyncio.gather(*background, return_exceptions=True)


class _Server(uvicorn.Server):
    """Says when it listens, and ends the streams of events before it waits for open connections."""

    def __init__(self, config: uvicorn.Config, site: Site, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._site = site
        self._say_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._say_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._site.closing = True
        self._site.wake()
        await super().shutdown(sockets)


async def _watch(options: Options, site: Site, say: Callable[[str], None]) -> None:
    unseen = False
    while True:
        folders = _folders(options)
        try:
            async for changes in awatch(*folders, rust_timeout=LOOK_MILLISECONDS, yield_on_timeout=True):
                if changes or unseen:
                    site.take(await asyncio.to_thread(make, options))
                    _tell(site, say)
                # Watched is the folder that was there, not its name; another may have come by that name.
                unseen = _folders(options) != folders
                if unseen:
                    break
        except FileNotFoundError:
            unseen = True
        except OSError as error:
            say(f"changes are not watched: {error}")
            return


def _folders(options: Options) -> dict[Path, int]:
    """What a site is made from, as far as it is there: each folder, and which one has its name."""
    found: dict[Path, int] = {}
    for folder in (options.content, options.root / "templates", options.root / "static"):
        with suppress(OSError):
            found[folder] = folder.stat().st_ino
    return found


def _tell(site: Site, say: Callable[[str], None]) -> None:
    """Print the problems, once each time they change."""
    if site.problems != site.told:
        for problem in site.problems or (Problem("no errors any more"),):
            say(problem.text)
    site.told = site.problems


async def _keep_indexed(site: Site, say: Callable[[str], None]) -> None:
    """Refresh the full-text index after each change of what it is made of; the former one serves until then."""
    indexed: search_index.Documents | None = None
    while True:
        changed, documents = site.changed, site.documents
        if documents is not None and documents != indexed:
            try:
                site.index = await asyncio.to_thread(search_index.index_files, documents)
            except (OSError, SiteError) as error:
                say(f"no full-text search: {error}")
            indexed = documents
        if site.changed is changed:
            await changed.wait()


def application(site: Site, content: Path) -> Starlette:
    """The web application that serves ``site`` as it is at each request, and the lines of the content's files."""

    async def events(request: Request) -> Response:
        return StreamingResponse(
            _events(site, request.query_params.get("seen", "")), media_type="text/event-stream"
        )

    async def file(request: Request) -> Response:
        return _answer(site, request.path_params["path"])

    async def source(request: Request) -> Response:
        line = request.query_params.get("line", "")
        return _source(
            site, content, request.path_params["path"], int(line) if re.fullmatch("[0-9]{1,7}", line) else 0
        )

    return Starlette(
        routes=[
            Route("/_serve/events", events),
            Route("/_serve/source/{path:path}", source),
            Route("/{path:path}", file),
        ]
    )


async def _events(site: Site, seen: str) -> AsyncIterator[str]:
    """One event when the page that has ``seen`` a version is out of date; comments keep the line open until then."""
    while str(site.version) == seen and not site.closing:
        try:
            await asyncio.wait_for(site.changed.wait(), KEEP_ALIVE_SECONDS)
        except TimeoutError:
            yield ": still here\n\n"
    if not site.closing:
        yield "data: changed\n\n"


def _answer(site: Site, path: str) -> Response:
    if path in _OWN_FILES:
        return _response(path, _OWN_FILES[path])
    if not site.files:
        return _page(site, "findings.html", _NO_SITE, status=500)
    name = f"{path}index.html" if path == "" or path.endswith("/") else path
    data = site.files.get(name, site.index.get(name))
    if data is not None:
        return _page(site, name, data) if name.endswith(".html") else _response(name, data)
    if f"{path}/index.html" in site.files:
        return RedirectResponse(f"/{path}/")
    if site.problems and path.startswith("failures/"):
        return _page(site, "404.html", _NOT_YET, status=404)
    return _page(site, "404.html", site.files.get("404.html", _NO_PAGE), status=404)


def _source(site: Site, content: Path, path: str, line: int) -> Response:
    """A text file of the content with its lines numbered, and a link that opens it in an editor."""
    root = content.resolve()
    try:
        file = (root.parent / path).resolve()
        # What isn't a file, as a pipe, may never end.
        if not file.is_relative_to(root) or not file.is_file():
            return _page(site, "404.html", _NO_PAGE, status=404)
        with file.open("rb") as opened:
            lines = opened.read(MAX_FILE_BYTES).decode("utf-8", "replace").split("\n")
    except (OSError, ValueError):
        return _page(site, "404.html", _NO_PAGE, status=404)
    rows = "".join(
        f'<li id="line-{number}"{" class=at" if number == line else ""}>{html.escape(printable(text))}</li>'
        for number, text in enumerate(lines, 1)
    )
    name = html.escape(path)
    editor = f"vscode://file{quote(str(file))}:{line or 1}"
    return _page(
        site,
        "source.html",
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/_serve/findings.css"></head><body class="serve-source">'
        f'<h1>{name}</h1><p><a href="{html.escape(editor)}">Open it in VS Code</a></p><ol>{rows}</ol></body></html>'.encode(),
    )


def _page(site: Site, name: str, data: bytes, status: int = 200) -> Response:
    """An HTML page with what this server adds to it: nothing to one that leads on, whose policy allows no script."""
    if b'http-equiv="refresh"' in data:
        return _response(name, data, status)
    script = f'<script src="/_serve/reload.js" data-version="{site.version}"></script>'
    added = f"{_findings(site.problems, site.state)}{script}".encode()
    before, end, after = data.rpartition(b"</body>")
    whole = before + added + end + after if end else data + added
    return _response(name, whole, status)


def _findings(problems: tuple[Problem, ...], state: str) -> str:
    if not problems:
        return ""
    items = "".join(f"<li>{_item(problem)}</li>" for problem in problems)
    count = f"{len(problems)} finding{'s' if len(problems) > 1 else ''}"
    return (
        '<link rel="stylesheet" href="/_serve/findings.css">'
        f'<details class="serve-findings" open><summary>{count}; {state}</summary><ul>{items}</ul></details>'
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
_NO_SITE = b"""<!doctype html>
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
    "_serve/reload.js": b"""// Reloads the page when the site has changed since it was made.
const seen = document.currentScript.dataset.version;
const events = new EventSource(`/_serve/events?seen=${seen}`);
events.onmessage = () => { events.close(); location.reload(); };
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
