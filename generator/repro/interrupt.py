"""Processes that end with us, also where we are told to end."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def started(
    command: list[str], end: Callable[[subprocess.Popen[Any]], None], **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """A process in a session of its own; ``end`` is called with it at last, whatever happens.

    Within the block SIGTERM raises KeyboardInterrupt; while the process starts or ends it waits or is ignored.
    """
    is_inside = was_told = False

    def interrupt(*_: object) -> None:
        nonlocal was_told
        was_told = True
        if is_inside:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
        try:
            is_inside = True
            if was_told:
                raise KeyboardInterrupt
            yield process
        finally:
            is_inside = False
            end(process)
    finally:
        signal.signal(signal.SIGTERM, before)
