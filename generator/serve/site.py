"""What the server knows of the site while another process reads it and makes its pages."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .desk import work
from .workshop import Answer, State

END_SECONDS = 10


class Workers(Protocol):
    """Who answers questions about the site, by the names of ``Workshop``'s methods."""

    async def ask(self, name: str, *arguments: Any) -> Any: ...


@dataclass
class Site:
    """The state that browsers are told of, and the full-text index."""

    workers: Workers
    state: State | None = None
    told: int = 0
    """It rises when there is another state."""
    index: Mapping[str, bytes] = field(default_factory=dict)
    closing: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, path: str) -> Answer:
        """A file of the site, as it is now."""
        answer: Answer = await self.workers.ask("answer", path)
        return answer

    def take(self, state: State) -> None:
        if state != self.state:
            self.state = state
            self.told += 1
            self.wake()

    def wake(self) -> None:
        former, self.changed = self.changed, asyncio.Event()
        former.set()


class Office:
    """The process of ``desk``, asked from an event loop."""

    def __init__(
        self, content: Path, root: Path, version: int, count: int, take: Callable[[State], None]
    ) -> None:
        """``take`` gets each state that nobody asked for, the first one once everything is read."""
        # A fork would take along this process's listener, and the state of its threads without the threads.
        context = multiprocessing.get_context("spawn")
        self._questions, self._theirs = context.Pipe()
        arguments = (self._theirs, content, root, version, count)
        self._process = context.Process(target=work, args=arguments)
        self._loop = asyncio.get_running_loop()
        self._asked = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._take_state = take
        self.lost = asyncio.Event()
        """Whether the process has ended."""

    def start(self) -> None:
        """Start the process."""
        self._process.start()
        self._theirs.close()
        threading.Thread(target=self._hear, daemon=True).start()

    async def ask(self, name: str, *arguments: Any) -> Any:
        """The answer. Raises what was raised there; cancelled when the process has ended."""
        if self.lost.is_set():
            raise asyncio.CancelledError
        self._asked += 1
        answer = self._waiting[self._asked] = self._loop.create_future()
        self._questions.send((self._asked, name, arguments))
        return await answer

    def close(self) -> None:
        """End the process, and what it began."""
        self._process.terminate()
        self._process.join(END_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _hear(self) -> None:
        take: Callable[..., object] = self._loop.call_soon_threadsafe
        # The loop may be closed before this thread hears of the end.
        with suppress(RuntimeError):
            try:
                while True:
                    take(self._take, *self._questions.recv())
            except (EOFError, OSError):
                take(self._lose)

    def _take(self, number: int | None, answer: Any) -> None:
        if number is None:
            self._take_state(answer)
            return
        waiting = self._waiting.pop(number)
        if waiting.cancelled():
            return
        if isinstance(answer, BaseException):
            waiting.set_exception(answer)
        else:
            waiting.set_result(answer)

    def _lose(self) -> None:
        self.lost.set()
        for waiting in self._waiting.values():
            waiting.cancel()
