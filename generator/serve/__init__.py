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
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from watchfiles import Change, awatch

from ..build import ROOT, process_count
from ..load import is_visible
from .site import Office, Site, Workers
from .web import application
from .workshop import Index, Problem, State

LOOK_MILLISECONDS = 500
"""After which it is asked again whether the folders are those that are watched."""
QUIET_MILLISECONDS, MOST_MILLISECONDS = 2, 100
"""A change is told when so long no other followed, or when it is so old."""
AGAIN_SECONDS = 3
"""So long after a change it is looked again at what changed: longer than files are young, see ``reading``."""


QUIET_SECONDS = 1.0
"""So long nothing must have changed before everything is looked at."""

Show = Callable[[State], None]


@dataclass(frozen=True)
class Options:
    """What to serve, and where: port 0 is any free one."""

    content: Path = ROOT / "content"
    root: Path = ROOT
    port: int = 8000


def serve(options: Options, say: Callable[[str], None]) -> None:
    """Serve until interrupted; ``say`` gets the address once it can be opened. Raises OSError for a taken port."""
    with _listener(options.port) as listener, suppress(KeyboardInterrupt):
        asyncio.run(_serve(options, listener, say))


def _listener(port: int) -> socket.socket:
    """A socket that says it is TCP: else asyncio leaves Nagle's algorithm on, and each small answer waits 40 ms."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


async def _serve(options: Options, listener: socket.socket, say: Callable[[str], None]) -> None:
    def show(state: State) -> None:
        """Let open pages have the state, and print its problems where they are others."""
        former = () if site.state is None else site.state.problems
        site.take(state)
        if state.problems != former:
            for problem in state.problems or (Problem("no errors any more"),):
                say(problem.text)

    # A page that was open before this server began is out of date.
    version, count = time.time_ns(), process_count(options.content, None)
    office = Office(options.content, options.root, version, count, show)
    site = Site(office)
    config = uvicorn.Config(
        application(site, options.content, options.root / "static"),
        log_level="warning",
        access_log=False,
        lifespan="off",
    )
    server = _Server(config, site, lambda: say(f"http://127.0.0.1:{listener.getsockname()[1]}/"))
    background = [asyncio.create_task(_watch(options, office, show, say))]
    # Let the watcher begin before anything is read.
    await asyncio.sleep(0)
    office.start()
    background += [
        asyncio.create_task(_follow(site, show, say)),
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


async def _end_with(office: Office, server: _Server, say: Callable[[str], None]) -> None:
    await office.lost.wait()
    say("the process that makes the pages has ended")
    server.should_exit = True


async def _watch(options: Options, office: Office, show: Show, say: Callable[[str], None]) -> None:
    unseen, last = False, 0.0
    while True:
        folders = _folders(options)
        try:
            async for changes in awatch(
                *folders,
                watch_filter=lambda _, path: is_visible(Path(path).name),
                debounce=MOST_MILLISECONDS,
                step=QUIET_MILLISECONDS,
                rust_timeout=LOOK_MILLISECONDS,
                yield_on_timeout=True,
            ):
                if changes or unseen:
                    last = time.monotonic()
                if time.monotonic() - last < AGAIN_SECONDS:
                    show(await office.ask("look", tuple({Path(path) for _, path in changes})))
                if unseen and (missed := await office.ask("missed")) is not None:
                    show(await office.ask("look", tuple(missed)))
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


def _folders(options: Options) -> dict[Path, int]:
    """What a site is made from, as far as it is there: each folder, and which one has its name."""
    found: dict[Path, int] = {}
    for folder in (options.content, options.root / "templates", options.root / "static"):
        with suppress(OSError):
            found[folder] = folder.stat().st_ino
    return found


async def _follow(site: Site, show: Show, say: Callable[[str], None]) -> None:
    """After each change find what takes a look at everything, and make the full-text index anew."""
    followed, digest = 0, ""
    while True:
        changed, state = site.changed, site.state
        if state is None or state.version == followed:
            await changed.wait()
            continue
        # The page that a writer looks at comes first.
        await asyncio.sleep(QUIET_SECONDS)
        if site.state is None or site.state.version != state.version:
            continue
        index: Index | None = await site.workers.ask("index", digest)
        if index is not None:
            digest, site.index = index.digest, site.index if index.files is None else index.files
            if index.failed:
                say(f"no full-text search: {index.failed}")
            if await _look_through(site.workers, show):
                followed = state.version


async def _look_through(workers: Workers, show: Show) -> bool:
    """Show what is found by looking at everything; whether nothing changed meanwhile."""
    missed = await workers.ask("missed")
    if missed is None:
        return False
    show(await workers.ask("look", tuple(missed)))
    for where in ("", "_logs", "_pages"):
        found = await workers.ask(f"look_through{where}")
        if found is None:
            return False
        show(await workers.ask(f"found{where}", *found))
    return True
