"""Texts hold no invisible characters, however they are spelled in the YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..catalogue import Catalogue
from ..content import LoadedEntry, Positions
from ..finding import Finding
from ..hidden import HIDDEN
from ..model import Part
from .report import finding_within
from .sections import hub_sections, line_sections, taxonomy_sections
from .texts import texts


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    # What a file holds as it is was refused when it was read; what is left comes by YAML's escapes.
    if _ESCAPE.search(loaded.positions.source):
        yield from _check(loaded.entry, loaded.positions, ())


_ESCAPE = re.compile(r"\\[0-9A-Za-z_]")


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    content = catalogue.content
    for hub, positions in hub_sections(content):
        yield from _check(hub, positions, ())
    for line, positions, field in line_sections(content):
        yield from _check(line, positions, field)
    for _, items, positions in taxonomy_sections(content):
        for i, item in enumerate(items):
            yield from _check(item, positions, (i,))


_INVISIBLE = re.compile(f"[{HIDDEN}\r]")


def _check(part: Part, positions: Positions, field: tuple[str | int, ...]) -> Iterator[Finding]:
    for text in texts(part, field):
        if bad := _INVISIBLE.search(text.value):
            message = f"the character U+{ord(bad[0]):04X} can't be seen"
            where = text.field, text.value, bad.start()
            yield finding_within(positions, *where, "character", message, "remove it")
