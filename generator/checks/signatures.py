"""Signatures: templates compile, an entry has one or says what to look at, and no message has two owners."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ..catalogue import Catalogue
from ..content import FieldPath, LoadedEntry, Positions
from ..finding import Explanation, Finding, shown
from ..model import Entry, LinePattern, Signature
from ..signature import CONDITION_BYTES, TemplateError, compile_template, parse
from .report import finding, finding_within
from .sections import line_sections

CODES: Mapping[str, Explanation] = {
    "template": Explanation(
        "A message with holes: {int}, {num}, {hex}, {size}, {word}, {path}, {quoted}, {any}; {size:tried} also names "
        "what it captures; {{ and }} are braces. It holds a literal of 8 bytes or more (5 in needs and unless), and "
        "can be matched in linear time.",
        "text: exits with return code = {integer}",
        "text: exits with return code = {int}",
    ),
    "too-general": Explanation(
        "The message is only the kind of an exception or a header, which unrelated failures print too: the entry "
        "would be named for all of them. Write the words after it, or the frame or line that must stand near in needs.",
        "text: 'RuntimeError:'",
        "text: 'RuntimeError: Expected all tensors to be on the same device'",
    ),
    "path-in-signature": Explanation(
        "An absolute path differs from machine to machine: with it, the message is found on one of them.",
        "text: cannot open /home/user/run/train.json",
        "text: cannot open {path}",
    ),
    "no-signature": Explanation(
        "A reader comes with a message. An entry has a signature of the role 'cause' (or 'confirmation'), or "
        "no_message: true with look_instead, which says what to look at.",
        "signatures: []",
        "no_message: true\nlook_instead: ...",
    ),
    "duplicate-signature": Explanation(
        "Two signatures with the same text, needs and unless can't be told apart. Conditions separate one message "
        "with several causes."
    ),
}


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    entry, positions = loaded.entry, loaded.positions
    yield from _check_presence(entry, positions)
    for field, template, read in _templates(entry):
        yield from _check_template(positions, field, template, read)
    for i, signature in enumerate(entry.signatures):
        yield from _check_words(positions, ("signatures", i, "text"), signature)


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    for line, positions, field in line_sections(catalogue.content):
        yield from _check_template(positions, (*field, "text"), line.text, compile_template)
    owners: dict[object, tuple[Positions, FieldPath]] = {}
    for item, positions, field in _owned(catalogue):
        conditions = (sorted(item.needs), sorted(item.unless)) if isinstance(item, Signature) else ([], [])
        key = (item.text, *map(tuple, conditions))
        owner, place = owners.setdefault(key, (positions, field))
        if (owner.path, place) != (positions.path, field):
            message = "this message has the same text and conditions as another"
            hint = f"see {owner.path}:{owner.of(place)[0]}"
            yield finding(positions, field, "duplicate-signature", message, hint)


def _check_presence(entry: Entry, positions: Positions) -> Iterator[Finding]:
    if entry.no_message and entry.look_instead is None:
        message = "no_message needs look_instead: what to look at instead"
        yield finding(positions, ("no_message",), "no-signature", message)
    if entry.look_instead is not None and not entry.no_message:
        message = "look_instead belongs to no_message: true"
        yield finding(positions, ("look_instead",), "no-signature", message)
    roles = {signature.role for signature in entry.signatures}
    if entry.status != "withdrawn" and not entry.no_message and not roles & {"cause", "confirmation"}:
        message = "no signature has the role 'cause' or 'confirmation'"
        hint = "add the failing rank's own message, or no_message: true with look_instead"
        yield finding(positions, ("signatures",), "no-signature", message, hint)


_Read = Callable[[str], Any]


def _templates(entry: Entry) -> Iterator[tuple[FieldPath, str, _Read]]:
    condition = partial(compile_template, minimum=CONDITION_BYTES)
    for i, signature in enumerate(entry.signatures):
        yield ("signatures", i, "text"), signature.text, compile_template
        for j, template in enumerate(signature.needs):
            yield ("signatures", i, "needs", j), template, condition
        for j, template in enumerate(signature.unless):
            yield ("signatures", i, "unless", j), template, condition
    for i, consequence in enumerate(entry.leads_to):
        yield ("leads_to", i, "message"), consequence.message, parse


def _check_template(positions: Positions, field: FieldPath, template: str, read: _Read) -> Iterator[Finding]:
    try:
        read(template)
    except TemplateError as error:
        offset = min(error.offset, len(template) - 1)
        yield finding_within(positions, field, template, offset, "template", error.message)


_HOLE = re.compile(r"\{\w+(?::\w+)?\}")
_UNTELLING = re.compile(
    r"(?:[\w.]*(?:Error|Exception|Warning)|Traceback \(most recent call last\)|error|failed)[:.!\s]*", re.I
)
"""An exception's kind or a header, without a word of what it is about."""
_PATH = re.compile(r"(?<![\w.{}:/\\-])/(?!(?:dev|proc|sys)/)(?:[\w.@+-]+/)+[\w.@+-]+")


def _check_words(positions: Positions, field: FieldPath, signature: Signature) -> Iterator[Finding]:
    """Whether the literal words tell this failure, and would stand on another machine, too."""
    if not signature.needs and _UNTELLING.fullmatch(_HOLE.sub(" ", signature.text).strip()):
        message = f"{shown(signature.text)} stands in the logs of other failures, too"
        hint = "write the words that only this failure prints, or what must stand near in needs"
        yield finding(positions, field, "too-general", message, hint)
    if found := _PATH.search(signature.text):
        message = f"the path {shown(found[0])} differs from machine to machine"
        yield finding_within(
            positions,
            field,
            signature.text,
            found.start(),
            "path-in-signature",
            message,
            "write {path}",
            "warning",
        )


def _owned(catalogue: Catalogue) -> Iterator[tuple[Signature | LinePattern, Positions, FieldPath]]:
    for loaded in catalogue.content.entries:
        for i, signature in enumerate(loaded.entry.signatures):
            yield signature, loaded.positions, ("signatures", i, "text")
    for line, positions, field in line_sections(catalogue.content):
        yield line, positions, (*field, "text")
