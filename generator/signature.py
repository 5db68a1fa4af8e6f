"""The signature language: a message as upstream prints it, with typed holes.

``Error {any} at line {int:line} in file {path}ops.cu`` is a template of one line; a template has one to
three. ``{kind}`` is a hole, ``{kind:name}`` also captures, ``{{`` and ``}}`` are braces, a blank stands
for a run of blanks and tabs. The JavaScript twin is ``static/engine/signature.js``;
``tests/vectors/signature.json`` holds what both must answer.

**The expressions** are in the subset that RE2, Python, JavaScript (with and without its ``u`` flag; ours
use it, so that lengths count code points) and Rust read alike: no lookaround, no ``\\d``, ``\\s``, ``.``
or named group, whose meanings differ. An expression is searched in one line without its line end. Group 1
is the message; the groups after it are the captures, in order. Around group 1 stand the guards that keep
a number whole: a literal or hole that begins or ends with a digit never begins or ends inside a number,
so ``return code = -1`` matches neither -15 nor -1.5.

**Linear time.** RE2 and Rust are linear anyway; in engines that backtrack it follows from these rules:

1. Two holes never touch, and no hole that can end in a digit meets a literal that begins with one, nor
   the other way round. So a run of digits is entered only at its start.
2. ``{word}``, ``{path}``, ``{quoted}`` and ``{any}`` are at most 400 long, ``{hex}`` 128.
3. Beside a blank, ``{any}`` begins or ends with something else; between two blanks, and between the line's
   start and a blank, no hole is empty.
   So a run of blanks is entered only at its start, and never split between two blanks of the template.
4. What is left to try again are holes that may hold the literal after them or the last character of the
   one before: ``{any}``, and ``{word}``, ``{path}`` or ``{hex}`` beside characters of their own. Such a hole
   of 400 characters holds the literal after it at most 400/p times, where p is the literal's smallest
   period, and a match begins at one byte in p of the first literal. Other holes begin only where a run of
   their characters does, so what is tried of them lies apart, and adds up to the characters within reach.
   ``_check_work`` multiplies that out and refuses a template that could take more than 2,500 steps for a
   character of the line.
5. A template begins with a literal or with a hole that begins only where no character of its kind stands
   before it, so every attempt begins at its own place.
6. Of a line longer than 8,192 characters only those around the key are searched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeAlias

KEY_BYTES = 8
"""What the literal of a signature or line must have: it is the key of the byte scan."""
CONDITION_BYTES = 5
"""The same for ``needs`` and ``unless``, which are looked for in a block of lines only."""
MAX_LINES = 3
MAX_HOLES = 20
MAX_WORK = 2_500
"""Steps for a byte of the line, see rule 4."""
HOLE_LENGTH = 400
MAX_SEARCHED = 8_192
KEPT = 8_192
"""Templates that stay read, about a kilobyte each: a check, two indexes and a page ask for every one in turn."""

_HOLES = {
    "int": "-?[0-9]+",
    "num": r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?",
    "hex": "(?:0x)?[0-9a-fA-F]{1,128}",
    "size": r"[0-9]+(?:\.[0-9]+)? ?(?:[KMGTPE]i?)?B",
    "word": "[A-Za-z0-9_.:+-]{1,400}",
    "path": r"""[^ \t\n\v\f\r'"<>]{0,400}""",
    "quoted": r"""(?:'[^'\n]{0,400}'|"[^"\n]{0,400}"|`[^`\n]{0,400}`)""",
    "any": r"[^\n]{0,400}?",
}
_PATH_BETWEEN_BLANKS = r"""[^ \t\n\v\f\r'"<>]{1,400}"""
_ANY_AFTER_BLANK = r"(?:[^ \t\n][^\n]{0,399}?)??"
_ANY_BEFORE_BLANK = r"(?:[^\n]{0,399}?[^ \t\n])??"
_ANY_BETWEEN_BLANKS = r"[^ \t\n](?:[^\n]{0,398}?[^ \t\n])??"

_NUMBERS = frozenset({"int", "num", "size"})
_BEGINS_WITH_DIGIT = _NUMBERS | {"hex"}
_MAY_BEGIN_WITH_DIGIT = _BEGINS_WITH_DIGIT | {"word", "path", "any"}
_WIDE = frozenset({"word", "path", "any"})
_MAY_END_IN_DIGIT = frozenset({"int", "num", "hex", "word", "path", "any"})

_BEFORE_NUMBER = r"(?:^|[^0-9.]|(?:^|[^0-9])\.)"
_AFTER_NUMBER = r"(?:[^0-9.]|\.[^0-9]|\.?$)"
_BEFORE = {
    "int": _BEFORE_NUMBER,
    "num": _BEFORE_NUMBER,
    "size": _BEFORE_NUMBER,
    "hex": "(?:^|[^0-9A-Za-z])",
    "word": "(?:^|[^A-Za-z0-9_.:+-])",
    "path": r"""(?:^|[ \t\v\f\r'"<>])""",
}
_AFTER = {
    "int": _AFTER_NUMBER,
    "num": _AFTER_NUMBER,
    "hex": "(?:[^0-9A-Za-z]|$)",
    "word": "(?:[^A-Za-z0-9_.:+-]|$)",
    "path": r"""(?:[ \t\v\f\r'"<>]|$)""",
}

_MEANT = {
    "integer": "int",
    "digits": "int",
    "number": "num",
    "float": "num",
    "addr": "hex",
    "address": "hex",
    "bytes": "size",
    "memory": "size",
    "name": "word",
    "id": "word",
    "host": "word",
    "ip": "word",
    "file": "path",
    "dir": "path",
    "filename": "path",
    "str": "quoted",
    "string": "quoted",
    "text": "any",
    "rest": "any",
    "*": "any",
}

_NAME = re.compile("[a-z][a-z0-9_]{0,31}")
_SHOWN = re.compile("[A-Za-z0-9_*]{1,32}")
_DIGITS = frozenset("0123456789")
_WORD_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:+-")
_HEX_CHARACTERS = frozenset("0123456789abcdefABCDEF")
_NOT_IN_PATH = frozenset(" \t\n\v\f\r'\"<>")


class TemplateError(ValueError):
    """A template that can't be read; ``offset`` is the character of the template at fault, from 0."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(frozen=True)
class Literal:
    """Text that stands in the message as it is; a line end of the template is a literal of its own."""

    text: str


@dataclass(frozen=True)
class Hole:
    """A place that is filled when the message is printed; captured where it has a name."""

    kind: str
    name: str | None = None


Piece: TypeAlias = Literal | Hole


@dataclass(frozen=True)
class Match:
    """Where a message stands: a span in each of the lines, in code points, and what its holes hold."""

    spans: tuple[tuple[int, int], ...]
    captures: dict[str, str]


@dataclass(frozen=True)
class Compiled:
    """A template made ready: ``literal`` is the key of the byte scan, and stands in line ``key_line``.

    ``expressions`` are one a line of the template; ``captures`` names their groups from the second on,
    expression by expression.
    """

    literal: str
    key_line: int
    expressions: tuple[str, ...]
    captures: tuple[str, ...]

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(expression) for expression in self.expressions)

    def search(self, lines: Sequence[str]) -> Match | None:
        """The first match in lines that follow one another, as many as the template has, without their ends."""
        if len(lines) != len(self.expressions):
            return None
        spans: list[tuple[int, int]] = []
        groups: list[str] = []
        for number, (pattern, line) in enumerate(zip(self._patterns, lines, strict=True)):
            start = self._start(line, number)
            match = pattern.search(line[start : start + MAX_SEARCHED])
            if match is None:
                return None
            spans.append((start + match.start(1), start + match.end(1)))
            groups.extend(text or "" for text in match.groups()[1:])
        return Match(tuple(spans), dict(zip(self.captures, groups, strict=True)))

    def _start(self, line: str, number: int) -> int:
        """Where to search from, in a line that is too long to be searched whole."""
        if len(line) <= MAX_SEARCHED or number != self.key_line:
            return 0
        return max(0, line.find(self.literal) - MAX_SEARCHED // 2)


@lru_cache(KEPT)
def parse(template: str) -> tuple[Piece, ...]:
    """The template's literals and holes in order, for showing; lines are parted by ``Literal("\\n")``.

    Raises TemplateError as ``compile_template`` does, but for what concerns the key of the byte scan.
    """
    pieces: list[Piece] = []
    for line in _lines(template):
        if pieces:
            pieces.append(Literal("\n"))
        pieces.extend(placed.piece for placed in line)
    return tuple(pieces)


@lru_cache(KEPT)
def compile_template(template: str, minimum: int = KEY_BYTES) -> Compiled:
    """The template as expressions and key.

    Raises TemplateError where the template can't be read, isn't linear, or has no literal of ``minimum``
    bytes (UTF-8) without a hole or a longer gap than one blank.
    """
    lines = _lines(template)
    literal, key_line = _key(lines)
    if len(literal.encode()) < minimum:
        raise TemplateError(f"needs a literal of {minimum} bytes or more; the longest is '{literal}'", 0)
    captures = tuple(
        p.piece.name for line in lines for p in line if isinstance(p.piece, Hole) and p.piece.name
    )
    return Compiled(literal, key_line, tuple(_expression(line) for line in lines), captures)


@dataclass(frozen=True)
class _Placed:
    piece: Piece
    offset: int


_Line: TypeAlias = list[_Placed]


@lru_cache(KEPT)
def _lines(template: str) -> tuple[_Line, ...]:
    """The template's lines, each read and checked; blanks around a line are dropped."""
    lines: list[_Line] = []
    offset = 0
    texts = template.rstrip(" \t\r\n").split("\n")
    if len(texts) > MAX_LINES:
        raise TemplateError(
            f"has {len(texts)} lines; a signature has at most {MAX_LINES}",
            len("\n".join(texts[:MAX_LINES])) + 1,
        )
    for text in texts:
        stripped = text.lstrip(" \t")
        start = offset + len(text) - len(stripped)
        stripped = stripped.rstrip(" \t\r")
        if not stripped:
            raise TemplateError("has an empty line", offset)
        line = _read(stripped, start)
        _check_neighbours(line)
        _check_work(line)
        lines.append(line)
        offset += len(text) + 1
    _check_holes(lines)
    return tuple(lines)


def _read(text: str, start: int) -> _Line:
    """Literals and holes of one line, each with its offset in the template."""
    line: _Line = []
    literal, literal_at, i = "", start, 0

    def close() -> None:
        if literal:
            line.append(_Placed(Literal(literal), literal_at))

    while i < len(text):
        if run := _LITERAL_RUN.match(text, i):
            literal, i = literal + run[0], run.end()
            continue
        char = text[i]
        if char in "{}" and text[i + 1 : i + 2] == char:
            literal, i = literal + char, i + 2
        elif char == "{":
            close()
            hole, length = _read_hole(text[i:], start + i)
            line.append(_Placed(hole, start + i))
            i += length
            literal, literal_at = "", start + i
        elif char == "}":
            raise TemplateError("has a stray '}'; a brace is written '}}'", start + i)
        else:
            raise TemplateError("has a character that can't be printed", start + i)
    close()
    return line


_LITERAL_RUN = re.compile(r"[^{}\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]+")


def _read_hole(text: str, offset: int) -> tuple[Hole, int]:
    """The hole at the start of ``text``, and its length there."""
    end = text.find("}")
    if end < 0:
        raise TemplateError("has a hole that is not closed; a brace is written '{{'", offset)
    kind, colon, name = text[1:end].partition(":")
    if kind not in _HOLES:
        raise TemplateError(_no_such_hole(kind), offset)
    if colon and not _NAME.fullmatch(name):
        raise TemplateError(
            "names a hole with something else than lower-case letters, digits and _", offset + len(kind) + 2
        )
    return Hole(kind, name if colon else None), end + 1


def _no_such_hole(kind: str) -> str:
    """What to say of a hole of unknown kind, with the kind that was probably meant."""
    holes = f"the holes are {', '.join(_HOLES)}"
    if not _SHOWN.fullmatch(kind):
        return f"has a hole of no kind; {holes}"
    meant = _MEANT.get(kind.lower())
    if meant is None:
        distance, meant = min((_distance(kind.lower(), known), known) for known in sorted(_HOLES))
        if distance > (1 if len(kind) < 4 else 2):
            return f"has no hole {{{kind}}}; {holes}"
    return f"has no hole {{{kind}}}; did you mean {{{meant}}}?"


def _distance(a: str, b: str) -> int:
    """Levenshtein's; written out, since the browser's engine must answer the same."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (left != right))
    return row[-1]


def _check_holes(lines: list[_Line]) -> None:
    holes = [
        (placed.piece, placed.offset) for line in lines for placed in line if isinstance(placed.piece, Hole)
    ]
    if len(holes) > MAX_HOLES:
        raise TemplateError(f"has {len(holes)} holes; at most {MAX_HOLES} are allowed", holes[MAX_HOLES][1])
    names: set[str] = set()
    for hole, offset in holes:
        if hole.name in names:
            raise TemplateError(f"captures '{hole.name}' twice", offset)
        if hole.name:
            names.add(hole.name)


def _check_neighbours(line: _Line) -> None:
    """Rules 1 and 5: what may stand at the ends, and what beside what."""
    for placed, where in ((line[0], "begins"), (line[-1], "ends")):
        if isinstance(placed.piece, Hole) and placed.piece.kind == "any":
            raise TemplateError(
                f"{where} with {{any}}, which says nothing there; leave it out", placed.offset
            )
    for left, right in pairwise(line):
        match left.piece, right.piece:
            case Hole(kind=first), Hole(kind=second):
                raise TemplateError(f"has no text between {{{first}}} and {{{second}}}", right.offset)
            case Hole(kind=kind), Literal(text=text) if kind in _MAY_END_IN_DIGIT and text[0] in _DIGITS:
                raise TemplateError(f"has a digit right after {{{kind}}}, which may end in one", right.offset)
            case Hole(kind="hex"), Literal(text=text) if text[0] in "abcdefABCDEF":
                raise TemplateError("has a hexadecimal digit right after {hex}", right.offset)
            case Literal(text=text), Hole(kind=kind) if kind in _MAY_BEGIN_WITH_DIGIT and text[-1] in _DIGITS:
                raise TemplateError(
                    f"has a digit right before {{{kind}}}, which may begin with one", right.offset
                )
            case Literal(text=text), Hole(kind=kind) if (
                kind in _WIDE and not text.strip(" \t") and _after_any(left, line)
            ):
                raise TemplateError(f"has nothing but a blank between {{any}} and {{{kind}}}", right.offset)
            case _:
                pass


def _after_any(literal: _Placed, line: _Line) -> bool:
    """Whether {any} stands before this literal."""
    at = line.index(literal)
    before = line[at - 1].piece if at else None
    return isinstance(before, Hole) and before.kind == "any"


def _check_work(line: _Line) -> None:
    """Rule 4, in thousandths of a step, so that both engines count alike.

    ``ways`` is in how many ways a place is reached, ``free`` in how many the last hole was that begins
    anywhere; for each of these the holes since then lie apart from each other in ``window`` characters.
    """
    first = line[0].piece
    ways = _per(1000, first.text) if isinstance(first, Literal) else 1000
    free, window, work = ways, 0, 0
    for i, placed in enumerate(line):
        hole = placed.piece
        if not isinstance(hole, Hole) or hole.kind in _NUMBERS:
            continue
        before, after = (_literal_at(line, at) for at in (i - 1, i + 1))
        length = (128 if hole.kind == "hex" else HOLE_LENGTH) if i else 1
        if _holds(hole.kind, before[-1:]):
            free, window = ways, 0
        window += length
        if after and all(_holds(hole.kind, char) for char in after):
            ways = _per(min(ways * length, free * window), after)
        work += free * window
        if work > MAX_WORK * 1000:
            raise TemplateError(
                f"could take long to match, since {{{hole.kind}}} may begin or end in many places; "
                "use narrower holes, or more text between them",
                placed.offset,
            )


def _literal_at(line: _Line, at: int) -> str:
    piece = line[at].piece if 0 <= at < len(line) else None
    return piece.text if isinstance(piece, Literal) else ""


def _holds(kind: str, char: str) -> bool:
    """Whether a hole of this kind may hold the character; without one (at a line's end) it may not."""
    match kind:
        case "any":
            return char != ""
        case "path":
            return char != "" and char not in _NOT_IN_PATH
        case "word":
            return char in _WORD_CHARACTERS
        case "hex":
            return char in _HEX_CHARACTERS
        case _:
            return False


def _per(count: int, literal: str) -> int:
    """How often the literal begins in so many characters, at most, rounded up."""
    return -(-count // _period(literal))


def _period(text: str) -> int:
    """The smallest period: in any text, the literal begins at most once in so many characters."""
    text = _one_blank(text)
    period = text.find(text[0], 1)
    while period > 0 and not text.startswith(text[period:]):
        period = text.find(text[0], period + 1)
    return period if period > 0 else len(text)


def _one_blank(text: str) -> str:
    return _BLANKS.sub(" ", text) if "  " in text or "\t" in text else text


_BLANKS = re.compile(r"[ \t]+")
_GAP = re.compile(r"  +|[ ]*\t[ \t]*")
"""More than one blank, which no key holds."""


def _key(lines: tuple[_Line, ...]) -> tuple[str, int]:
    """The longest literal in bytes, the first of equals, and its line. It holds single blanks only."""
    best, best_line = "", 0
    for number, line in enumerate(lines):
        for placed in line:
            if isinstance(placed.piece, Literal):
                for text in _GAP.split(placed.piece.text):
                    key = text.strip(" ")
                    if len(key.encode()) > len(best.encode()):
                        best, best_line = key, number
    return best, best_line


def _expression(line: _Line) -> str:
    pieces = [placed.piece for placed in line]
    body = []
    for i, piece in enumerate(pieces):
        if isinstance(piece, Literal):
            body.append(_escape(piece.text))
        else:
            before = pieces[i - 1] if i else None
            after = pieces[i + 1] if i + 1 < len(pieces) else None
            hole = _hole(piece.kind, before is None or _touches_blank(before, -1), _touches_blank(after, 0))
            body.append(f"({hole})" if piece.name else hole)
    return f"{_guard_before(pieces)}({''.join(body)}){_guard_after(pieces)}"


def _touches_blank(piece: Piece | None, at: int) -> bool:
    return isinstance(piece, Literal) and piece.text[at] in " \t"


def _hole(kind: str, after_blank: bool, before_blank: bool) -> str:
    if kind == "path" and after_blank and before_blank:
        return _PATH_BETWEEN_BLANKS
    if kind != "any" or not (after_blank or before_blank):
        return _HOLES[kind]
    if after_blank and before_blank:
        return _ANY_BETWEEN_BLANKS
    return _ANY_AFTER_BLANK if after_blank else _ANY_BEFORE_BLANK


def _guard_before(pieces: list[Piece]) -> str:
    first = pieces[0]
    if isinstance(first, Hole):
        return _BEFORE.get(first.kind, "")
    if first.text[0] in _DIGITS:
        return _BEFORE_NUMBER
    if first.text == ".":
        begins_fraction = _kind(pieces[1:2]) in _BEGINS_WITH_DIGIT
    else:
        begins_fraction = first.text[0] == "." and first.text[1] in _DIGITS
    return "(?:^|[^0-9])" if begins_fraction else ""


def _guard_after(pieces: list[Piece]) -> str:
    last = pieces[-1]
    if isinstance(last, Hole):
        return _AFTER.get(last.kind, "")
    if last.text[-1] in _DIGITS:
        return _AFTER_NUMBER
    if last.text == ".":
        ends_before_fraction = _kind(pieces[-2:-1]) in {"int", "num"}
    else:
        ends_before_fraction = last.text[-1] == "." and last.text[-2] in _DIGITS
    return "(?:[^0-9]|$)" if ends_before_fraction else ""


def _kind(pieces: list[Piece]) -> str | None:
    """The kind of the one piece, where it is a hole."""
    return pieces[0].kind if pieces and isinstance(pieces[0], Hole) else None


def _escape(text: str) -> str:
    return _one_blank(text).translate(_ESCAPED)


_ESCAPED = str.maketrans({char: f"\\{char}" for char in "\\^$.|?*+()[]{}"} | {" ": r"[ \t]+"})
