"""What is shown at this moment: the content as it was read last, its pages, and what is wrong with it.

Nothing that was rendered is kept when something has changed. An entry's own findings are known as soon as it is
asked for; what takes a look at everything is found later (``look_through``, ``look_through_logs``), and until then what
was last found of the rest stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import jinja2

from .. import search_index
from ..catalogue import Catalogue
from ..checks import CHECKS, examine_logs, examined, of_entry
from ..content import Content
from ..finding import Finding
from ..write import File, SiteError, arrange
from .making import Making
from .reading import Reading

SHOWN = "shown as it is"
WITHOUT = "shown without the entries that have errors"
LAST = "this is the last good page"
NONE = "there is no good page yet"


@dataclass(frozen=True)
class Problem:
    """What is wrong, in a line, and the address of the place that it is at."""

    text: str
    link: str = ""


@dataclass(frozen=True)
class State:
    """Which version of the site is shown, and what is wrong with it."""

    version: int
    """It rises when a page may differ."""
    problems: tuple[Problem, ...] = ()
    words: str = SHOWN
    """What the pages are under their problems."""


@dataclass(frozen=True)
class Answer:
    """A file as the site has it, None where it has none, and the state under which it is shown."""

    data: bytes | None
    state: State
    is_folder: bool = False
    """Whether there is a page below this path."""


@dataclass(frozen=True)
class Index:
    """The files of the full-text index, and a digest of what they are made of; or why there is none."""

    digest: str
    files: Mapping[str, bytes] | None = None
    failed: str = ""


@dataclass
class _Found:
    """What checks found when they looked at everything, and at which version they began."""

    findings: list[Finding] = field(default_factory=list)
    version: int = -1


class Workshop:
    """The site of a content folder, kept up to date by ``look``."""

    def __init__(self, content: Path, root: Path, version: int = 0, count: int = 1) -> None:
        self._reading = Reading(content, count)
        self._root = root
        self._version = version
        self._found, self._found_logs = _Found(), _Found()
        self._changed: dict[str, int] = {}
        self._own: dict[str, list[Finding]] = {}
        self._untold: set[str] = set()
        self._unmade: tuple[Problem, ...] = ()
        self._last: dict[str, bytes] = {}
        self._asked = ""
        self._state: State | None = None
        self._begin()

    @property
    def content(self) -> Content:
        """As it was read last."""
        return self._reading.content

    def look(self, paths: Iterable[Path]) -> State:
        """Read again what has changed: files and folders of the content, of templates/ and static/.

        The state doesn't yet tell what is wrong with the entries that did, see ``tell``.
        """
        paths = list(paths)
        ours = [path for path in paths if not self._is_beside(path)]
        names, rest = self._reading.look(ours)
        self._state = None
        if names or rest or len(ours) < len(paths):
            self._version += 1
            self._begin()
            self._change(names)
        return self.state

    def _change(self, names: Iterable[str]) -> None:
        """Forget what was found of these entries."""
        for name in names:
            self._changed[name] = self._version
            self._untold.add(name)

    def tell(self) -> State:
        """The state, once it tells what is wrong with each changed entry by itself."""
        for name in self._untold:
            loaded = self._catalogue.by_slug.get(name)
            self._own[name] = of_entry(loaded, self._catalogue) if loaded is not None else []
            self._state = None
        self._untold.clear()
        return self.state

    def _is_beside(self, path: Path) -> bool:
        """Whether it belongs to the templates or to what browsers get as it is."""
        folders = (self._root / "templates", self._root / "static")
        return any(path.is_relative_to(f) or path.is_relative_to(f.resolve()) for f in folders)

    def missed(self) -> list[Path]:
        """What to ``look`` at because nobody may have told of it."""
        return self._reading.missed()

    def _begin(self) -> None:
        """A new site, of the entries that a list can show: those whose groups there are."""
        content = self.content
        self._catalogue = catalogue = Catalogue(content)
        known = {
            *(("phase", each.id) for each in content.phases),
            *(("family", each.id) for each in content.families),
            *(("system", each.id) for each in content.systems),
            *(("tag", each.id) for each in content.tags),
        }
        if not known.issuperset(catalogue.groups):
            shown = tuple(loaded for loaded in content.entries if known.issuperset(loaded.groups))
            catalogue = Catalogue(replace(content, entries=shown))
            self._change({loaded.slug for loaded in content.entries} - {loaded.slug for loaded in shown})
        self._without = catalogue is not self._catalogue or bool(content.broken)
        self._making = Making(catalogue, self._root)
        self._lesser: Making | None = None
        self._prepared: dict[str, bytes] = {}

    # --- pages

    def answer(self, path: str) -> Answer:
        """The file at this path, or the last good page where it can't be made; with what an entry's findings are."""
        self.tell()
        name = f"{path}index.html" if path == "" or path.endswith("/") else path
        data, state = self._made(name)
        if data is None:
            data, state = self._last_good(name, state)
        elif name.endswith(".html"):
            self._last[name], self._asked = data, name
        return Answer(data, state, data is None and self._making.has(f"{path}/index.html"))

    def prepare(self) -> None:
        """Make the page that was asked for last: its browser comes in a moment. It is given once."""
        # Who asks is told what is wrong.
        with suppress(Exception):
            if self._asked and (data := self._making.file(self._asked)) is not None:
                self._prepared[self._asked] = data

    def _made(self, name: str) -> tuple[bytes | None, State]:
        if name in self._prepared:
            return self._prepared.pop(name), self.state
        try:
            return self._making.file(name), self.state
        except Exception as error:
            # A template that is being edited, or an entry with errors, may raise anything; the server outlives it.
            told = replace(self.state, problems=(_problem(error), *self.state.problems), words=NONE)
        try:
            data = self._of_right_ones().file(name)
        except Exception:
            return None, told
        return data, replace(self.state, words=WITHOUT)

    def _of_right_ones(self) -> Making:
        """The site without the entries that have errors."""
        if self._lesser is None:
            right = tuple(
                loaded
                for loaded in self._making.catalogue.content.entries
                if not any(f.severity == "error" for check in CHECKS for f in check(loaded, self._catalogue))
            )
            self._lesser = Making(Catalogue(replace(self.content, entries=right)), self._root)
        return self._lesser

    def _last_good(self, name: str, state: State) -> tuple[bytes | None, State]:
        """The last page that could be made, where there should be one."""
        slug = name.removeprefix("failures/").removesuffix("/index.html")
        should_be = state.words == NONE or (slug in self._reading.names and name.startswith("failures/"))
        if should_be and name in self._last:
            return self._last[name], replace(state, words=LAST)
        return None, state

    def awaits(self, path: str) -> int | None:
        """The number of what takes long to make, and has to be made first; see ``together``."""
        try:
            return self._making.awaits(path)
        except Exception:
            return None

    def together(self, number: int) -> Mapping[str, bytes] | None:
        """What takes long to make; None where it can't be made."""
        try:
            return self._making.together(number)
        except Exception:
            return None

    def keep(self, version: int, number: int, made: Mapping[str, bytes] | None) -> None:
        """Take what ``together`` made of this version elsewhere."""
        if version == self._version and made is not None:
            self._making.keep(number, made)

    def everything(self) -> list[File]:
        """All files. May raise anything."""
        return self._making.everything()

    def index(self, former: str) -> Index:
        """The full-text index; nothing but the digest where that is the ``former`` one."""
        try:
            documents = search_index.documents(self._making.catalogue)
            if documents.digest == former:
                return Index(former)
            return Index(documents.digest, search_index.index_files(documents))
        except (OSError, SiteError) as error:
            return Index("", failed=str(error))

    # --- findings

    @property
    def state(self) -> State:
        """What is shown now."""
        if self._state is None:
            problems = tuple(self._shown(finding) for finding in sorted(self._findings()))
            words = WITHOUT if self._without else SHOWN
            self._state = State(self._version, (*self._unmade, *problems), words)
        return self._state

    def _findings(self) -> Iterator[Finding]:
        """What doesn't load, what an entry that changed has by itself, and of the rest what was found last."""
        yield from self._reading.findings
        for name, own in self._own.items():
            if self._changed[name] > self._found.version and name not in self._untold:
                yield from own
        for found in (self._found, self._found_logs):
            since = {name for name, version in self._changed.items() if version > found.version}
            yield from (finding for finding in found.findings if _entry_of(finding) not in since)

    def look_through(self) -> tuple[int, list[Finding]]:
        """What every check finds that looks at more than a log, of this version."""
        loads = self._reading.findings
        found = Counter(examined(self.content, loads)) - Counter(loads)
        return self._version, sorted(found.elements())

    def look_through_logs(self) -> tuple[int, list[Finding]]:
        """What checks find in logs, of this version."""
        return self._version, examine_logs(self.content)

    def look_through_pages(self) -> tuple[tuple[Problem, ...]]:
        """What keeps a page from being made, that nobody has asked for yet."""
        try:
            arrange(self.everything())
        except Exception as error:
            return ((_problem(error),),)
        return ((),)

    def found(self, version: int, findings: list[Finding]) -> State:
        """Take what ``look_through`` found."""
        self._found = _Found(findings, version)
        return self._anew()

    def found_logs(self, version: int, findings: list[Finding]) -> State:
        """Take what ``look_through_logs`` found."""
        self._found_logs = _Found(findings, version)
        return self._anew()

    def found_pages(self, problems: tuple[Problem, ...]) -> State:
        """Take what ``look_through_pages`` found."""
        self._unmade = problems
        return self._anew()

    def _anew(self) -> State:
        self._state = None
        return self.state

    def _shown(self, finding: Finding) -> Problem:
        """A finding with where this server shows its place; no link where there is no file."""
        there = (self._reading.root.resolve().parent / finding.path).is_file()
        link = f"/_serve/source/{quote(finding.path)}?line={finding.line}#line-{finding.line}"
        return Problem(str(finding), link if there else "")


def _entry_of(finding: Finding) -> str:
    """The folder of the entry that a finding is in; nothing for others."""
    parts = finding.path.split("/")
    return parts[2] if len(parts) > 2 and parts[1] == "failures" else ""


def _problem(error: Exception) -> Problem:
    if not isinstance(error, jinja2.TemplateError):
        return Problem(f"{type(error).__name__}: {error}")
    place = f"{error.filename}:{error.lineno}: " if isinstance(error, jinja2.TemplateSyntaxError) else ""
    return Problem(f"{place}template: {error.message}")
