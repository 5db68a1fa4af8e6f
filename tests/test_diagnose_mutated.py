"""Whatever a log has become: an answer of the right shape, never an exception, never in long time."""

from __future__ import annotations

import json
import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.diagnose.knowledge import Knowledge, load_data

from .mutated_logs import mutate, samples
from .test_diagnose import KEYS, diagnose

VERDICTS = ("established", "supported", "suspected", "undecided", "clean")
OVERTIME = 2.0


def check(data: bytes) -> None:
    answer = diagnose(("a.log", data))
    assert list(answer) == KEYS
    assert answer["verdict"] in VERDICTS
    assert answer["inputs"][0]["bytes"] == len(data)
    assert (answer["verdict"] == "clean") <= (answer["initiating"] is None)
    found = answer["initiating"]
    if found is not None and found["line"] is not None:
        assert 1 <= found["line"] <= answer["inputs"][0]["lines"]
    if answer["verdict"] in ("established", "supported"):
        assert found is not None
    json.dumps(answer, ensure_ascii=False).encode()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(min_value=0, max_value=2**32))
def test_mutated_logs(seed: int) -> None:
    chance = random.Random(seed)
    check(mutate(chance.choice(samples()), chance))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    check(data)


def test_mutation_makes_the_same_of_the_same_seed() -> None:
    log = samples()[0]
    assert mutate(log, random.Random(3)) == mutate(log, random.Random(3))
    assert mutate(log, random.Random(3)) != log


HARD = (
    "a",
    " ",
    "0",
    "[",
    "(",
    ":",
    ".",
    "a.",
    "a-1.",
    "0.",
    "A.",
    "[0",
    "loss ",
    "step 1",
    "a, [0:00<",
    "\x1b[",
    "'",
    "É",
)


@pytest.mark.parametrize("part", HARD, ids=ascii)
def test_no_expression_takes_long(part: str) -> None:
    text = (part * 20_000)[:20_000].encode()
    start = time.process_time()
    check(text + b"\n")
    check(b"[rank0]: " + text + b" Error: x\n")
    assert time.process_time() - start < OVERTIME


ENDLESS = {
    "one error": b"[rank1]: RuntimeError: again\n",
    "headers": b"Traceback (most recent call last):\n",
    "peers and errors": b"[rank1]: RuntimeError: Connection closed by peer [1]\n[rank2]: KeyError: 'x'\n",
    "chains": b"KeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\n",
}


@pytest.mark.parametrize("lines", ENDLESS.values(), ids=ENDLESS)
def test_no_log_takes_long(lines: bytes) -> None:
    start = time.process_time()
    check(lines * (4_000_000 // len(lines)))
    assert time.process_time() - start < 5 * OVERTIME


def test_anchored_expressions_have_no_other_alternative() -> None:
    """One that begins with ``^`` is tried at the start alone, so no ``|`` may stand outside parentheses."""
    for expression in _expressions(load_data()):
        if expression.startswith("^"):
            assert "|" not in _outside_parentheses(expression), expression


def test_prefixes_begin_as_they_say() -> None:
    rows = [row for row in load_data()["prefixes"] if row["starts"]]
    table = Knowledge(load_data()).prefixes
    for row in rows:
        for first in row["starts"]:
            assert row["id"] in {tagged.id for tagged in table.by_first(first)}


def _expressions(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _expressions(each)]
    if isinstance(value, list):
        return [text for each in value for text in _expressions(each)]
    return [value] if isinstance(value, str) else []


def _outside_parentheses(expression: str) -> str:
    depth, inside, at, kept = 0, False, 0, ""
    while at < len(expression):
        char = expression[at]
        if char == "\\":
            at += 2
            continue
        if inside:
            inside = char != "]"
        elif char == "[":
            inside = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif depth == 0:
            kept += char
        at += 1
    return kept
