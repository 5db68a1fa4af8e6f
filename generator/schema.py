"""The JSON Schema of an entry, from the models: what editors complete and check while one writes.

In YAML every scalar is a text to us, so where the models have a number or a boolean, an editor that reads
``no_message: true`` as a boolean is right as well: the schema says what the models say.
"""

from __future__ import annotations

import json
from typing import Any

from .model import Entry

MODELINE = "# yaml-language-server: $schema=../../entry.schema.json"
"""Names the schema for editors, from an entry's folder."""


def entry_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of entry.yaml."""
    schema = Entry.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def schema_text() -> str:
    """What content/entry.schema.json holds."""
    return json.dumps(entry_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
