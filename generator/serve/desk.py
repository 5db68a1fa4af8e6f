"""The process that reads the content and makes the pages: it is asked one thing after another, by name.

It has one thread, so it can fork. What takes long is done by a child, which has all that was read at this moment; the
next question is answered meanwhile. Where the system can't fork, it is done in turn.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from .workshop import State, Workshop

ASIDE = frozenset({"missed", "look_through", "look_through_logs", "look_through_pages", "index"})
"""Questions that take long. The answer is None when something is said to have changed meanwhile."""
IDLE_SECONDS = 0.2
END_SECONDS = 5
NICENESS = 10

Take = Callable[[Any], None]


def work(questions: Connection, content: Path, root: Path, version: int, count: int) -> None:
    """Answer until nobody asks any more. Every other state than the one asked for is an answer to no question."""
    # An interrupt at the keyboard goes to every process; this one ends when the one that asks ends it, or ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What it and its children began is cleared away: a temporary folder, a process that indexes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # What is read lives long. The collector would look through it all again and again.
    gc.disable()
    workshop = Workshop(content, root, version, count)
    gc.collect()
    gc.freeze()
    with suppress(BrokenPipeError, ConnectionResetError):
        questions.send((None, workshop.tell()))
        _Desk(questions, workshop).attend()


@dataclass(frozen=True)
class _Child:
    process: BaseProcess
    take: Take
    is_asked: bool
    """Whether it answers a question of ``ASIDE``."""


class _Desk:
    def __init__(self, questions: Connection, workshop: Workshop) -> None:
        self._questions = questions
        self._workshop = workshop
        self._children: dict[Connection, _Child] = {}

    def attend(self) -> None:
        try:
            while True:
                ready = wait([self._questions, *self._children], IDLE_SECONDS)
                for connection in ready:
                    if connection is self._questions:
                        self._answer(*self._questions.recv())
                    elif isinstance(connection, Connection) and connection in self._children:
                        self._hear(connection)
                if not ready:
                    gc.collect()
                    # Those that were stopped are taken leave of.
                    multiprocessing.active_children()
        except EOFError:
            return
        finally:
            for child in self._children.values():
                child.process.terminate()
            for child in self._children.values():
                child.process.join(END_SECONDS)

    def _answer(self, number: int, name: str, arguments: tuple[Any, ...]) -> None:
        def reply(answer: Any) -> None:
            self._questions.send((number, answer))

        if name == "answer":
            self._answer_file(reply, *arguments)
        elif name == "look":
            self._look(reply, *arguments)
        elif name in ASIDE:
            self._aside(lambda: getattr(self._workshop, name)(*arguments), reply, is_asked=True)
        else:
            reply(_tried(lambda: getattr(self._workshop, name)(*arguments)))

    def _look(self, reply: Take, paths: tuple[Path, ...]) -> None:
        """Reply before the changed entries are checked: browsers come meanwhile."""
        if paths:
            # Before anything is touched: what is written while a child shares it has to be copied.
            self._stop()
        before = self._workshop.state.version
        state = _tried(lambda: self._workshop.look(paths))
        reply(state)
        if isinstance(state, State) and state.version != before:
            self._questions.send((None, self._workshop.tell()))
            self._workshop.prepare()

    def _stop(self) -> None:
        for connection, child in list(self._children.items()):
            if child.is_asked:
                child.process.terminate()
                del self._children[connection]
                connection.close()
                child.take(None)

    def _answer_file(self, reply: Take, path: str) -> None:
        """Reply with a file, after a child has made what takes long."""
        awaited, version = self._workshop.awaits(path), self._workshop.state.version

        def take(made: Any) -> None:
            if isinstance(made, dict):
                self._workshop.keep(version, awaited or 0, made)
                self._answer_file(reply, path)
            else:
                reply(_tried(lambda: self._workshop.answer(path)))

        if awaited is None:
            reply(_tried(lambda: self._workshop.answer(path)))
        else:
            self._aside(lambda: self._workshop.together(awaited), take)

    def _aside(self, ask: Callable[[], Any], take: Take, is_asked: bool = False) -> None:
        if "fork" not in multiprocessing.get_all_start_methods():
            take(_tried(ask))
            return
        context = multiprocessing.get_context("fork")
        reading, writing = context.Pipe(duplex=False)
        process = context.Process(target=_as_child, args=(self._questions, writing, ask), daemon=True)
        process.start()
        writing.close()
        self._children[reading] = _Child(process, take, is_asked)

    def _hear(self, reading: Connection) -> None:
        child = self._children.pop(reading)
        with reading:
            try:
                answer = reading.recv()
            except (EOFError, OSError) as error:
                answer = ChildProcessError(f"a process ended early; was it killed? ({error})")
        child.process.join()
        child.take(answer)


def _as_child(questions: Connection, writing: Connection, ask: Callable[[], Any]) -> None:
    questions.close()
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with suppress(BrokenPipeError):
        writing.send(_tried(ask))


def _tried(ask: Callable[[], Any]) -> Any:
    """The answer, or what was raised."""
    try:
        return ask()
    except Exception as error:
        return error
