"""SVG made at build time from data: what each GPU holds of the state that ZeRO partitions.

Shapes carry classes, not colors, so that the stylesheet decides on light, dark and print. A page
draws each layout once, as a symbol (``symbols``), and refers to it from every ``glyph``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from markupsafe import Markup, escape

from .model import ZeroCells

Layout = Literal["none", "full", "sliced", "gathered"]
State = Literal["parameters", "gradients", "optimizer_state"]
Size = Literal["one", "four"]

STATES: tuple[tuple[State, str], ...] = (
    ("parameters", "Parameters"),
    ("gradients", "Gradients"),
    ("optimizer_state", "Optimizer state"),
)
STAGES = (("zero1", "ZeRO-1"), ("zero2", "ZeRO-2"), ("zero3", "ZeRO-3"))

WORDS: Mapping[Layout, str] = MappingProxyType(
    {
        "none": "not there",
        "full": "whole on every GPU",
        "sliced": "a slice on each GPU",
        "gathered": "a slice on each GPU, whole while in use",
    }
)

Row = tuple[Layout, Layout, Layout]
"""The layout under ZeRO-1, ZeRO-2 and ZeRO-3."""

_NONE: Row = ("none", "none", "none")
_SLICED: Row = ("sliced", "sliced", "sliced")
_WEIGHTS: Row = ("full", "full", "sliced")
_WEIGHTS_IN_USE: Row = ("full", "full", "gathered")

LAYOUTS: Mapping[str, tuple[Row, Row, Row]] = MappingProxyType(
    {
        "launch": (_NONE, _NONE, _NONE),
        "configuration": (_NONE, _NONE, _NONE),
        "op-build": (_WEIGHTS, _NONE, _NONE),
        "construction": (_WEIGHTS, _NONE, _NONE),
        "initialization": (_WEIGHTS, ("none", "none", "sliced"), _SLICED),
        "forward": (_WEIGHTS_IN_USE, ("full", "sliced", "sliced"), _SLICED),
        "backward": (_WEIGHTS_IN_USE, ("full", "gathered", "gathered"), _SLICED),
        "step": (_WEIGHTS, _SLICED, _SLICED),
        "checkpoint-save": (_WEIGHTS, _NONE, _SLICED),
        "checkpoint-load": (_WEIGHTS, _NONE, _SLICED),
        "pipeline-shutdown": (_WEIGHTS_IN_USE, ("full", "none", "none"), _SLICED),
    }
)
"""Parameters, gradients and optimizer state by phase. The hub's text says the same in words, with sources."""


def layout(phase: str, state: State, stage: str) -> Layout:
    """How ``state`` lies on the GPUs in ``phase`` under ``stage`` (``zero1`` to ``zero3``)."""
    rows = LAYOUTS.get(phase, (_NONE, _NONE, _NONE))
    row = rows[[name for name, _ in STATES].index(state)]
    return row[[name for name, _ in STAGES].index(stage)]


@dataclass(frozen=True)
class Run:
    """Neighbouring ZeRO stages of which the same is told: one cell of a table."""

    stages: str
    span: int
    layout: Layout
    text: str


def runs(phase: str, state: State, cells: ZeroCells) -> list[Run]:
    """The cells of one kind of state, with equal neighbours joined."""
    found: list[Run] = []
    for stage, name in STAGES:
        kind, text = layout(phase, state, stage), getattr(cells, stage)
        if found and (found[-1].layout, found[-1].text) == (kind, text):
            last = found.pop()
            found.append(Run(f"{last.stages}, {name[-1]}", last.span + 1, kind, text))
        else:
            found.append(Run(name, 1, kind, text))
    return found


@cache
def glyph(kind: Layout, size: Size, said: str = "") -> Markup:
    """A reference to a symbol: one GPU's box, or four. ``said`` is read before the layout's words."""
    width, height = _extent(size)
    words = f"{said}: {WORDS[kind]}" if said else WORDS[kind]
    return Markup(
        '<svg class="glyph" role="img" width="{}" height="{}"><title>{}</title><use href="#{}-{}"/></svg>'
    ).format(width, height, words, size, kind)


@cache
def symbols(size: Size) -> Markup:
    """The symbols that a page's glyphs of this size refer to; takes no room."""
    drawn = Markup("").join(_symbol(kind, size) for kind in WORDS)
    return Markup('<svg class="symbols" width="0" height="0" aria-hidden="true">{}</svg>').format(drawn)


@dataclass(frozen=True)
class _Box:
    x: int
    width: int
    height: int


_BOXES: Mapping[Size, tuple[_Box, ...]] = MappingProxyType(
    {"one": (_Box(0, 16, 12),), "four": tuple(_Box(24 * n, 20, 14) for n in range(4))}
)


def _extent(size: Size) -> tuple[int, int]:
    last = _BOXES[size][-1]
    return last.x + last.width, last.height


def _symbol(kind: Layout, size: Size) -> Markup:
    width, height = _extent(size)
    shapes = Markup("").join(shape for n, box in enumerate(_BOXES[size]) for shape in _shapes(kind, n, box))
    return Markup('<symbol id="{}-{}" viewBox="0 0 {} {}">{}</symbol>').format(
        size, kind, width, height, shapes
    )


def _shapes(kind: Layout, n: int, box: _Box) -> Iterator[Markup]:
    """The n-th GPU's box: its frame, what it borrows, and what it owns."""
    if kind == "none":
        yield _rect("absent", box.x + 0.5, 0.5, box.width - 1, box.height - 1)
        return
    if kind == "gathered":
        yield _rect("borrowed", box.x, 0, box.width, box.height)
    if kind == "full":
        yield _rect("owned", box.x, 0, box.width, box.height)
    else:
        slice_width = box.width / 4
        yield _rect("owned", box.x + n * slice_width, 0, slice_width, box.height)
    yield _rect("frame", box.x + 0.5, 0.5, box.width - 1, box.height - 1)


def _rect(name: str, x: float, y: float, width: float, height: float) -> Markup:
    values = (escape(f"{value:g}") for value in (x, y, width, height))
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(name, *values)
