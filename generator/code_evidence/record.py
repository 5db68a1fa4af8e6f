"""snippets.json: what was found out about the code of one entry.

Names stand under the release in which they were looked up, one a line, so that a change of one snippet is a
change of a few lines.
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import Field, ValidationError

from ..content import LoadedEntry
from ..model import Part, Requirement

FILE = "snippets.json"
Kind = Literal[
    "module", "class", "function", "attribute", "parameter", "any keyword", "not followed", "missing"
]
"""What a name is in a release.

``any keyword``: the callee takes every keyword, so that the name says nothing. ``not followed``: neither
the source nor an import told, such as an attribute of what an unannotated function returns.
"""


class Answer(Part):
    """What DeepSpeed's configuration class said."""

    release: Requirement
    ranks: int = 1
    filled: tuple[str, ...] = Field(
        default=(), description="Keys that said 'auto' and were given a value, as the Trainer would."
    )
    refused: str | None = Field(
        default=None, description="Its message; null where it took the configuration."
    )


class Record(Part):
    """What snippets.json holds."""

    names: dict[str, dict[str, Kind]] = Field(default_factory=dict)
    configurations: dict[str, Answer] = Field(default_factory=dict)


def read(loaded: LoadedEntry) -> Record | None:
    """The entry's record, empty where it has none; None where the file isn't one."""
    data = loaded.files.get(FILE)
    if data is None:
        return Record()
    try:
        return Record.model_validate_json(data)
    except ValidationError:
        return None


def to_text(record: Record) -> str:
    """The file's text: sorted, one name a line, absent what is empty."""
    names = {release: dict(sorted(found.items())) for release, found in sorted(record.names.items()) if found}
    answers = {
        key: answer.model_dump(mode="json", exclude_defaults=True)
        for key, answer in sorted(record.configurations.items())
    }
    whole = {"names": names, "configurations": answers}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
