"""One log, diagnosed by Python and by JavaScript."""

from __future__ import annotations

import base64
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

from generator.bundle import bundle
from generator.catalogue import Catalogue
from generator.diagnose.engine import Engine, Logs
from generator.diagnose.read import Source, sources_of
from generator.hidden import to_json
from generator.load import load

from .mutations import Log, mutated
from .twin import Twin

ROOT = Path(__file__).parents[1]
VECTORS = ROOT / "tests" / "vectors" / "diagnose"
CHUNKS = (1 << 16, 5_000, 997)


@dataclass(frozen=True)
class Answer:
    """What an engine says: the exact JSON, the lines around the beginning, the inputs that it can't read."""

    json: str
    context: list[dict[str, Any]]
    problems: list[str]


class Both:
    """Both engines with the bundle of this checkout. Close it, or use it in a ``with``."""

    def __init__(self) -> None:
        content = bundle(Catalogue(load(ROOT / "content")[0]))
        self._engine = Engine(content)
        self._folder = tempfile.TemporaryDirectory()
        self.twin = Twin()
        self.twin("engine", "real", content)

    def __enter__(self) -> Both:
        return self

    def __exit__(self, *error: object) -> None:
        self.twin.__exit__(*error)
        self._folder.cleanup()

    def python(self, log: Log) -> Answer:
        logs = Logs()
        problems = []
        for name, content in log:
            try:
                self._read(logs, name, content)
            except (OSError, EOFError, zlib.error):
                problems.append(name)
        conclusion = self._engine.conclude(logs)
        return Answer(
            to_json(conclusion.answer) + "\n", [asdict(shown) for shown in conclusion.context], problems
        )

    def javascript(self, log: Log, chunk: int = CHUNKS[0]) -> Answer:
        inputs = [[name, base64.b64encode(content).decode()] for name, content in log]
        return Answer(**self.twin("diagnose", "real", inputs, chunk))

    def _read(self, logs: Logs, name: str, content: bytes) -> None:
        """As the command reads a file: packed ones, and those in other encodings, too."""
        path = Path(self._folder.name, "log")
        path.write_bytes(content)
        (source,) = sources_of([str(path)])
        assert isinstance(source, Source)
        stream = source.open()
        try:
            self._engine.read(logs, name, stream)
        finally:
            getattr(stream, "close", lambda: None)()


def logs_of_checkout() -> dict[str, Log]:
    """The shared cases, the entries' logs, the healthy ones."""
    found: dict[str, Log] = {}
    for path in sorted(VECTORS.iterdir()):
        if path.is_dir():
            found[f"vectors/{path.name}"] = _files(path)
    for path in [
        *VECTORS.glob("*.log"),
        *ROOT.glob("content/failures/*/*.log"),
        *ROOT.glob("content/healthy/*.log"),
    ]:
        found[f"{path.parent.name}/{path.name}"] = [(path.name, path.read_bytes())]
    return dict(sorted(found.items()))


def _files(folder: Path) -> Log:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path.relative_to(folder.parent).as_posix(), path.read_bytes()) for path in paths]


def differing(both: Both, logs: list[Log], seeds: range) -> Iterator[tuple[int, Answer, Answer]]:
    """The mutations, by their seeds, of which the engines say different things."""
    for seed in seeds:
        random = Random(seed)
        log = mutated(random.choice(logs), logs, random)
        python, javascript = both.python(log), both.javascript(log, random.choice(CHUNKS))
        if python != javascript:
            yield seed, python, javascript
