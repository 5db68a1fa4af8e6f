"""The stages, in the order in which data meets them."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import search_index
from .catalogue import Catalogue
from .checks import examine_for_build
from .content import Content
from .finding import Finding
from .former import Former, keys
from .parallel import processes
from .parts import Together, entry_of, site_parts
from .write import File, Maker, SiteError, write_site

ROOT = Path(__file__).parents[1]
MANY = 300
"""Entries from which on more processes than one are worth their cost."""


@dataclass(frozen=True)
class Options:
    """What to build, from where and to where; ``content`` is root/content unless it is given."""

    root: Path = ROOT
    out: Path = ROOT / "site"
    content: Path | None = None
    base_url: str = ""
    strict: bool = False
    repository: str = ""
    """The address of the repository on GitHub, for the links to edit an entry and to report an error in it."""
    jobs: int | None = None
    """How many processes; where none is said, one for each core if there are many entries."""


@dataclass(frozen=True)
class Result:
    """What a build found, and how much it wrote: nothing where it isn't ``ok``."""

    findings: tuple[Finding, ...]
    ok: bool
    entries: int
    files: int = 0


@contextmanager
def _collecting_young() -> Iterator[None]:
    """Garbage is looked for among what is new, not again and again through what lives until the end."""
    before = gc.get_threshold()
    never = 1_000_000
    gc.set_threshold(20_000, never, never)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_collecting_young()
def build(options: Options, progress: Callable[[str], None] = lambda stage: None) -> Result:
    """Build the site, or write nothing where a finding forbids it. Raises SiteError where it can't be written."""
    source = options.content or options.root / "content"
    refuse_overlap(
        options.out, [source, *(options.root / name for name in ("generator", "static", "templates"))]
    )
    progress("checking")
    count = process_count(source, options.jobs)
    content, findings = examine_for_build(source, count)
    if forbids(findings, options.strict):
        progress("")
        return Result(tuple(findings), False, len(content.entries))
    progress("rendering and writing")
    former = Former.at(options.out)
    makers = site_makers(content, options.root, options.base_url, options.repository, former)

    def finish(folder: Path) -> None:
        progress("indexing")
        search_index.index(search_index.documents(Catalogue(content)), folder, former=options.out)

    written = write_site((), options.out, finish, makers, count, former.renew)
    progress("")
    return Result(tuple(findings), True, len(content.entries), written)


def process_count(content: Path, wanted: int | None) -> int:
    """Below a few hundred entries a second process costs more than it brings."""
    if wanted is not None:
        return processes(wanted)
    failures = content / "failures"
    many = failures.is_dir() and len(os.listdir(failures)) >= MANY
    return processes() if many else 1


def refuse_overlap(out: Path, sources: Iterable[Path]) -> None:
    """Raise SiteError where a site would stand in what it is made from, or replace that."""
    target = out.resolve()
    for source in (path.resolve() for path in sources):
        if target.is_relative_to(source):
            raise SiteError(f"{out}: {source} holds what the build reads, and no site")
        if source.is_relative_to(target):
            raise SiteError(f"{out}: holds {source}, which the build reads; not replaced")


def forbids(findings: list[Finding], strict: bool) -> bool:
    """Whether a site may not be built with these findings."""
    return any(strict or finding.severity == "error" for finding in findings)


def site_files(content: Content, root: Path, base_url: str = "", repository: str = "") -> list[File]:
    """Every file of the site but the full-text index."""
    return [file for make in site_makers(content, root, base_url, repository) for file in make()]


def site_makers(
    content: Content, root: Path, base_url: str = "", repository: str = "", former: Former | None = None
) -> list[Maker]:
    """What makes the files of the site but the full-text index, what takes longest first, an entry's files together.

    Files of entries are taken from the ``former`` site where it has them made of the same.
    """
    made_of = keys(content, root, (base_url, repository)) if former else {}
    makers: list[Maker] = []
    of_entries: dict[str, list[Maker]] = {}
    for part in site_parts(Catalogue(content), root, base_url, repository):
        if isinstance(part, Together):
            makers.append(part.make)
            continue
        for path, make in part.makers().items():
            slug = entry_of(path)
            key = made_of.get(slug or "")
            maker = former.or_made(path, key, make) if former and key else make
            (of_entries.setdefault(slug, []) if slug else makers).append(maker)
    return [*makers, *(maker for several in of_entries.values() for maker in several)]
