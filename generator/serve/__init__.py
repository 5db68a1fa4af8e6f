"""The site, served on this machine alone; what changes in content, templates or static shows in the open pages.

The findings are laid over every page, each with a link to its line: those of a changed entry come with the page, and
what takes a look at everything follows, as the full-text search does. An entry with errors shows as far as it can be
drawn; where that isn't possible, its last good page stays, or there is none. What only this server adds to a page (a
script that waits for changes, the findings) comes from its own files, so the site's policy holds here as it does for
readers.

One process listens (``web``, ``site``) and watches; another one reads the content and makes what is asked for
(``desk``, ``workshop``, of ``reading`` and ``making``); its children look at everything.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from watchfiles import Change, awatch

from ..build import ROOT, process_count
from .site import Office, Site
from .web import application
from .workshop import Index, Problem

LOOK_MILLISECONDS = 500
"""After which it is asked again whether the folders are those that are watched."""
QUIET_MILLISECONDS, MOST_MILLISECONDS = 5, 100
"""A change is told when so long no other followed, or when it is so old."""
AGAIN_SECONDS = 3
"""So long after a change it is looked again at what changed: longer than files are young, see ``reading``."""


@dataclass(frozen=True)
class Options:
    """What to serve, and where: port 0 is any free one."""

    content: Path = ROOT / "content"
    root: Path = ROOT
    port: int = 8000


def serve(options: Options, say: Callable[[str], None]) -> None:
    """Serve until interrupted; ``say`` gets the address once it can be opened. Raises OSError for a taken port."""
    listener = socket.create_server(("127.0.0.1", options.port))
    with listener, suppress(KeyboardInterrupt):
        asyncio.run(_serve(options, listener, say))


async def _serve(options: Options, listener: socket.socket, say: Callable[[str], None]) -> None:
    # A page that was open before this server began is out of date.
    office = Office(options.content, options.root, time.time_ns(), process_count(options.content, None))
    site = Site(office)
    config = uvicorn.Config(
        application(site, options.content), log_level="warning", access_log=False, lifespan="off"
    )
    server = _Server(config, site, lambda: say(f"http://127.0.0.1:{listener.getsockname()[1]}/"))
    background = [asyncio.create_task(_watch(options, site, say))]
    # Let the watcher begin before anything is read.
    await asyncio.sleep(0)
    office.start()
    background += [
        asyncio.create_task(_begin(office, site, say)),
        asyncio.create_task(_follow(site, say)),
        asyncio.create_task(_end_with(office, server, say)),
    ]
    try:
        await server.serve(sockets=[listener])
    finally:
        # First what waits for nothing: an interrupt ends this at the next wait.
        office.close()
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


async def _begin(office: Office, site: Site, say: Callable[[str], None]) -> None:
    site.take(await office.first)
    if site.state is not None and site.state.problems:
        _tell((), site, say)


async def _end_with(office: Office, server: _Server, say: Callable[[str], None]) -> None:
    await office.lost.wait()
    say("the process that makes the pages has ended")
    server.should_exit = True


async def _watch(options: Options, site: Site, say: Callable[[str], None]) -> None:
    unseen, last = False, 0.0
    while True:
        folders = _folders(options)
        try:
            async for changes in awatch(
                *folders,
                watch_filter=None,
                debounce=MOST_MILLISECONDS,
                step=QUIET_MILLISECONDS,
                rust_timeout=LOOK_MILLISECONDS,
                yield_on_timeout=True,
            ):
                if changes or unseen:
                    last = time.monotonic()
                if time.monotonic() - last < AGAIN_SECONDS:
                    await _look(site, {Path(path) for _, path in changes}, say)
                if unseen:
                    await _look(site, await site.workers.ask("missed"), say)
                # Watched is the folder that was there, not its name; another may have come by that name, and number.
                is_gone = any(kind == Change.deleted and Path(path) in folders for kind, path in changes)
                unseen = is_gone or _folders(options) != folders
                if unseen:
                    break
        except FileNotFoundError:
            unseen = True
        except OSError as error:
            say(f"changes are not watched: {error}")
            return


async def _look(site: Site, paths: Iterable[Path], say: Callable[[str], None]) -> None:
    problems = () if site.state is None else site.state.problems
    await site.look(paths)
    _tell(problems, site, say)


def _folders(options: Options) -> dict[Path, int]:
    """What a site is made from, as far as it is there: each folder, and which one has its name."""
    found: dict[Path, int] = {}
    for folder in (options.content, options.root / "templates", options.root / "static"):
        with suppress(OSError):
            found[folder] = folder.stat().st_ino
    return found


def _tell(former: tuple[Problem, ...], site: Site, say: Callable[[str], None]) -> None:
    """Print the problems, once each time they change."""
    if site.state is not None and site.state.problems != former:
        for problem in site.state.problems or (Problem("no errors any more"),):
            say(problem.text)


async def _follow(site: Site, say: Callable[[str], None]) -> None:
    """After each change find what takes a look at everything, and make the full-text index anew."""
    followed, digest = 0, ""
    while True:
        changed, state = site.changed, site.state
        if state is None or state.version == followed:
            await changed.wait()
            continue
        await _look(site, await site.workers.ask("missed"), say)
        followed = state.version if site.state is None else site.state.version
        await _take(site, "found", await site.workers.ask("look_through"), say)
        index: Index = await site.workers.ask("index", digest)
        digest, site.index = index.digest, site.index if index.files is None else index.files
        if index.failed:
            say(f"no full-text search: {index.failed}")
        await _take(site, "found_in_logs", await site.workers.ask("look_through_logs"), say)
        await _take(site, "found_in_pages", await site.workers.ask("look_at_pages"), say)


async def _take(site: Site, name: str, found: tuple[Any, ...], say: Callable[[str], None]) -> None:
    """Show what was found."""
    problems = () if site.state is None else site.state.problems
    site.take(await site.workers.ask(name, *found))
    _tell(problems, site, say)
