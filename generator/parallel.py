"""The same work on many things, by as many processes as there are cores.

Processes are forked, so each has what the first one had loaded; only results travel. Where the system can't
fork, or there is too little work to be worth it, the work is done here.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
CHUNKS = 3_000
"""At most so many numbers, of four bytes each, wait in a pipe, which holds 16 KiB or more."""


def processes(wanted: int | None = None) -> int:
    """How many to use: those wanted, else one for each core that this process may use."""
    if wanted is not None:
        return max(1, wanted)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return cores or 1


def mapped(work: Callable[[T], R], things: Sequence[T], count: int) -> list[R]:
    """``[work(thing) for thing in things]`` by ``count`` processes, each taking the next thing; results must pickle.

    Raises what ``work`` raises. Not for a process that has other threads.
    """
    count = min(count, len(things))
    if count < 2 or not hasattr(os, "fork"):
        return [work(thing) for thing in things]
    size = -(-len(things) // CHUNKS)
    waiting, fed = os.pipe()
    os.write(fed, b"".join(number.to_bytes(4, "big") for number in range(-(-len(things) // size))))
    os.close(fed)
    children = [_forked(work, things, waiting, size) for _ in range(1, count)]
    try:
        found = _share(work, things, waiting, size)
    finally:
        os.close(waiting)
        answers = [_answer_of(*child) for child in children]
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        found |= {at: pickle.loads(packed) for at, packed in answer.items()}
    return [found[at] for at in range(len(things))]


def _share(work: Callable[[T], R], things: Sequence[T], waiting: int, size: int) -> dict[int, R]:
    """What this process did, by its place: chunk after chunk, until none waits."""
    done: dict[int, R] = {}
    while number := os.read(waiting, 4):
        first = int.from_bytes(number, "big") * size
        for at in range(first, min(first + size, len(things))):
            done[at] = work(things[at])
    return done


def _forked(work: Callable[[T], R], things: Sequence[T], waiting: int, size: int) -> tuple[int, int]:
    """A child that does a share and writes it into a pipe: its process id, and the pipe's end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    code = 1
    try:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            try:
                # Packed one by one, while others are worked on: at the end nobody waits for it.
                answer: dict[int, bytes] | BaseException = _share(
                    lambda thing: pickle.dumps(work(thing), pickle.HIGHEST_PROTOCOL), things, waiting, size
                )
            except BaseException as error:
                answer = error
            pickle.dump(answer, pipe, pickle.HIGHEST_PROTOCOL)
        code = 0
    finally:
        # Nothing is cleaned up here that is the parent's, such as its buffers or temporary folders.
        os._exit(code)


def _answer_of(child: int, reading: int) -> dict[int, bytes] | BaseException:
    """The packed results that the child wrote, or that it ended without a word."""
    with os.fdopen(reading, "rb") as pipe:
        try:
            answer: dict[int, bytes] | BaseException = pickle.load(pipe)
        except (EOFError, pickle.UnpicklingError) as error:
            answer = ChildProcessError(f"a process of the build ended early; was it killed? ({error})")
    os.waitpid(child, 0)
    return answer
