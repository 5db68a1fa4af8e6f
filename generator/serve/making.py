"""The files of one state of the content, made when they are asked for and not before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from ..catalogue import Catalogue
from ..parts import OneByOne, Part, Together, site_parts
from ..write import File, Maker


class Making:
    """The site of a catalogue. What makes a file may raise anything: a template that is being edited, for one."""

    def __init__(self, catalogue: Catalogue, root: Path) -> None:
        self.catalogue = catalogue
        self._root = root
        self._makers: dict[int, Mapping[str, Maker]] = {}
        self._made: dict[int, Mapping[str, bytes]] = {}

    @cached_property
    def _parts(self) -> list[Part]:
        """Those of single files first, since what is made together takes longer."""
        parts = site_parts(self.catalogue, self._root)
        return sorted(parts, key=lambda part: isinstance(part, Together))

    def everything(self) -> list[File]:
        """Every file of the site."""
        files: list[File] = []
        for number, part in enumerate(self._parts):
            makers = self._of(number, part).values() if isinstance(part, OneByOne) else [part.make]
            files += (file for make in makers for file in make())
        return files

    def has(self, path: str) -> bool:
        """Whether a file that is made by itself has this path."""
        return any(
            isinstance(part, OneByOne) and path in self._of(number, part)
            for number, part in self._claiming(path)
        )

    def file(self, path: str) -> bytes | None:
        """What the file at this path holds; None where there is none."""
        for number, part in self._claiming(path):
            if isinstance(part, Together):
                made = self._made_together(number, part)
                if path in made:
                    return made[path]
            elif (make := self._of(number, part).get(path)) is not None:
                return next(file.data for file in make())
        return None

    def awaits(self, path: str) -> int | None:
        """The number of what has to be made together first, so that the file is there; see ``together``."""
        for number, part in self._claiming(path):
            if isinstance(part, Together) and number not in self._made:
                return number
            if isinstance(part, OneByOne) and path in self._of(number, part):
                return None
        return None

    def together(self, number: int) -> Mapping[str, bytes]:
        """The files of such a part."""
        part = self._parts[number]
        return self._made_together(number, part) if isinstance(part, Together) else {}

    def keep(self, number: int, made: Mapping[str, bytes]) -> None:
        """Take what was made of such a part elsewhere."""
        self._made[number] = made

    def _claiming(self, path: str) -> Iterator[tuple[int, Part]]:
        """The parts that may have a file of this path: by its own name, else by the nearest of its folders."""
        for name in (path, *_folders(path)):
            claiming = [(number, part) for number, part in enumerate(self._parts) if name in part.paths]
            yield from claiming
            if claiming and name == path:
                return

    def _of(self, number: int, part: OneByOne) -> Mapping[str, Maker]:
        if number not in self._makers:
            self._makers[number] = part.makers()
        return self._makers[number]

    def _made_together(self, number: int, part: Together) -> Mapping[str, bytes]:
        if number not in self._made:
            self._made[number] = {file.path: file.data for file in part.make()}
        return self._made[number]


def _folders(path: str) -> Iterator[str]:
    """The folders that hold a path, the nearest first; the site's root, which has no name, last."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield f"{path}/"
    yield ""
