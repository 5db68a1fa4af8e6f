"""No text is cut by a number sign that YAML takes for the beginning of a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..finding import Explanation, Finding, shown
from ..yaml_document import LOADER

CODES: Mapping[str, Explanation] = {
    "cut-text": Explanation(
        "In a text without quotes, YAML takes what follows ' #' for a comment, and the text ends before it. A comment "
        "that is meant has a blank after its number sign.",
        "supports: The author of #2977 asks here.",
        'supports: "The author of #2977 asks here."',
    ),
}
_COMMENT = re.compile(r"[ ]+(#[^ \n][^\n]*)")


def check(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[Finding]:
    source = loaded.positions.source
    if not _COMMENT.search(source):
        return
    for event in yaml.parse(source, Loader=LOADER):
        if isinstance(event, yaml.ScalarEvent) and not event.style:
            mark: Any = event.end_mark
            if cut := _COMMENT.match(source, mark.index):
                column = mark.column + 1 + cut.start(1) - mark.index
                message = f"the text ends before {shown(cut[1])}"
                where = (loaded.positions.path, mark.line + 1, column)
                yield Finding(*where, "cut-text", "error", message, "put it in quotes")
