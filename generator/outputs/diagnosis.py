"""What the page ``/diagnose/`` and the browser's engine read: tables, words, sample logs, a draft entry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from ..catalogue import Catalogue
from ..scaffold import Answers, entry_text
from ..views import sample_logs
from ..write import File

FOLDER = Path(__file__).parents[1] / "diagnose"
TABLES = ("knowledge", "words")
DRAFT_TITLE = "@title@"
DRAFT_MESSAGE = "@message@"
DRAFT_DAY = date(1000, 1, 1)
"""What the page puts its own title, message and day in the place of."""


def diagnosis_files(catalogue: Catalogue) -> Iterator[File]:
    """The files of ``/diagnose/`` and ``/engine/diagnose/`` that are made from data."""
    for name in TABLES:
        table = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        text = json.dumps(table, separators=(",", ":"), ensure_ascii=False)
        yield File(f"engine/diagnose/{name}.json", text.encode(), f"generator/diagnose/{name}.json")
    for sample in sample_logs(catalogue):
        yield File(sample.path, sample.data, f"content/failures/{sample.origin}")
    yield File("diagnose/draft.yaml", draft(catalogue).encode(), "the draft of an entry")


def draft(catalogue: Catalogue) -> str:
    """A new entry with marks where the page writes what a log tells."""
    families = [family.id for family in catalogue.content.families]
    phases = [phase.id for phase in catalogue.content.phases]
    return entry_text(Answers(title=DRAFT_TITLE, message=DRAFT_MESSAGE), families, phases, DRAFT_DAY)
