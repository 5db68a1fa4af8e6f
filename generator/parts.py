"""``Content`` → the parts of the site: which paths its files may have, and what makes them.

A build makes all; ``serve`` finds the part of the path that a browser asks for, and makes no more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .bundle import PATH, SCHEMA_PATH, bundle_files
from .catalogue import Catalogue
from .content import Content, LoadedEntry
from .find_index import PATH as SEARCH
from .find_index import SCHEMA_PATH as SEARCH_SCHEMA
from .find_index import find_index_files
from .outputs import api
from .outputs.diagnosis import diagnosis_files
from .outputs.feeds import feed_files
from .outputs.for_robots import robot_files
from .pages import Page, Section, all_pages, sections
from .render import Renderer, stylesheets
from .write import File, Maker


@dataclass(frozen=True)
class OneByOne:
    """Files that are made each by itself: the maker of each, by its path.

    ``paths`` are the only ones that they may have: of files, or of folders, which end in '/'.
    """

    paths: tuple[str, ...]
    makers: Callable[[], Mapping[str, Maker]]


@dataclass(frozen=True)
class Together:
    """Files that are made together; ``paths`` as above."""

    paths: tuple[str, ...]
    make: Maker


Part = OneByOne | Together


def site_parts(content: Content, root: Path, base_url: str = "", repository: str = "") -> list[Part]:
    """Everything of the site but the full-text index, what takes longest first."""
    catalogue = Catalogue(content)
    renderer = Renderer(catalogue, base_url, repository, root)
    pages = [OneByOne(each.paths, partial(_renderings, each, renderer)) for each in sections(catalogue)]
    return [
        Together((PATH, SCHEMA_PATH), partial(bundle_files, catalogue)),
        Together((SEARCH, SEARCH_SCHEMA), partial(find_index_files, catalogue)),
        Together(
            (api.DOCUMENT, f"{api.ROOT}entries.json", f"{api.ROOT}taxonomy.json"),
            partial(api.list_files, catalogue, base_url),
        ),
        Together(("feed.xml", "systems/", "families/"), partial(feed_files, catalogue, base_url)),
        Together(("diagnose/", "engine/diagnose/"), partial(diagnosis_files, catalogue)),
        *sorted(pages, key=lambda part: "failures/" in part.paths),
        OneByOne((api.ENTRIES,), partial(_documents, catalogue, base_url)),
        Together(
            ("llms.txt", "sitemap.xml", "robots.txt", "opensearch.xml"),
            lambda: robot_files(catalogue, all_pages(catalogue), base_url),
        ),
        OneByOne(("",), partial(_static, root / "static")),
        Together(("css/",), partial(stylesheets, root / "static" / "css")),
    ]


def _renderings(section: Section, renderer: Renderer) -> Mapping[str, Maker]:
    def rendered(page: Page) -> list[File]:
        return [replace(renderer.render(page), source=f"the {page.kind} page '{page.title}'")]

    return {page.path: partial(rendered, page) for page in section.make()}


def _documents(catalogue: Catalogue, base_url: str) -> Mapping[str, Maker]:
    """An entry as JSON and as Markdown."""

    def document(loaded: LoadedEntry) -> list[File]:
        return [api.entry_document(loaded, base_url)]

    def text(loaded: LoadedEntry) -> list[File]:
        return [api.entry_text(loaded, catalogue, base_url)]

    return {
        f"{api.ENTRIES}{loaded.slug}{suffix}": partial(make, loaded)
        for loaded in catalogue.content.entries
        for suffix, make in ((".json", document), (".md", text))
    }


def _static(folder: Path) -> Mapping[str, Maker]:
    """What browsers get as it is: everything but the parts of the stylesheet."""
    return {file: partial(_read, folder, file) for file in _static_paths(folder)}


def _static_paths(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and relative.parts[0] != "css" and not path.name.startswith("."):
            yield relative.as_posix()


def _read(folder: Path, path: str) -> list[File]:
    return [File(path, (folder / path).read_bytes(), f"static/{path}")]
