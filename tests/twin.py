"""The browser's engine in Node, called from tests."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from .tools.npm import HERE, NODE


class Twin:
    """A running Node that answers one call after the other. Close it, or use it in a ``with``."""

    def __init__(self) -> None:
        command = [str(NODE), "--no-warnings", str(HERE / "twin.mjs")]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1]
        )

    def __enter__(self) -> Twin:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()

    def __call__(self, name: str, *arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # Escaped, so that lone surrogates and line separators arrive as they are.
        self._process.stdin.write(json.dumps([name, *arguments]).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "Node ended; what it says stands above"
        return json.loads(answer)
