"""Run each part of an entry's reproduction of which something is promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..content import LoadedEntry
from ..diagnose.engine import Engine
from ..model import Log
from .environment import Environment, EnvironmentFailure, prepared
from .judge import Judgement, judge
from .process import run_part
from .script import FAIL, FIX, ScriptError, read_script

FILE = "repro.py"


@dataclass(frozen=True)
class Outcome:
    """What came of one part; ``part`` is empty where the script could not be started.

    ``log`` is the entry's log that the part prints, ``text`` the output as that log would hold it.
    """

    slug: str
    part: str
    seconds: float
    exit_code: int | None
    judgement: Judgement
    log: Log | None = None
    text: bytes = b""

    @property
    def ok(self) -> bool:
        return not self.judgement.wrong


def reproduce(
    loaded: LoadedEntry, engine: Engine, cache: Path, limit: float, say: Callable[[str], None]
) -> Iterator[Outcome]:
    """Run each part that the entry promises something of, in the order ``fail``, others, ``fix``."""
    source = loaded.files[FILE]
    try:
        script = read_script(source)
        with prepared(script, cache, say) as environment:
            for part, log in _parts(loaded):
                ran = run_part(source, part, environment, limit)
                text = _header(environment, part) + ran.output
                judged = judge(loaded, part, log, ran, text, engine)
                yield Outcome(loaded.slug, part, ran.seconds, ran.exit_code, judged, log, text)
    except (ScriptError, EnvironmentFailure) as error:
        yield Outcome(loaded.slug, "", 0, None, Judgement("", str(error)))


def capture(outcome: Outcome, loaded: LoadedEntry, folder: Path) -> str:
    """Write the output into the log that the entry names; what no longer fits in the entry, or nothing."""
    log = outcome.log
    if log is None or not outcome.ok:
        return ""
    (folder / loaded.slug / log.file).write_bytes(outcome.text)
    judged = outcome.judgement
    changed = []
    if judged.line != log.line:
        changed.append(f"line is now {judged.line}, the entry says {log.line}")
    if log.ranks and judged.ranks != log.ranks:
        changed.append(f"ranks are now {list(judged.ranks)}, the entry says {list(log.ranks)}")
    return "; ".join(changed)


def keep(outcome: Outcome, cache: Path) -> Path:
    """Write the output beside the environments, for whoever wants to see why it doesn't hold."""
    path = cache / "output" / f"{outcome.slug}.{outcome.part}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(outcome.text)
    return path


def _parts(loaded: LoadedEntry) -> list[tuple[str, Log | None]]:
    named: dict[str, Log | None] = {log.part: log for log in loaded.entry.logs if log.part}
    fix = named.pop(FIX, None)
    return [(FAIL, named.pop(FAIL, None)), *named.items(), (FIX, fix)]


def _header(environment: Environment, part: str) -> bytes:
    """The first line of a captured log: versions and command."""
    versions = ", ".join(f"{name} {version}" for name, version in environment.versions.items())
    return f"# {versions}: python {FILE} {part}\n".encode()
