"""Page → HTML file, and the stylesheet: the only module that knows the templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, Template
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from markupsafe import Markup, escape

from . import diagrams, figures, views, words
from .catalogue import Catalogue
from .highlight import highlight, highlight_pair
from .markdown import MARKDOWN
from .model import Entry, Family
from .outputs.linked_data import linked_data
from .pages import Page, main_pages
from .signature import Hole, parse
from .write import File

ROOT = Path(__file__).parents[1]
STYLES = ("tokens", "base", "layout", "parts", "search", "code", "entry", "hub", "print")
"""The files of static/css that every page needs, in the order of the cascade."""
STYLES_OF_PAGES = ("compare", "diagnose", "verify")
"""Those that one page alone links."""

_HEADING = re.compile(
    r'<section data-views="(?P<views>[^"]*)"[^>]*>\s*<h(?P<level>[23]) id="(?P<id>[^"]+)"[^>]*>(?P<text>.*?)</h',
    re.S,
)


class Renderer:
    """Renders pages of one catalogue for one address.

    ``base_url`` is the absolute address that the site will have, or empty where it isn't known: links are
    relative, only canonical links and 404.html need it. ``repository`` is where the content is edited, ``root``
    where the templates are.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        base_url: str = "",
        repository: str = "",
        root: Path = ROOT,
    ) -> None:
        self._base_url = base_url.rstrip("/") + "/" if base_url else ""
        loader = FileSystemLoader(root / "templates")
        self._environment = _Environment(
            loader=loader,
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            bytecode_cache=_compiled(),
        )
        self._environment.filters.update(
            blocks=MARKDOWN.blocks, inline=MARKDOWN.inline, said=words.said, versions=words.version_range
        )
        self._catalogue = catalogue
        self._environment.globals.update(
            catalogue=catalogue,
            contents=contents,
            diagrams=diagrams,
            figures=figures,
            repository=repository.rstrip("/"),
            facets=views.facets,
            family_symbols=family_symbols(catalogue.content.families),
            highlight=highlight,
            highlight_pair=highlight_pair,
            in_hub=views.in_hub,
            known_paths=main_pages(catalogue),
            phase_number={phase.id: n for n, phase in enumerate(catalogue.content.phases, start=1)},
            pieces=parse,
            is_hole=lambda piece: isinstance(piece, Hole),
            best_grade=best_grade,
            words=words,
        )

    def render(self, page: Page) -> File:
        """The page as the file at ``page.path``."""
        template = self._environment.get_template(page.template)
        text = template.render(
            page=page,
            root=self._root(page),
            canonical=self._canonical(page),
            linked_data=linked_data(page, self._catalogue, self._base_url),
            has_address=bool(self._base_url),
            **page.data,
        )
        return File(page.path, text.encode("utf-8"))

    def _root(self, page: Page) -> str:
        if page.kind == "404":
            # A host shows this page at any depth, so a relative link would not do.
            return urlsplit(self._base_url).path or "/"
        return "../" * page.path.count("/") or "./"

    def _canonical(self, page: Page) -> str:
        path = page.data["target"] if page.kind == "redirect" else page.url
        return self._base_url and self._base_url + path


class _Context(Context):
    """Calls what a template calls as it is: nothing here wants the context besides."""

    def call(
        self,
        obj: Callable[..., Any],
        *args: Any,
        _loop_vars: Any = None,
        _block_vars: Any = None,
        **kwargs: Any,
    ) -> Any:
        return obj(*args, **kwargs)


class _Template(Template):
    """A template that escapes as others do, but asks first whether there is anything to escape.

    Most of what a page outputs is markup already or holds nothing special: a tenth of its time went into that.
    """

    @classmethod
    def from_code(
        cls,
        environment: Environment,
        code: CodeType,
        globals: MutableMapping[str, Any],
        uptodate: Callable[[], bool] | None = None,
    ) -> Template:
        template = super().from_code(environment, code, globals, uptodate)
        template.root_render_func.__globals__["escape"] = escaped
        return template


class _Environment(Environment):
    """Takes ``x.y`` for an attribute alone: one that isn't there ends the build, as any undefined name does."""

    context_class = _Context
    template_class = _Template
    getattr = staticmethod(getattr)  # type: ignore[assignment]

    def make_globals(self, d: MutableMapping[str, Any] | None) -> dict[str, Any]:
        """All names in one: nothing is added later, and a look through two takes its time for each page."""
        return {**self.globals, **(d or {})}


def escaped(value: Any) -> str:
    """What ``markupsafe.escape`` returns, where it is shown; a text without special characters as it is."""
    kind = type(value)
    if kind is Markup or (kind is str and _SPECIAL.search(value) is None):
        return value  # type: ignore[no-any-return]
    return escape(value)


_SPECIAL = re.compile("[&<>'\"]")


class Compiled(FileSystemBytecodeCache):
    """Compiled templates, kept by what they are made from; on a full disk they are compiled again."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled() -> Compiled | None:
    """The system's place for them; None where it has no safe one."""
    try:
        return Compiled()
    except (OSError, RuntimeError):
        return None


def stylesheets(folder: Path = ROOT / "static" / "css") -> list[File]:
    """The one stylesheet that all pages link, the parts in order, and those of single pages."""
    of_page = [_stylesheet(name, [folder / f"{name}.css"]) for name in STYLES_OF_PAGES]
    return [_stylesheet("site", [folder / f"{name}.css" for name in STYLES]), *of_page]


def _stylesheet(name: str, paths: Iterable[Path]) -> File:
    """The files as one, without comments and indentation."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    lines = (line.strip() for line in bare.splitlines())
    return File(f"css/{name}.css", ("\n".join(line for line in lines if line) + "\n").encode("utf-8"))


@dataclass(frozen=True)
class Heading:
    """A line of a table of contents: under which views it stands, where it leads, what is below it."""

    views: str
    id: str
    text: Markup
    below: list[Heading]


def contents(article: str) -> list[Heading]:
    """The table of contents of rendered HTML: its sections' headings, those of level 3 under those of level 2."""
    top: list[Heading] = []
    for match in _HEADING.finditer(article):
        heading = Heading(match["views"], match["id"], Markup(match["text"].strip()), [])
        (top if match["level"] == "2" or not top else top[-1].below).append(heading)
    return top


def family_symbols(families: Iterable[Family]) -> Mapping[str, str]:
    """A sign of two letters for each family, as on a map: its first letter and the first free one after it."""
    signs: dict[str, str] = {}
    for family in families:
        letters = [letter for letter in family.name if letter.isalpha()]
        free = (letters[0].upper() + letter.lower() for letter in letters[1:])
        signs[family.id] = next((sign for sign in free if sign not in signs.values()), letters[0].upper())
    return signs


def best_grade(entry: Entry) -> str:
    """The strongest grade among the entry's causes."""
    return min((cause.grade for cause in entry.causes), key=views.GRADES.index)
