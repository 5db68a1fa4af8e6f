"""YAML text → plain values with the place of every field; what is wrong with the text as findings.

The tree is composed here from the parser's events, never by a YAML constructor: no object is built, no
alias expanded, no number or date guessed. Every scalar stays a string, except that plain ``null``, ``~``
and nothing are None. Only the part of YAML that our content needs is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import yaml

from .content import FieldPath, Positions
from .finding import Explanation, Finding, shown
from .hidden import HIDDEN

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
MAX_FINDINGS = 100
"""Of one kind of reading in one document; whoever has a hundred needs another file, not a longer list."""
NULLS = frozenset({"", "~", "null", "Null", "NULL"})

Value = str | None | list[Any] | dict[str, Any]


@dataclass(frozen=True)
class Document:
    """A YAML document: its value, where the values stand, and where the keys stand."""

    value: Value
    positions: Positions
    keys: Mapping[FieldPath, tuple[int, int]]


def read_document(path: str, data: bytes) -> tuple[Document | None, list[Finding]]:
    """The document in ``data`` and what is wrong with it; None where it can't be read to its end.

    Positions are those of the file. Takes time linear in the size, whatever the input.
    """
    text, findings = decode(path, data)
    if text is None:
        return None, findings
    document, more = compose(path, text)
    return document, more


def decode(path: str, data: bytes) -> tuple[str | None, list[Finding]]:
    """``data`` as text, where it is UTF-8 of an allowed size and holds only characters of text."""

    def refuse(code: str, offset: int, message: str, hint: str = "") -> tuple[None, list[Finding]]:
        before = data[:offset].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return None, [Finding(path, line, column, code, "error", message, hint)]

    if len(data) > MAX_BYTES:
        return refuse("too-large", 0, f"the file has {len(data)} bytes; at most {MAX_BYTES} are read")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or 3 * data[:64].count(0) > len(data[:64]):
        return refuse("encoding", 0, "the file is UTF-16 or UTF-32, not UTF-8", "save it as UTF-8")
    if data.startswith(b"\xef\xbb\xbf"):
        return refuse("encoding", 0, "the file starts with a byte order mark", "save it as UTF-8 without BOM")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        return refuse("encoding", error.start, found, "save the file as UTF-8")
    if not _is_text(data) and (bad := _NOT_TEXT.search(text)):
        found = f"the character U+{ord(bad[0]):04X} is not allowed in a text file"
        return refuse("character", len(text[: bad.start()].encode()), found, "remove it")
    return text, []


def _is_text(data: bytes) -> bool:
    """Whether nothing in UTF-8 needs a closer look: no control character of ASCII, and nothing hidden beyond it."""
    beyond = data.translate(None, _ASCII).decode("utf-8")
    return len(data.translate(None, _CONTROLS)) == len(data) and _NOT_TEXT.search(beyond) is None


_ASCII = bytes(range(128))
_CONTROLS = bytes({*range(32), 127} - {ord("\t"), ord("\n")})
_NOT_TEXT = re.compile(f"[{HIDDEN}\ud800-\udfff]|\r(?!\n)")
"""Beside them what YAML can't hold, and what editors don't show as a line's end."""


def positions_of(path: str, text: str) -> Positions:
    """The places that ``compose`` finds in a text, found once one of them is asked for."""
    return _sound_document(path, text, None).positions


def _sound_document(path: str, text: str, value: Value) -> Document:
    """A document whose value is known, and whose places are found once one of them is asked for."""
    source = _Source(path, text)
    positions = Positions(path, _Later(source, "places"), text, _Later(source, "scalars"))
    return Document(value, positions, _Later(source, "keys"))


@dataclass
class _Source:
    """A text that is composed with its places when it has to be."""

    path: str
    text: str

    @cached_property
    def composed(self) -> _Composer:
        composer = _Composer(self.path, self.text)
        composer.compose()
        return composer


@dataclass(frozen=True)
class _Later(Mapping[FieldPath, Any]):
    """One of the mappings that composing a source fills."""

    source: _Source
    name: Literal["places", "scalars", "keys"]

    def __getitem__(self, key: FieldPath) -> Any:
        return getattr(self.source.composed, self.name)[key]

    def __iter__(self) -> Iterator[FieldPath]:
        return iter(getattr(self.source.composed, self.name))

    def __len__(self) -> int:
        return len(getattr(self.source.composed, self.name))


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Of which the events alone are taken."""


def compose(path: str, text: str) -> tuple[Document | None, list[Finding]]:
    """The one document in ``text``, and what is wrong with it."""
    try:
        return _sound_document(path, text, _sound_value(text)), []
    except (_Unsound, yaml.MarkedYAMLError):
        composer = _Composer(path, text)
        return composer.compose(), composer.findings


class _Unsound(Exception):
    """There may be something to find in the document."""


def _sound_value(text: str) -> Value:
    """The value of a document that nothing is wrong with, in half the time; raises where that isn't certain."""
    if "\t" in text:
        raise _Unsound
    scalar, mapping, mapping_end, sequence, sequence_end = _EVENTS
    whole: list[Any] = []
    here: Any = whole
    outer: list[Any] = []
    key: str | None = None
    value: Value
    for event in iter(LOADER(text).get_event, None):
        kind = type(event)
        if kind is scalar:
            value = event.value
            if value in NULLS and not event.style:
                value = None
        elif kind is mapping_end or kind is sequence_end:
            here = outer.pop()
            continue
        elif kind is mapping:
            value = {}
        elif kind is sequence:
            value = []
        elif kind is yaml.AliasEvent or (kind is yaml.DocumentStartEvent and (event.version or event.tags)):
            raise _Unsound
        else:
            continue
        if event.anchor is not None or event.tag is not None:
            raise _Unsound
        if type(here) is list:
            here.append(value)
        elif key is not None:
            here[key], key = value, None
        elif kind is scalar and value is not None and value not in here:
            key = event.value
            continue
        else:
            raise _Unsound
        if kind is not scalar:
            outer.append(here)
            here = value
            if len(outer) > MAX_DEPTH:
                raise _Unsound
    if len(whole) != 1:
        raise _Unsound
    return whole[0]  # type: ignore[no-any-return]


_EVENTS = (
    yaml.ScalarEvent,
    yaml.MappingStartEvent,
    yaml.MappingEndEvent,
    yaml.SequenceStartEvent,
    yaml.SequenceEndEvent,
)


class _Stop(Exception):
    """The rest of the document can't be read with sense."""


@dataclass
class _Frame:
    """A collection that is being filled."""

    path: FieldPath
    value: list[Any] | dict[str, Any]
    key: str | None = None
    key_open: bool = False
    """Within a mapping: a key was read, and its value is due."""


@dataclass
class _Composer:
    """Fills values and places from events; a state machine without recursion."""

    path: str
    text: str
    findings: list[Finding] = field(default_factory=list)
    places: dict[FieldPath, tuple[int, int]] = field(default_factory=dict)
    scalars: dict[FieldPath, tuple[int, str]] = field(default_factory=dict)
    keys: dict[FieldPath, tuple[int, int]] = field(default_factory=dict)
    frames: list[_Frame] = field(default_factory=list)
    quoted: list[tuple[int, int]] = field(default_factory=list)
    """Spans of block and quoted scalars, in which a tab is text."""
    root: Value = None
    documents: int = 0
    reached: int = 0
    """Where the latest event starts."""

    def compose(self) -> Document | None:
        """The document; None where it can't be read to its end."""
        try:
            for event in yaml.parse(self.text, Loader=LOADER):
                self.take(event)
            self.find_tabs()
        except _Stop:
            return None
        except yaml.MarkedYAMLError as error:
            self.findings.append(_syntax_finding(self.path, self.text, error, self.reached))
            return None
        if self.documents == 0:
            self.report("empty", None, "the file holds nothing")
            return None
        return self.document()

    def take(self, event: yaml.Event) -> None:
        self.reached = event.start_mark.index if event.start_mark else self.reached
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._open(event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self.frames.pop()
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.DocumentStartEvent():
                self._document(event)

    def report(self, code: str, mark: Any, message: str, hint: str = "") -> None:
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        self.findings.append(Finding(self.path, line, column, code, "error", message, hint))
        if len(self.findings) >= MAX_FINDINGS:
            raise _Stop

    def document(self) -> Document:
        positions = Positions(
            self.path, MappingProxyType(self.places), self.text, MappingProxyType(self.scalars)
        )
        return Document(self.root, positions, MappingProxyType(self.keys))

    def find_tabs(self) -> None:
        """Report the first tab that indents; where the parser stumbled over one, it is reported there."""
        if "\t" not in self.text:
            return
        inside = {
            index for start, end in self.quoted for index in range(start, end) if self.text[index] == "\t"
        }
        for tab in re.finditer(r"^ *(\t)", self.text, re.MULTILINE):
            if tab.start(1) not in inside and not _is_blank(self.text, tab.start(1)):
                self.findings.append(_tab_finding(self.path, self.text, tab.start(1)))
                return

    def _document(self, event: yaml.DocumentStartEvent) -> None:
        self.documents += 1
        if self.documents > 1:
            self.report(
                "several-documents", event.start_mark, "a second document starts here", "remove the '---'"
            )
            raise _Stop
        if event.version or event.tags:
            self.report("directive", event.start_mark, "a %YAML or %TAG directive", "remove it")

    def _alias(self, event: yaml.AliasEvent) -> None:
        self.report(
            "alias", event.start_mark, f"an alias '*{event.anchor}'", "write the text out, or quote it"
        )
        self._place(event, None)

    def _scalar(self, event: Any) -> None:
        self._refuse_properties(event)
        style = event.style or ""
        if style and style in "|>'\"":
            self.quoted.append((event.start_mark.index, event.end_mark.index))
        value = None if not style and event.value in NULLS else event.value
        where = self._place(event, value)
        if where is not None and value is not None:
            self.scalars[where] = event.start_mark.index, style

    def _open(self, event: Any) -> None:
        self._refuse_properties(event)
        if len(self.frames) >= MAX_DEPTH:
            self.report("nesting", event.start_mark, f"nested deeper than {MAX_DEPTH} levels")
            raise _Stop
        value: list[Any] | dict[str, Any] = [] if isinstance(event, yaml.SequenceStartEvent) else {}
        where = self._place(event, value)
        if where is None:
            raise _Stop
        if where in self.keys and not event.flow_style:
            self.places[where] = self.keys[where]
        self.frames.append(_Frame(where, value))

    def _refuse_properties(self, event: Any) -> None:
        if event.anchor is not None:
            self.report(
                "anchor", event.start_mark, f"an anchor '&{event.anchor}'", "remove it, or quote the text"
            )
        if event.tag is not None:
            self.report("tag", event.start_mark, f"a tag {shown(event.tag)}", "remove it, or quote the text")

    def _place(self, event: Any, value: Value) -> FieldPath | None:
        """Put a value into the open collection; its path, or None where it was taken as a key."""
        mark = event.start_mark
        if not self.frames:
            self.root = value
            self.places[()] = mark.line + 1, mark.column + 1
            return ()
        frame = self.frames[-1]
        if isinstance(frame.value, list):
            where: FieldPath = (*frame.path, len(frame.value))
            frame.value.append(value)
        elif not frame.key_open:
            self._key(frame, event, value)
            return None
        else:
            frame.key_open = False
            if frame.key is None:  # a second value of one key: read on, keep the first
                where = (*frame.path, f"\0{mark.index}")
            else:
                where = (*frame.path, frame.key)
                frame.value[frame.key] = value
        self.places[where] = mark.line + 1, mark.column + 1
        return where

    def _key(self, frame: _Frame, event: Any, value: Value) -> None:
        mark = event.start_mark
        if not isinstance(event, yaml.ScalarEvent) or value is None:
            self.report("bad-key", mark, "a key must be a word", "write 'key: value', or quote the text")
            raise _Stop
        key = event.value
        frame.key_open, frame.key = True, key
        where = (*frame.path, key)
        if where in self.keys:
            first = self.keys[where][0]
            self.report(
                "duplicate-key", mark, f"the key {shown(key)} stands twice", f"it is first in line {first}"
            )
            frame.key = None
        else:
            self.keys[where] = mark.line + 1, mark.column + 1


def _is_blank(text: str, index: int) -> bool:
    """Whether the line holds nothing from ``index`` on but white space or a comment."""
    end = text.find("\n", index)
    rest = text[index : end if end >= 0 else len(text)].strip()
    return not rest or rest.startswith("#")


def _tab_finding(path: str, text: str, index: int) -> Finding:
    line, column = _line_and_column(text, index)
    return Finding(path, line, column, "tab", "error", "a tab indents this line", "indent with spaces")


_SYNTAX: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "a ': ' in an unquoted text, or a key that is indented too far",
        "put the text in quotes or write it as a block with >-",
    ),
    (
        "could not find expected ':'",
        "this line has no 'key: value'",
        "is a colon, a quote or an indent missing?",
    ),
    ("found unexpected end of stream", "the quote that opens here is never closed", "close it"),
    ("found unexpected document indicator", "the quote that opens here is never closed", "close it"),
    (
        "did not find expected key",
        "neither a key nor the end of this block",
        "check the indent, and that a text with quotes inside is quoted as a whole",
    ),
    (
        "did not find expected '-' indicator",
        "neither a '- ' item nor the end of this list",
        "check the indent against the items above",
    ),
    (
        "block sequence entries are not allowed",
        "a '- ' where no list can start",
        "put the list on a line of its own, or quote the text",
    ),
    (
        "did not find expected ',' or ']'",
        "a '[' list without its ',' or ']'",
        "quote texts that hold brackets or commas",
    ),
    (
        "did not find expected ',' or '}'",
        "a '{' mapping without its ',' or '}'",
        "quote texts that hold braces",
    ),
    (
        "did not find expected node content",
        "no value where one is due",
        "quote a text that starts with , ] or }",
    ),
    (
        "found unknown escape character",
        "a backslash in double quotes that YAML doesn't know",
        "use single quotes",
    ),
    ("found an invalid", "a block text with a wrong indent", "indent all its lines by the same spaces"),
    (
        "found character that cannot start any token",
        "a text can't start with this character",
        "put it in quotes",
    ),
    (
        "did not find expected alphabetic",
        "a '*' or '&' that YAML reads as an alias or anchor",
        "put the text in quotes",
    ),
    (
        "did not find expected <document start>",
        "text after the document's end",
        "remove the '...' or the text",
    ),
    ("maximum nesting", f"nested deeper than {MAX_DEPTH} levels", ""),
    ("invalid Unicode character escape", "an escape that is no character", "use single quotes"),
    ("found undefined tag handle", "a '!' that YAML reads as a tag", "put the text in quotes"),
)
"""What libyaml says (a part of it), what that means, what to do."""


def _syntax_finding(path: str, text: str, error: yaml.MarkedYAMLError, reached: int) -> Finding:
    problem = error.problem or "this is not YAML"
    context = error.context or ""
    mark = error.problem_mark or error.context_mark
    if ("quoted scalar" in context and "unexpected" in problem) or "simple key" in context:
        mark = error.context_mark
    for tab_mark in (error.problem_mark, error.context_mark):
        if (index := _indenting_tab(text, tab_mark)) is not None:
            return _tab_finding(path, text, index)
    if mark is not None and (opening := _runaway_quote(text, reached, mark)) is not None:
        line, column = _line_and_column(text, opening)
        message = f"the quote that opens here is closed only in line {mark.line + 1}"
        return Finding(path, line, column, "syntax", "error", message, "close it where the text ends")
    message, hint = next(((m, h) for said, m, h in _SYNTAX if said in problem), (problem, ""))
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    code = "nesting" if "nesting" in problem else "syntax"
    return Finding(path, line, column, code, "error", message, hint)


def _runaway_quote(text: str, reached: int, mark: Any) -> int | None:
    """Index of a quote, not before ``reached``, whose text runs over a line's end to just before the mark."""
    quote = _QUOTED.search(text, reached, mark.index)
    if quote is None or "\n" not in quote["text"]:
        return None
    return quote.start("text") if text.count("\n", 0, quote.end()) == mark.line else None


_QUOTED = re.compile(r"""(?<![^\s\[{,])(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""", re.DOTALL)


def _line_and_column(text: str, index: int) -> tuple[int, int]:
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def _indenting_tab(text: str, mark: Any) -> int | None:
    """Index of a tab in the white space that starts the marked line."""
    if mark is None:
        return None
    start = 0
    for _ in range(mark.line):
        start = text.find("\n", start) + 1
    tab = re.compile(r" *(\t)").match(text, start)
    return tab.start(1) if tab else None


CODES: Mapping[str, Explanation] = {
    "too-large": Explanation("A YAML file has at most 1 MB, any other file at most 4 MB."),
    "encoding": Explanation(
        "Files are UTF-8 without a byte order mark. Say so in your editor and save again."
    ),
    "character": Explanation(
        "Control characters, and line ends that editors don't show as such (U+0085, U+2028, U+2029, a lone "
        "carriage return), and those that hide or reorder text are not allowed. They come with what is copied "
        "from terminals and web pages."
    ),
    "syntax": Explanation(
        "The text is not YAML. The place is where the parser could not go on; the cause is there or just before.",
        "summary: Fails with error: invalid argument",
        "summary: >-\n  Fails with error: invalid argument",
    ),
    "tab": Explanation(
        "YAML is indented by spaces only.", "logs:\n\t- file: a.log", "logs:\n  - file: a.log"
    ),
    "empty": Explanation("A file of content holds something, or it isn't there."),
    "several-documents": Explanation("A file holds one YAML document; a second '---' starts another."),
    "directive": Explanation("%YAML and %TAG directives are not needed, and not taken."),
    "alias": Explanation(
        "Anchors and aliases are not taken: a reader of the file should not have to look elsewhere, and a few "
        "lines of them can expand to gigabytes. A text that starts with * needs quotes.",
        "step: *fix",
        'step: "*fix"',
    ),
    "anchor": Explanation("See alias. A text that starts with & needs quotes.", "a: &x text", 'a: "&x text"'),
    "tag": Explanation(
        "Tags choose a type or build an object; each field's type is fixed by the model. A text that starts "
        "with ! needs quotes.",
        "title: !!python/name:os.system",
        'title: "!important"',
    ),
    "nesting": Explanation(
        f"A document is nested at most {MAX_DEPTH} levels deep; no entry needs a third of it."
    ),
    "bad-key": Explanation("A key is a word before a colon.", "? [a, b]\n: c", "a: c"),
    "duplicate-key": Explanation(
        "A key stands once in a mapping: of two, YAML would silently keep the last.",
        "family: zero\nfamily: memory",
        "family: zero",
    ),
}
