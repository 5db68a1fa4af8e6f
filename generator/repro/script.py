"""What a reproduction says of itself: its PEP 723 block and the parts in its docstring."""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

FAIL, FIX = "fail", "fix"
"""The parts that every reproduction has."""


class ScriptError(Exception):
    """What is wrong with a reproduction, in words, and the 1-based line."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


class NotPython(ScriptError):
    """It doesn't parse."""


@dataclass(frozen=True)
class Script:
    """A reproduction's needs, and its parts in the order of its docstring, which begins at ``line``.

    ``dependencies`` are pinned, each by ``==``, sorted by name; equal sets are equal tuples.
    """

    python: SpecifierSet
    dependencies: tuple[str, ...]
    parts: tuple[str, ...]
    line: int = 1


def read_script(data: bytes) -> Script:
    """What a repro.py says. Raises ScriptError where it says it wrongly or not at all."""
    try:
        source = data.decode("utf-8").replace("\r\n", "\n")
        tree = ast.parse(source)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise NotPython(f"it is no Python: {error}") from error
    block, line = _block(source)
    try:
        head = tomllib.loads(block)
    except tomllib.TOMLDecodeError as error:
        raise ScriptError(f"the block is no TOML: {error}", line) from error
    if "requires-python" not in head:
        raise ScriptError("the block has no requires-python", line)
    try:
        python = SpecifierSet(head["requires-python"])
    except (InvalidSpecifier, AttributeError, TypeError) as error:
        raise ScriptError("requires-python is no version range", line) from error
    dependencies = head.get("dependencies")
    if not isinstance(dependencies, list) or not all(isinstance(each, str) for each in dependencies):
        raise ScriptError("the block has no list of dependencies", line)
    pinned = {_pinned(each, line) for each in dependencies}
    parts = tuple(dict.fromkeys(_PART.findall(ast.get_docstring(tree) or "")))
    return Script(python, tuple(sorted(pinned)), parts, tree.body[0].lineno if tree.body else 1)


def _block(source: str) -> tuple[str, int]:
    """The text of the block without its comment marks, and its first line's number."""
    found = [match for match in _BLOCK.finditer(source) if match["type"] == "script"]
    if len(found) != 1:
        message = "there are two blocks '# /// script'" if found else "there is no block '# /// script'"
        raise ScriptError(message)
    lines = found[0]["content"].splitlines()
    text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)
    return text, source.count("\n", 0, found[0].start()) + 1


def _pinned(dependency: str, line: int) -> str:
    """The dependency in one spelling. Raises ScriptError where it isn't pinned to one release."""
    try:
        wanted = Requirement(dependency)
    except InvalidRequirement as error:
        raise ScriptError(f"'{dependency}' is no dependency", line) from error
    pins = list(wanted.specifier)
    if wanted.url or wanted.marker or len(pins) != 1 or pins[0].operator != "==" or "*" in pins[0].version:
        raise ScriptError(f"'{dependency}' isn't pinned by == to one release", line)
    extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
    return f"{canonicalize_name(wanted.name)}{extras}=={pins[0].version}"


_BLOCK = re.compile(r"^# /// (?P<type>[a-zA-Z0-9-]+)$\n(?P<content>(?:^#(?:| .*)$\n)+?)^# ///$", re.MULTILINE)
"""As PEP 723 gives it, but for line ends."""
_PART = re.compile(r"python repro\.py ([a-z0-9]+(?:-[a-z0-9]+)*)")
