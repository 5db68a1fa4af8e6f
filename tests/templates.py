"""Random templates and lines that meet them half way, for tests by properties."""

from __future__ import annotations

from hypothesis import strategies as st

from generator.signature import Hole, Literal, TemplateError, compile_template, parse

LITERALS = [
    " ", "a", "ab", " at ", ": ", "error ", "in file ", ".", "., ", "x1", "1 y", "rank", "=", "'", "(", ")", "[", "]",
    " failed with code ", "e", "0x", "-", " . ", "ééa", "😀", "{{", "}}",
]  # fmt: skip
KINDS = ["int", "num", "hex", "size", "word", "path", "quoted", "any"]
FILLED = {
    "int": ["0", "-20", "2000"],
    "num": ["7.31", "-2", "1e5", "3."],
    "hex": ["0xdead", "ff", "9"],
    "size": ["7.31 GiB", "4B", "12 KB"],
    "word": ["a.b", "x", "c-d:1"],
    "path": ["", "/a/b.c", "abab"],
    "quoted": ["'a'", '"b c"', "``"],
    "any": ["", "a", "1", " ", "a b", "...", "'"],
}
NOISE = [
    "", "0", "12", "7.31", ".", "5e3", "0xdead", "beef", "a", "err", " ", "  ", "\t", "'", '"', "`", "x1", "1 y", "GiB",
    "B", "-", "/", ":", "é", "😀", "=", "(", ")", "[", "]", "error ", " at ", ".5", "$", "\\", "\x0b", "\u2028", "\r",
]  # fmt: skip

_pieces = st.one_of(
    st.sampled_from(LITERALS),
    st.sampled_from(KINDS).map(lambda kind: f"{{{kind}}}"),
    st.tuples(st.sampled_from(KINDS), st.sampled_from("pqrst")).map(lambda pair: f"{{{pair[0]}:{pair[1]}}}"),
)
templates = st.lists(_pieces, min_size=1, max_size=9).map("".join)
"""Of any kind; half of them are refused."""


def _is_sound(template: str) -> bool:
    try:
        compile_template(template, 1)
    except TemplateError:
        return False
    return True


_hole_and_text = st.tuples(st.sampled_from(KINDS), st.sampled_from(["", ":n"]), st.sampled_from(LITERALS))
sound_templates = (
    st.tuples(st.sampled_from(["", *LITERALS]), st.lists(_hole_and_text, min_size=1, max_size=5))
    .map(
        lambda parts: (
            parts[0]
            + "".join(
                f"{{{kind}{name}{i if name else ''}}}{text}" for i, (kind, name, text) in enumerate(parts[1])
            )
        )
    )
    .filter(_is_sound)
)
"""Such as compile."""

noise = st.lists(st.sampled_from(NOISE), max_size=4).map("".join)


@st.composite
def lines_for(draw: st.DrawFn, template: str) -> str:
    """A line in which the template's text stands filled in, more or less, among noise."""
    text = "".join(
        draw(st.sampled_from(FILLED[piece.kind])) if isinstance(piece, Hole) else piece.text
        for piece in parse(template)
    )
    cut = draw(st.one_of(st.just(len(text)), st.integers(0, len(text))))
    return draw(noise) + text[:cut] + draw(noise)


def adversarial(template: str) -> list[str]:
    """Short texts that, repeated, come near to a match again and again."""
    literals = [piece.text for piece in parse(template) if isinstance(piece, Literal)]
    joined, first, last = "".join(literals), literals[0], literals[-1]
    return [
        text
        for text in (
            joined, first, last, joined[:-1], "".join(literals[:-1]), "".join(literals[:2]), first + "1", first + "a ",
            f"'{first}", f"{first}'", f"{first}{' ' * 150}a", f"{first}{'1' * 90}", first + last[:-1], " ", "1", "a", "'",
        )
        if text
    ]  # fmt: skip
