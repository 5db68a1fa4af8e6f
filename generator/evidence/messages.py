"""Python source → the messages that it can print, read from the syntax tree.

A message is literal pieces with holes: constants, f-strings, ``%`` and ``.format``, concatenation, and names
that were given a text before in the same function or module. Docstrings are not messages.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Pieces = tuple[str | None, ...]
"""Literal text and holes (None); no two of a kind stand side by side."""
Kind = Literal["raise", "assert", "log", "other"]
Names = dict[str, Pieces]

HOLE = re.compile(
    r"\{[A-Za-z0-9_.\[\]]*(?:![rsa])?(?::[^{}]*)?\}|%(?:\([A-Za-z_]+\))?[-+#0]*[0-9]*(?:\.[0-9*]+)?[sdrifgx]"
)
LOGGERS = frozenset({"error", "warning", "warn", "critical", "exception", "warning_once"})


@dataclass(frozen=True)
class Message:
    """What a place in the code can print. ``kind`` says what prints it; a place has one message of its kind."""

    pieces: Pieces
    line: int
    kind: Kind

    @property
    def template(self) -> str:
        """As text: a hole is ``{}``, a brace is doubled."""
        return "".join(
            "{}" if piece is None else piece.replace("{", "{{").replace("}", "}}") for piece in self.pieces
        )


def read_template(template: str) -> Pieces:
    """The pieces of which ``Message.template`` was made."""
    parts = re.split(r"(\{\{|\}\}|\{\})", template)
    return _joined([None if part == "{}" else part[:1] if part in ("{{", "}}") else part for part in parts])


def messages(source: bytes) -> tuple[Message, ...]:
    """Every text of the source, in the order of the code; nothing where it isn't Python of today."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    reader = _Reader()
    reader.visit(tree)
    return tuple(dict.fromkeys(reader.found))


def split(text: str) -> Pieces:
    """A text with the placeholders of ``%`` and ``.format`` as holes."""
    parts: list[str | None] = []
    end = 0
    for hole in HOLE.finditer(text):
        parts += [text[end : hole.start()], None]
        end = hole.end()
    return _joined([*parts, text[end:]])


def _joined(parts: list[str | None]) -> Pieces:
    """The parts without empty ones, neighbours of a kind made one."""
    joined: list[str | None] = []
    for part in parts:
        if part == "":
            continue
        last = joined[-1] if joined else ""
        if part is None:
            joined += [None] if not joined or last is not None else []
        elif joined and last is not None:
            joined[-1] = last + part
        else:
            joined.append(part)
    return tuple(joined)


class _Reader(ast.NodeVisitor):
    """Gathers messages; ``names`` are the texts that names hold where the visit is."""

    def __init__(self) -> None:
        self.found: list[Message] = []
        self.names: Names = {}

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outside, self.names = self.names, dict(self.names)
        self.generic_visit(node)
        self.names = outside

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        if isinstance(node.exc, ast.Call):
            self._message(next(iter(node.exc.args), None), "raise")
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._message(node.msg, "assert")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if _is_logger(node.func):
            self._message(next(iter(node.args), None), "log")
        if len(node.args) > 1 and any(_pieces(arg, {}) for arg in node.args):
            # print's way: arguments with blanks between them.
            parts: list[str | None] = []
            for arg in node.args:
                parts += [*(_pieces(arg, self.names) or (None,)), " "]
            self._add(_joined(parts[:-1]), node.args[0].lineno, "other")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._name(node.targets[0].id, _pieces(node.value, self.names))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
            before, added = self.names.get(node.target.id), _pieces(node.value, self.names)
            if before and added:
                self._name(node.target.id, _joined([*before, *added]))
                self._add(_joined([*before, *added]), node.lineno, "other")

    def visit_Constant(self, node: ast.Constant) -> None:
        self._text(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._text(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not self._text(node):
            self.generic_visit(node)

    def _text(self, node: ast.expr) -> bool:
        pieces = _pieces(node, {})
        if pieces:
            self._add(pieces, node.lineno, "other")
            self._add(_pieces(node, self.names) or (), node.lineno, "other")
        return bool(pieces)

    def _message(self, node: ast.expr | None, kind: Kind) -> None:
        pieces = _pieces(node, self.names) if node is not None else None
        if node is not None and pieces:
            self._add(pieces, node.lineno, kind)

    def _name(self, name: str, pieces: Pieces | None) -> None:
        if pieces:
            self.names[name] = pieces
        else:
            self.names.pop(name, None)

    def _add(self, pieces: Pieces, line: int, kind: Kind) -> None:
        if any(piece and not piece.isspace() for piece in pieces):
            self.found.append(Message(pieces, line, kind))


def _pieces(node: ast.expr, names: Names) -> Pieces | None:
    """The text that an expression makes; None where it makes none that is known in part."""
    match node:
        case ast.Constant(value=str(text)):
            return split(text)
        case ast.Name(id=name):
            return names.get(name)
        case ast.JoinedStr(values=values):
            return _joined([piece for value in values for piece in _in_f_string(value, names)])
        case ast.BinOp(left=left, op=ast.Mod()):
            return _pieces(left, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            before, after = _pieces(left, names), _pieces(right, names)
            if before is None and after is None:
                return None
            return _joined([*(before or (None,)), *(after or (None,))])
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return _pieces(value, names)
    return None


def _in_f_string(value: ast.expr, names: Names) -> Iterator[str | None]:
    if isinstance(value, ast.Constant):
        yield str(value.value)
    elif isinstance(value, ast.FormattedValue):
        yield from (_pieces(value.value, names) if isinstance(value.value, ast.Name) else None) or (None,)


def _is_logger(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in LOGGERS
        and "log" in ast.unparse(function.value).lower()
    )
