"""``Catalogue`` → the parts of the site: which paths its files may have, and what makes them.

A build makes all; ``serve`` finds the part of the path that a browser asks for, and makes no more than that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, ItemsView, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from .bundle import PATH, SCHEMA_PATH, bundle_files
from .catalogue import Catalogue
from .content import LoadedEntry
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


def site_parts(catalogue: Catalogue, root: Path, base_url: str = "", repository: str = "") -> list[Part]:
    """Everything of the site but the full-text index, what takes longest first."""
    renderer = Renderer(catalogue, base_url, repository, root)
    pages = [OneByOne(each.paths, partial(_Renderings, each, renderer)) for each in sections(catalogue)]
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
        OneByOne(("css/",), partial(_styles, root / "static" / "css")),
        OneByOne(("",), partial(_Static, root / "static")),
    ]


_OF_ENTRY = re.compile(rf"failures/([^/]+)/index\.html|{re.escape(api.ENTRIES)}([^/]+)\.(?:json|md)")


def entry_of(path: str) -> str | None:
    """The slug, or a former one, of the entry whose file this is; None for others."""
    match = _OF_ENTRY.fullmatch(path)
    return match and (match[1] or match[2])


class _Renderings(Mapping[str, Maker]):
    """The makers of a section's pages, by their paths."""

    def __init__(self, section: Section, renderer: Renderer) -> None:
        self._section = section
        self._renderer = renderer

    @cached_property
    def _pages(self) -> dict[str, Page]:
        return {page.path: page for page in self._section.make()}

    def __getitem__(self, path: str) -> Maker:
        find = self._section.find or self._pages.get
        if (page := find(path)) is None:
            raise KeyError(path)
        return partial(self._rendered, page)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pages)

    def __len__(self) -> int:
        return len(self._pages)

    def items(self) -> ItemsView[str, Maker]:
        return {path: partial(self._rendered, page) for path, page in self._pages.items()}.items()

    def _rendered(self, page: Page) -> list[File]:
        # Of a copy: what a page gathers is not held longer than it is made.
        return [replace(self._renderer.render(replace(page)), source=f"the {page.kind} page '{page.title}'")]


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


def _styles(folder: Path) -> Mapping[str, Maker]:
    return {file.path: partial(list, [file]) for file in stylesheets(folder)}


class _Static(Mapping[str, Maker]):
    """What browsers get as it is: everything in the folder but the parts of the stylesheet."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, path: str) -> Maker:
        parts = path.split("/")
        inside = "\\" not in path and "\0" not in path and not {"", ".", ".."}.intersection(parts)
        if not inside or not self._is_given(self._folder / path, parts[0]):
            raise KeyError(path)
        return partial(self._read, path)

    def __iter__(self) -> Iterator[str]:
        for path in sorted(self._folder.rglob("*")):
            relative = path.relative_to(self._folder)
            if self._is_given(path, relative.parts[0]):
                yield relative.as_posix()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _is_given(self, path: Path, top: str) -> bool:
        return top != "css" and not path.name.startswith(".") and path.is_file()

    def _read(self, path: str) -> list[File]:
        return [File(path, (self._folder / path).read_bytes(), f"static/{path}")]
