"""SVG made at build time from an entry's own data: who waits for whom, and what fills a GPU's memory.

Shapes carry classes, not colors, so that the stylesheet decides on light, dark and print. Each drawing is
said in words too (``in_words``): for who doesn't see it, and for Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup, escape

from .model import Bar, Figure, Lane, Span

WIDTH = 400
"""Of a drawing, in the units of its texts, which are 11 high."""
NAMES, NAME = 66, 11
"""Of a lane's name: its width, and the letters that it has at most."""
ROW, SPAN = 27, 19
LETTER = 5.9
"""What a letter takes at most on average."""
BAR_ROW, BAR = 36, 15
DOES = {"runs": "runs", "waits": "waits", "reports": "reports", "fails": "fails", "gone": "is gone"}
HOLDS = {
    "parameters": "parameters",
    "gradients": "gradients",
    "optimizer-state": "optimizer state",
    "activations": "activations",
    "buffers": "buffers",
    "other": "other",
}


def drawn(figure: Figure) -> Markup:
    """The figure's drawings, each an SVG element that says its caption and its words."""
    drawings = []
    if figure.lanes:
        drawings.append(_svg(len(figure.lanes) * ROW, figure, _lanes(figure.lanes)))
    if figure.bars:
        height = len(figure.bars) * BAR_ROW + (14 if figure.limit else 0)
        drawings.append(_svg(height, figure, _bars(figure)))
    return Markup("").join(drawings)


def kinds(figure: Figure) -> list[tuple[str, str]]:
    """What the legend explains: the class of a shape, and its word."""
    spans = {span.does for lane in figure.lanes for span in lane.spans}
    parts = {part.what for bar in figure.bars for part in bar.parts}
    return [
        *((f"span-{does}", word) for does, word in DOES.items() if does in spans),
        *((f"holds-{what}", word) for what, word in HOLDS.items() if what in parts),
    ]


def swatch(kind: str) -> Markup:
    """A sample of a shape, for the legend."""
    return Markup('<svg class="swatch" width="22" height="12" aria-hidden="true">{}</svg>').format(
        _rect(kind, 0.5, 0.5, 21, 11)
    )


def in_words(figure: Figure) -> list[str]:
    """A sentence for each lane and each bar."""
    said = [f"{lane.who}: {', then '.join(map(_span_in_words, lane.spans))}." for lane in figure.lanes]
    for bar in figure.bars:
        parts = ", ".join(f"{HOLDS[part.what]} {part.gib:g} GiB" for part in bar.parts)
        said.append(f"{bar.name}: {_total(bar):g} GiB ({parts}).")
    if figure.limit:
        said.append(f"The GPU has {figure.limit:g} GiB.")
    return said


def room(span: Span, lanes: tuple[Lane, ...]) -> int:
    """How many letters the text of a span may have."""
    return int((_width(span, lanes) - 4) / LETTER)


def _span_in_words(span: Span) -> str:
    return f"{DOES[span.does]} ({span.text})" if span.text else DOES[span.does]


def _width(span: Span, lanes: tuple[Lane, ...]) -> float:
    return (span.end - span.start) * _step(lanes)


def _step(lanes: tuple[Lane, ...]) -> float:
    return (WIDTH - NAMES) / max(span.end for lane in lanes for span in lane.spans)


def _svg(height: int, figure: Figure, shapes: Iterator[Markup]) -> Markup:
    said = " ".join(in_words(figure))
    return Markup('<svg class="figure" role="img" viewBox="0 0 {} {}"><title>{}</title>{}</svg>').format(
        WIDTH, height, said, Markup("").join(shapes)
    )


def _lanes(lanes: tuple[Lane, ...]) -> Iterator[Markup]:
    step = _step(lanes)
    for row, lane in enumerate(lanes):
        middle = row * ROW + ROW / 2
        yield _text("lane-name", 0, middle + 4, lane.who)
        yield Markup('<path class="lane" d="M{} {:g}H{}"/>').format(NAMES, middle, WIDTH)
        for span in lane.spans:
            x, width = NAMES + span.start * step, _width(span, lanes)
            if span.does != "gone":
                yield _rect(f"span-{span.does}", x + 0.5, middle - SPAN / 2, width - 1, SPAN)
            if span.text:
                yield _text(f"text-{span.does}", x + width / 2, middle + 4, span.text)


def _bars(figure: Figure) -> Iterator[Markup]:
    scale = WIDTH / max(*map(_total, figure.bars), figure.limit or 0.0)
    for row, bar in enumerate(figure.bars):
        top = row * BAR_ROW
        yield _text("bar-name", 0, top + 12, bar.name)
        yield _text("bar-total", WIDTH, top + 12, f"{_total(bar):g} GiB")
        x = 0.0
        for part in bar.parts:
            width = part.gib * scale
            yield _rect(f"holds-{part.what}", x, top + 17, width, BAR)
            if width > 26:
                yield _text("part-size", x + width / 2, top + 28.5, f"{part.gib:g}")
            x += width
    if figure.limit:
        x, bottom = figure.limit * scale, len(figure.bars) * BAR_ROW
        yield Markup('<path class="limit" d="M{:g} 14V{}"/>').format(min(x, WIDTH - 1), bottom)
        yield _text("limit-name", min(x, WIDTH), bottom + 11, f"the GPU has {figure.limit:g} GiB")


def _total(bar: Bar) -> float:
    return round(sum(part.gib for part in bar.parts), 1)


def _text(name: str, x: float, y: float, text: str) -> Markup:
    return Markup('<text class="{}" x="{:g}" y="{:g}">{}</text>').format(name, x, y, text)


def _rect(name: str, x: float, y: float, width: float, height: float) -> Markup:
    values = (escape(f"{value:.4g}") for value in (x, y, width, height))
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(name, *values)
