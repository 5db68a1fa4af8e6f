"""Python and JavaScript answer alike: the shared cases, and random ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.find import Finder
from generator.normalize import clean, lines_of, without_prefix, words_of
from generator.signature import Compiled, Literal, TemplateError, compile_template, parse

from .templates import lines_for, noise, sound_templates, templates
from .twin import Twin

VECTORS = Path(__file__).parent / "vectors"
Case = dict[str, Any]


def cases(name: str, part: str) -> list[Case]:
    return list(json.loads((VECTORS / f"{name}.json").read_bytes())[part])


@pytest.fixture(scope="module")
def twin() -> Iterator[Twin]:
    with Twin() as running:
        for number, index in enumerate(INDEXES):
            running("index", f"vectors {number}", index)
        yield running


INDEXES = cases("find", "indexes")
"""One with whole templates, one with the heads of their literals."""


def compiled_json(template: str, minimum: int) -> Case:
    try:
        compiled = compile_template(template, minimum)
    except TemplateError as error:
        return {"message": error.message, "offset": error.offset}
    return {
        "literal": compiled.literal,
        "key_line": compiled.key_line,
        "expressions": list(compiled.expressions),
        "captures": list(compiled.captures),
    }


def pieces_json(template: str) -> Any:
    try:
        pieces = parse(template)
    except TemplateError as error:
        return {"message": error.message, "offset": error.offset}
    return [
        {"literal": p.text} if isinstance(p, Literal) else {"kind": p.kind, "name": p.name} for p in pieces
    ]


def match_json(compiled: Case, lines: list[str]) -> Case | None:
    match = Compiled(**{key: tuple(v) if isinstance(v, list) else v for key, v in compiled.items()}).search(
        lines
    )
    return (
        None if match is None else {"spans": [list(span) for span in match.spans], "captures": match.captures}
    )


def found_json(finder: Finder, text: str, n: int) -> str:
    return json.dumps([found.to_json() for found in finder.find(text, n)])


@pytest.mark.parametrize("case", cases("signature", "compile"), ids=lambda case: case["template"][:30])
def test_templates(twin: Twin, case: Case) -> None:
    template, minimum = case["template"], case["minimum"]
    assert pieces_json(template) == case["pieces"] == twin("parse", template)
    assert compiled_json(template, minimum) == case["compiled"] == twin("compile", template, minimum)


@pytest.mark.parametrize("case", cases("signature", "errors"), ids=lambda case: ascii(case["template"][:30]))
def test_templates_at_fault(twin: Twin, case: Case) -> None:
    expected = {"message": case["message"], "offset": case["offset"]}
    assert compiled_json(case["template"], case["minimum"]) == expected
    assert twin("compile", case["template"], case["minimum"]) == expected


@pytest.mark.parametrize("case", cases("signature", "search"), ids=lambda case: case["lines"][0][:30])
def test_matches(twin: Twin, case: Case) -> None:
    compiled = compiled_json(case["template"], 1)
    assert match_json(compiled, case["lines"]) == case["match"] == twin("search", compiled, case["lines"])


@pytest.mark.parametrize("case", cases("normalize", "lines"), ids=lambda case: ascii(case["text"][:30]))
def test_lines(twin: Twin, case: Case) -> None:
    assert lines_of(case["text"]) == case["lines"] == twin("linesOf", case["text"])


@pytest.mark.parametrize("case", cases("normalize", "bare"), ids=lambda case: ascii(case["line"][:30]))
def test_prefixes(twin: Twin, case: Case) -> None:
    assert without_prefix(case["line"]) == case["bare"] == twin("withoutPrefix", case["line"])


@pytest.mark.parametrize("case", cases("normalize", "words"), ids=lambda case: ascii(case["line"][:30]))
def test_words(twin: Twin, case: Case) -> None:
    line, numbers = case["line"], case["numbers"]
    assert words_of(line, numbers=numbers) == case["words"] == twin("wordsOf", line, numbers)


@pytest.mark.parametrize("case", cases("find", "cases"), ids=lambda case: ascii(case["text"][:30]))
def test_rankings(twin: Twin, case: Case) -> None:
    """Byte for byte: the order of keys too."""
    number, text, n, expected = case["index"], case["text"], case["n"], json.dumps(case["found"])
    assert found_json(Finder(INDEXES[number]), text, n) == expected
    assert json.dumps(twin("find", f"vectors {number}", text, n)) == expected


def test_a_long_text_is_cut_alike(twin: Twin) -> None:
    for filler in ("x", "😀", "watchdog timeout\n", "\n", "a b\r"):
        text = f"port socket\n{filler * 100_000}\nwatchdog"
        assert lines_of(text) == twin("linesOf", text)
        assert found_json(Finder(INDEXES[0]), text, 5) == json.dumps(twin("find", "vectors 0", text, 5))


bounded = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


@bounded
@given(data=st.data(), template=st.one_of(templates, sound_templates))
def test_any_template_and_line(twin: Twin, data: st.DataObject, template: str) -> None:
    compiled = compiled_json(template, 1)
    assert pieces_json(template) == twin("parse", template)
    assert compiled == twin("compile", template, 1)
    if "literal" in compiled:
        lines = [data.draw(lines_for(template))]
        assert match_json(compiled, lines) == twin("search", compiled, lines)


TEXTS = st.lists(
    st.one_of(
        noise,
        st.text(max_size=3),
        st.sampled_from(
            ["\n", "\r", "\x1b[31m", "[rank3]: ", "3: ", "[INFO] ", "ERROR ", "2026-11-30 09:28:20,640 ", "/a/b/c.py "]
            + ["watchdog ", "watchdg", "timeouts", "ZeRO-3", "stage 3", "-9", "0x1f", "ds_opt_adam", "CPUAdam", "oom"]
            + [template + " " for templates in INDEXES[0]["signatures"]["templates"] for template in templates]
        ),
    ),
    max_size=14,
).map("".join)  # fmt: skip


@bounded
@given(text=TEXTS)
def test_any_text(twin: Twin, text: str) -> None:
    assert lines_of(text) == twin("linesOf", text)
    assert words_of(clean(text), numbers=True) == twin("wordsOf", twin("clean", text), True)
    for number, index in enumerate(INDEXES):
        assert found_json(Finder(index), text, 5) == json.dumps(twin("find", f"vectors {number}", text, 5))
