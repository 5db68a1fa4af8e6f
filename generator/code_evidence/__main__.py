"""Renews snippets.json of entries: what their code's names are, and what DeepSpeed says to its configurations.

The interpreter that ``--python`` names holds DeepSpeed, PyTorch and what else snippets import, in the releases
of content/taxonomy/packages.yaml. Source is read; of what source doesn't tell, that interpreter is asked.
Other releases are fetched as pip is configured. What a record already answers is not asked again without
``--anew``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from ..catalogue import Catalogue
from ..checks.code import check
from ..content import Content, LoadedEntry
from ..evidence.packages import PackageError, default_cache
from ..load import load
from .api import Source
from .auto import fill
from .needs import Needs, needs
from .packages import Environment
from .record import FILE, Answer, Kind, Record, read, to_text

PROBE = Path(__file__).with_name("probe.py")


def main(
    slugs: Annotated[list[str] | None, typer.Argument(help="Entries; all, if none is named.")] = None,
    python: Annotated[Path, typer.Option(help="Interpreter of the environment with the packages.")] = Path(
        sys.executable
    ),
    content: Annotated[Path, typer.Option(help="Content folder.")] = Path("content"),
    anew: Annotated[bool, typer.Option(help="Ask again what is on record.")] = False,
) -> None:
    loaded, _ = load(content)
    chosen = [entry for entry in loaded.entries if not slugs or entry.slug in slugs]
    unknown = set(slugs or ()) - {entry.slug for entry in chosen}
    for slug in sorted(unknown):
        typer.echo(f"{slug}: no such entry, or it doesn't load", err=True)
    try:
        environment = Environment(python, default_cache())
        records = renewed(chosen, loaded, environment, anew)
    except PackageError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    for entry in chosen:
        write(content / "failures" / entry.slug / FILE, records[entry.slug])
    problems = problems_of([entry.slug for entry in chosen], content)
    for line in problems:
        typer.echo(line)
    raise typer.Exit(2 if unknown else 1 if problems else 0)


def renewed(
    entries: Iterable[LoadedEntry], content: Content, environment: Environment, anew: bool = False
) -> dict[str, Record]:
    """The record of each entry, by slug; the packages are asked once for all of them. Raises PackageError."""
    wanted = {loaded.slug: needs(loaded, content.packages) for loaded in entries}
    known = {loaded.slug: Record() if anew else read(loaded) or Record() for loaded in entries}
    names: defaultdict[str, dict[str, Kind]] = defaultdict(dict)
    answers: dict[str, Answer] = {}
    for record in known.values():
        answers.update(record.configurations)
        for release, kinds in record.names.items():
            names[release].update(kinds)
    _look_up(wanted.values(), names, environment)
    _ask(wanted.values(), answers, environment)
    return {
        slug: Record(
            names={
                release: {name: names[release][name] for name in used} for release, used in need.names.items()
            },
            configurations={key: answers[key] for key in need.configurations},
        )
        for slug, need in wanted.items()
    }


def write(path: Path, record: Record) -> None:
    """The record's file, or none where there is nothing to record."""
    if record == Record():
        path.unlink(missing_ok=True)
    else:
        path.write_text(to_text(record), encoding="utf-8")


def problems_of(slugs: list[str], folder: Path) -> list[str]:
    """What ``checks.code`` finds in these entries, with the records as they now are."""
    content, _ = load(folder)
    catalogue = Catalogue(content)
    return [str(f) for loaded in content.entries if loaded.slug in slugs for f in check(loaded, catalogue)]


def _look_up(
    needs_of_all: Iterable[Needs], names: Mapping[str, dict[str, Kind]], environment: Environment
) -> None:
    """Adds to ``names`` what isn't there yet: from source, and where that doesn't tell, from an import."""
    missing: defaultdict[str, set[str]] = defaultdict(set)
    for need in needs_of_all:
        for release, used in need.names.items():
            missing[release] |= used - names[release].keys()
    doubtful: set[str] = set()
    for release, wanted in sorted(missing.items()):
        source = Source(environment.folder(release), environment.site) if wanted else None
        for name in sorted(wanted):
            assert source is not None
            typer.echo(f"{release}  {name}", err=True)
            kind = names[release][name] = source.kind(name)
            if kind in ("missing", "not followed") and environment.holds(release):
                doubtful.add(name)
    if doubtful:
        told = _probe(environment, {"names": sorted(doubtful), "configurations": [], "ranks": 1})["names"]
        for release, wanted in missing.items():
            for name in wanted & doubtful:
                names[release][name] = told[name] or names[release][name]


def _ask(needs_of_all: Iterable[Needs], answers: dict[str, Answer], environment: Environment) -> None:
    """Adds to ``answers`` what DeepSpeed says to the configurations that aren't there yet."""
    groups: defaultdict[tuple[str, int], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for need in needs_of_all:
        for key, question in need.configurations.items():
            if key not in answers:
                groups[question.release, question.ranks][key] = question.value
    for (release, ranks), asked in sorted(groups.items()):
        typer.echo(f"{release}  {len(asked)} configurations on {ranks} ranks", err=True)
        filled = {key: fill(value, ranks) for key, value in asked.items()}
        request = {"names": [], "configurations": [value for value, _ in filled.values()], "ranks": ranks}
        said = _probe(environment, request, release)["configurations"]
        for (key, (_, keys)), refused in zip(filled.items(), said, strict=True):
            answers[key] = Answer(release=release, ranks=ranks, filled=keys, refused=refused)


def _probe(environment: Environment, request: Mapping[str, Any], release: str = "") -> Any:
    """The answer of ``probe`` in the environment, with another release before the installed one if need be.

    Raises PackageError where the environment lacks what it was asked for.
    """
    path = str(environment.folder(release)) if release and not environment.holds(release) else ""
    variables = {**os.environ, "DS_ACCELERATOR": "cpu", "PYTHONPATH": path}
    with TemporaryDirectory() as folder:
        asked, answered = Path(folder, "request.json"), Path(folder, "answer.json")
        asked.write_text(json.dumps(request), encoding="utf-8")
        command = [str(environment.python), str(PROBE), str(asked), str(answered)]
        done = subprocess.run(
            command, env=variables, cwd=path or folder, capture_output=True, text=True, timeout=600
        )
        if done.returncode != 0 or not answered.is_file():
            last = (done.stderr.strip() or "it printed nothing").splitlines()[-1]
            raise PackageError(f"{environment.python} could not answer: {last}")
        return json.loads(answered.read_text(encoding="utf-8"))


if __name__ == "__main__":
    typer.run(main)
