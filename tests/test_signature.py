"""The signature language: what a template means, what is refused, and that every expression is linear."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
import re2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.signature import (
    Compiled,
    Hole,
    Literal,
    TemplateError,
    compile_template,
    parse,
)

from .templates import adversarial, lines_for, sound_templates

LIMIT = 6_000


def search(template: str, *lines: str) -> dict[str, str] | None:
    match = compile_template(template, 1).search(lines)
    return None if match is None else match.captures


def test_pieces_stand_in_the_order_of_the_text() -> None:
    assert parse("a {{b}} {int:n}\n in {path}x") == (
        Literal("a {b} "),
        Hole("int", "n"),
        Literal("\n"),
        Literal("in "),
        Hole("path"),
        Literal("x"),
    )


def test_the_key_is_the_longest_literal_with_single_blanks() -> None:
    compiled = compile_template(
        "short {int} and\tthe longest literal of all {int}  with a double blank\nlast"
    )
    assert (compiled.literal, compiled.key_line) == ("the longest literal of all", 0)
    assert compile_template("one line\nthe second of {int}").key_line == 1


def test_the_key_counts_bytes() -> None:
    assert compile_template("éééé").literal == "éééé"
    with pytest.raises(TemplateError, match="8 bytes or more; the longest is 'ééé'"):
        compile_template("ééé")


@pytest.mark.parametrize(
    ("template", "line", "matches"),
    [
        ("return code = -1", "exits with return code = -1", True),
        ("return code = -1", "exits with return code = -15", False),
        ("return code = -1", "exits with return code = -1.5", False),
        ("return code = -1", "exits with return code = -1.", True),
        ("1 node failed", "11 node failed", False),
        ("1 node failed", "2.1 node failed", False),
        ("1 node failed", "rank.1 node failed", True),
        ("code {int}", "code 7.31", False),
        ("code {int} then", "code 7 then", True),
        ("took {int}.", "took 7.5", False),
        (".5 lost", "7.5 lost", False),
        ("a b", "a \t  b", True),
        ("a b", "a\xa0b", False),
        ("Failed", "failed", False),
        ("a.b*c", "aXbbc", False),
        ("x {path}y", "x y", True),
        ("x {path} y", "x  y", False),
        ("got {any} end", "got 'a' end", True),
    ],
)
def test_matches(template: str, line: str, matches: bool) -> None:
    assert (search(template, line) is not None) is matches


def test_the_first_match_in_the_line_counts_and_holes_take_what_they_can() -> None:
    assert search("n={int:n}", "n=x n=12 n=3") == {"n": "12"}
    assert search("in {path:p}", "in /a/b.c:7") == {"p": "/a/b.c:7"}
    assert search("got {any:a} end", "got one end end") == {"a": "one"}


def test_lines_match_lines_that_follow_one_another() -> None:
    assert search("one {int:a}\ntwo {int:b}", "x one 1", "two 2 y") == {"a": "1", "b": "2"}
    assert search("one {int:a}\ntwo {int:b}", "one 1", "three 2") is None
    assert search("one {int:a}\ntwo {int:b}", "one 1 two 2") is None


def test_a_long_line_is_searched_around_the_key() -> None:
    match = compile_template("needle here {int:n}").search([f"{'x' * 90_000} needle here 5 {'y' * 90_000}"])
    assert match is not None
    assert match.spans == ((90_001, 90_014),)


FRAGMENTS = ["{", "}", ":", "int", "any", "a", "1", "é", " ", "\x00", "\n", "\t"]


@settings(max_examples=300, deadline=None)
@given(template=st.lists(st.sampled_from(FRAGMENTS)).map("".join))
def test_any_text_is_read_or_refused_at_a_place_inside_it(template: str) -> None:
    refusal = refusal_of(template)
    assert refusal is None or (0 <= refusal.offset <= len(template) and refusal.message.isprintable())


def refusal_of(template: str) -> TemplateError | None:
    try:
        compile_template(template)
    except TemplateError as error:
        return error
    return None


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data(), template=sound_templates)
def test_re2_finds_the_same(data: st.DataObject, template: str) -> None:
    """RE2 is linear by construction, so what both find alike is no artefact of backtracking."""
    compiled = compile_template(template, 1)
    line = data.draw(lines_for(template))
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 28
    for expression in compiled.expressions:
        ours, theirs = re.search(expression, line), re2.compile(expression, options).search(line)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours.span(1) == theirs.span(1)
            assert [group or "" for group in ours.groups()] == [group or "" for group in theirs.groups()]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(template=sound_templates)
def test_no_line_makes_an_expression_slow(template: str) -> None:
    """The bound of rule 4 is 2,500 steps a character; a step of Python's takes well under a microsecond."""
    compiled = compile_template(template, 1)
    for seed in adversarial(template):
        assert seconds(compiled, seed, LIMIT) < 2.5e-3 * LIMIT


@pytest.mark.parametrize(
    "template",
    [
        "error: {any} in file {path}ops.cu",
        "({path}: {any} failed",
        "rank {word} of {word} in {path} said {quoted}",
        "{path} {hex} ({size} of it",
        "{word}Error: {any}: too long",
        "a {any} bb {int} ccc",
        "x {num} y {num} z {size} w",
    ],
)
def test_time_grows_with_the_line_and_no_faster(template: str) -> None:
    compiled = compile_template(template, 1)
    for seed in adversarial(template):
        short, long = (fastest(compiled, seed, length) for length in (LIMIT, 4 * LIMIT))
        # Quadratic growth would be sixteenfold.
        assert long < 0.03 or long < 10 * short, f"{seed!r}: {short:.4f} s, then {long:.4f} s"


def fastest(compiled: Compiled, seed: str, length: int) -> float:
    return min(seconds(compiled, seed, length) for _ in range(3))


def seconds(compiled: Compiled, seed: str, length: int) -> float:
    line = (seed * (length // len(seed) + 1))[:length]
    started = time.process_time()
    for expression in patterns(compiled):
        expression.search(line)
    return time.process_time() - started


def patterns(compiled: Compiled) -> Iterator[re.Pattern[str]]:
    yield from map(re.compile, compiled.expressions)
