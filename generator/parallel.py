"""The same work on many things, by as many processes as there are cores.

Processes are forked, so each has what the first one had loaded; only results travel. Where the system can't
fork, or there is too little work to be worth it, the work is done here.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TypeVar

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


def trim() -> None:
    """Give memory that has been freed back to the system, where the C library keeps it (glibc)."""
    give = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if give is not None:
        give(0)


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

    def share() -> Iterator[tuple[int, R]]:
        """What this process does, with its place: chunk after chunk, until none waits."""
        while number := os.read(waiting, 4):
            first = int.from_bytes(number, "big") * size
            for at in range(first, min(first + size, len(things))):
                yield at, work(things[at])

    children = [_forked(share) for _ in range(1, count)]
    try:
        found = dict(share())
    finally:
        os.close(waiting)
        for child, _ in children:
            os.waitpid(child, 0)
    for _, answers in children:
        with answers:
            found |= _told(answers)
    return [found[at] for at in range(len(things))]


def _forked(share: Callable[[], Iterator[tuple[int, R]]]) -> tuple[int, IO[bytes]]:
    """A child that does a share: its process id, and the file that it writes the results into.

    A file takes them as they come, so that no process holds many, and none waits for another one.
    """
    answers = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it has been read
    child = os.fork()
    if child:
        return child, answers
    code = 1
    try:
        try:
            for answer in share():
                pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            last: BaseException | None = None
        except BaseException as error:
            last = error
        pickle.dump(last, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
        code = 0
    finally:
        # Nothing is cleaned up here that is the parent's, such as its buffers or temporary folders.
        os._exit(code)


def _told(answers: IO[bytes]) -> dict[int, R]:
    """What a child that has ended wrote; raises what it raised, or that it ended without a last word."""
    found: dict[int, R] = {}
    answers.seek(0)
    try:
        while answer := pickle.load(answers):
            if isinstance(answer, BaseException):
                raise answer
            at, result = answer
            found[at] = result
    except (EOFError, pickle.UnpicklingError) as error:
        raise ChildProcessError(
            f"a process of the build ended early; was it killed, or the disk full? ({error})"
        ) from error
    return found
