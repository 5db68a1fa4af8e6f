"""Three corpora keep the signatures honest: an entry's own logs, every other entry's logs, and healthy runs.

Each log is diagnosed with the signatures of all entries. An entry's log must give what it promises; no log
may be taken for another entry's failure; a healthy run must be clean. What came out is recorded in
content/evidence/corpora.json, which the page /verify/ shows and a test compares:
``python -m generator.corpora`` renews it, and beside it coverage.json, what the signatures match of upstream's messages.
"""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from .bundle import bundle
from .catalogue import Catalogue
from .content import LoadedEntry
from .diagnose.engine import Engine, Logs
from .diagnose.match import conditions_hold, find_hits, items_of
from .evidence.coverage import RECORD, coverage, to_record
from .load import load
from .model import Diagnosis, Log

FILE = "corpora.json"


@dataclass(frozen=True)
class Trial:
    """What the engine says of one log. ``loaded`` and ``log`` are None for a healthy run."""

    file: str
    answer: Mapping[str, Any]
    standing: tuple[str, ...]
    """The signatures that stand in the log with their conditions met, by id."""
    loaded: LoadedEntry | None = None
    log: Log | None = None

    @property
    def named(self) -> str | None:
        """The entry that the engine says started it."""
        initiating = self.answer["initiating"]
        return initiating["entry"] if initiating else None


def trials(catalogue: Catalogue, slugs: Collection[str] | None = None) -> Iterator[Trial]:
    """Every log of the entries (of ``slugs``, where given) and then every healthy run, diagnosed."""
    signatures = bundle(catalogue)
    engine = Engine(signatures)
    own = [item for item in items_of(signatures) if item.entry is not None]

    def tried(file: str, data: bytes) -> tuple[str, Mapping[str, Any], tuple[str, ...]]:
        logs = Logs()
        engine.read(logs, file, io.BytesIO(data))
        text = engine.judged(logs)[0].text
        hits = find_hits(text, own)
        standing = {h.item.id for at in hits for h in hits[at] if conditions_hold(h.item, at, text)}
        return file, engine.conclude(logs).answer, tuple(sorted(standing))

    for loaded in catalogue.content.entries:
        if loaded.entry.status != "withdrawn" and (slugs is None or loaded.slug in slugs):
            for log in loaded.entry.logs:
                if (data := loaded.files.get(log.file)) is not None:
                    yield Trial(*tried(log.file, data), loaded, log)
    if slugs is None:
        for file, data in catalogue.content.healthy.items():
            yield Trial(*tried(file, data))


def breach(trial: Trial) -> str | None:
    """What a log promises and the diagnosis doesn't give, in words; None where it gives all."""
    loaded, log, answer = trial.loaded, trial.log, trial.answer
    if loaded is None or log is None:
        return None if answer["verdict"] == "clean" else f"a healthy run is said to be {answer['verdict']}"
    found = answer["initiating"] or {"line": None, "ranks": []}
    candidates = {row["entry"] for row in answer["candidates"]}
    named = trial.named or "no entry"
    if log.says == "initiating" and named != loaded.slug:
        return f"the diagnosis names {named}, not this entry"
    if log.says != "initiating" and named == loaded.slug:
        return "the diagnosis names this entry"
    if log.says == "collateral" and loaded.slug not in candidates:
        return "the diagnosis doesn't have this entry among the collateral"
    if log.says == "other" and loaded.slug in candidates:
        return "the diagnosis has this entry among the candidates"
    if log.entry is not None and named != log.entry:
        return f"the diagnosis names {named}, not {log.entry}"
    if log.says != "initiating" and log.entry is None and trial.named is not None:
        return f"the diagnosis names {trial.named}: say entry: {trial.named}"
    if log.line is not None and log.line not in _lines(answer):
        return f"the diagnosis names line {found['line']}, not {log.line}"
    if log.ranks and found["ranks"] != list(log.ranks):
        return f"the diagnosis names ranks {found['ranks']}, not {list(log.ranks)}"
    return None


def _lines(answer: Mapping[str, Any]) -> set[int | None]:
    """The lines that the answer names; 'terminate called' stands above the what() that is named."""
    lines = {row["line"] for row in answer["candidates"]}
    if answer["initiating"] and (line := answer["initiating"]["line"]) is not None:
        lines |= {line, line - 1}
    return lines


class LogResult(BaseModel):
    """A log: what it is an example of (``of``; None where no entry is), what it promises, which entry was
    named, and the entries whose messages stand in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    log: str
    says: Diagnosis | None
    of: str | None
    named: str | None
    verdict: str
    standing: tuple[str, ...]


class Corpora(BaseModel):
    """What was recorded of all logs, and the signatures that stand in none."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    logs: tuple[LogResult, ...]
    unseen: tuple[str, ...]

    @property
    def healthy(self) -> tuple[LogResult, ...]:
        return tuple(log for log in self.logs if log.says is None)

    @property
    def of_entries(self) -> tuple[LogResult, ...]:
        return tuple(log for log in self.logs if log.says is not None)

    @cached_property
    def shared(self) -> Mapping[str, tuple[str, ...]]:
        """By slug, the other entries in whose logs this one's messages stand too, without being named."""
        others: dict[str, set[str]] = {}
        for log in self.logs:
            for slug in log.standing:
                if log.of and log.of != slug:
                    others.setdefault(slug, set()).add(log.of)
        return {slug: tuple(sorted(found)) for slug, found in others.items()}


def compared(catalogue: Catalogue) -> Corpora:
    """All corpora, diagnosed now."""
    results: list[LogResult] = []
    seen: set[str] = set()
    for trial in trials(catalogue):
        seen.update(trial.standing)
        loaded, log = trial.loaded, trial.log
        of = None if log is None or loaded is None else loaded.slug if log.says == "initiating" else log.entry
        results.append(
            LogResult(
                log=f"{loaded.slug}/{trial.file}" if loaded else f"healthy/{trial.file}",
                says=log.says if log else None,
                of=of,
                named=trial.named,
                verdict=trial.answer["verdict"],
                standing=tuple(sorted({each.partition("/")[0] for each in trial.standing})),
            )
        )
    ids = [f"{e.slug}/{s.id}" for e in catalogue.current for s in e.entry.signatures]
    return Corpora(logs=tuple(results), unseen=tuple(sorted(set(ids) - seen)))


def recorded(catalogue: Catalogue) -> Corpora | None:
    """What content/evidence holds, or None. Raises ValueError where it is another thing."""
    return read(catalogue.content.evidence.get(FILE))


def read(data: bytes | None) -> Corpora | None:
    """The recorded corpora; None where none are. Raises ValueError."""
    try:
        return None if data is None else Corpora.model_validate_json(data)
    except ValidationError as error:
        raise ValueError(f"{FILE}: {error.errors()[0]['msg']}") from error


def to_json(corpora: Corpora) -> str:
    """A row a line, so that two people who add entries change different lines."""
    rows = ",\n".join(json.dumps(log.model_dump(mode="json")) for log in corpora.logs)
    unseen = ",\n".join(map(json.dumps, corpora.unseen))
    return f'{{"logs": [\n{rows}\n], "unseen": [\n{unseen}\n]}}\n'


Cell = tuple[int, int]
"""Logs, and those of them of which another entry of the same family was named."""


def confusion(corpora: Corpora, catalogue: Catalogue) -> Mapping[tuple[str, str], Cell]:
    """How many logs of each family were named as which family's. ``none`` is no entry, ``healthy`` a healthy run."""
    counts: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()

    def family(slug: str | None) -> str:
        return catalogue.by_slug[slug].entry.family if slug in catalogue.by_slug else "none"

    for log in corpora.logs:
        healthy = log.verdict == "clean" and log.named is None
        place = (
            family(log.of) if log.says else "healthy",
            "healthy" if healthy else family(log.named),
        )
        counts[place] += 1
        wrong[place] += log.of is not None and log.named is not None and log.of != log.named
    return {place: (count, wrong[place]) for place, count in counts.items()}


def _record() -> int:
    """Write content/evidence/corpora.json and coverage.json anew."""
    folder = Path(__file__).parents[1] / "content"
    catalogue = Catalogue(load(folder)[0])
    made = {FILE: to_json(compared(catalogue))}
    if (counted := coverage(catalogue)) is not None:
        made[RECORD] = to_record(counted)
    for name, text in made.items():
        path = folder / "evidence" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(_record())
