"""The command ``verify``: what it looks at, and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import date
from pathlib import Path

from ..catalogue import Catalogue
from ..content import Content
from . import coverage, record
from .packages import open_index
from .verify import Report
from .verify import verify as look


def verify(
    folder: Path, content: Content, slugs: Collection[str], cache: Path, progress: Callable[[str], None]
) -> Report:
    """Look for the messages of these entries, or of all, and write their evidence.json.

    For all, the messages of the newest DeepSpeed are recorded anew as well. Raises PackageError, and has
    written nothing then.
    """
    catalogue = Catalogue(content)
    entries = [loaded for loaded in content.entries if not slugs or loaded.slug in slugs]
    with open_index(cache) as index:
        report = look(catalogue, entries, index, date.today(), progress)
        messages = None if slugs else coverage.record(index)
    for slug, evidence in report.evidence.items():
        record.write(folder / "failures" / slug, evidence)
    if messages is not None:
        (folder / "evidence").mkdir(exist_ok=True)
        (folder / "evidence" / coverage.FILE).write_bytes(messages)
    return report
