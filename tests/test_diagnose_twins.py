"""Python and JavaScript diagnose alike, byte for byte: real logs, and logs as nobody would write them."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.diagnose.clean import clean
from generator.diagnose.scan import CHUNK

from .both_engines import Both, differing, logs_of_checkout
from .mutations import ODD_BYTES, Log

LOGS = logs_of_checkout()
MUTATIONS = 240
STEPS = 60
ERROR = b"[rank%d]: RuntimeError: the loss of shard %d is not there\n"
STEP = b"[rank%d]: 2026-11-30 09:12:44,120 INFO train: step %d loss 2.31 lr 1.0e-04 \xc3\xa9\xe2\x82\xac\n"


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    with Both() as running:
        yield running


@pytest.mark.parametrize("name", LOGS)
def test_logs_of_the_checkout(both: Both, name: str) -> None:
    assert both.python(LOGS[name]) == both.javascript(LOGS[name])


@pytest.mark.parametrize("start", range(0, MUTATIONS, STEPS))
def test_mutated_logs(both: Both, start: int) -> None:
    for seed, python, javascript in differing(both, list(LOGS.values()), range(start, start + STEPS)):
        assert python == javascript, f"seed {seed}"


def test_all_logs_as_one_run(both: Both) -> None:
    log = [file for name, files in LOGS.items() for file in files if not name.startswith("healthy/")]
    assert both.python(log) == both.javascript(log)


def test_names_and_texts_that_json_escapes(both: Both) -> None:
    name = 'a "b" \\ \x7f \u2028 é 😀 \x01 \t.log'
    log: Log = [(name, 'ValueError: "\\" \x7f \u2028 \u0085 é 😀 </script>\n'.encode())]
    answer = both.python(log)
    assert answer == both.javascript(log)
    assert "\\u2028" in answer.json
    assert "\x7f" not in answer.json
    assert '\\u0001 \\t.log"' in answer.json


def test_long_texts_are_cut_between_characters(both: Both) -> None:
    for text in ("😀" * 2_000, "x" + "😀" * 2_000, "é" * 40_000, "a" * 999 + "😀b"):
        log: Log = [("a.log", f"ValueError: {text}\n".encode())]
        assert both.python(log) == both.javascript(log)


@pytest.mark.parametrize("size", [5 << 20, 4 << 20, (4 << 20) + 1, 131_072, 131_073, 70_000])
def test_streams_of_which_not_all_is_kept(both: Both, size: int) -> None:
    log: Log = [("run.log", _long_log(size))]
    assert both.python(log) == both.javascript(log)


def test_chunks_do_not_matter(both: Both) -> None:
    log: Log = [("run.log", _long_log(3 << 20))]
    expected = both.python(log)
    for chunk in (7_919, 1 << 16, (1 << 20) - 1, 4 << 20):
        assert both.javascript(log, chunk) == expected


def test_a_last_hit_at_the_border_of_a_chunk_counts(both: Both) -> None:
    hit, steps = b"RuntimeError: shard %d is not there\n", b"x" * 99 + b"\n"
    log = b"".join(steps * 450 + hit % shard for shard in range(92))
    log += (steps * 700)[: CHUNK - 300 - len(log)]
    log += (hit % 92 + steps * 3)[:300]
    assert len(log) == CHUNK
    assert both.python([("a", log)]) == both.javascript([("a", log)])


def test_a_blank_that_only_javascript_knows(both: Both) -> None:
    log: Log = [("a", "E   \u00a0assert False, the loss is not there\n".encode() * 2)]
    assert both.python(log) == both.javascript(log)


def test_packed_logs(both: Both) -> None:
    content = LOGS["diagnose/one-of-64-crashes.log"][0][1]
    packed = gzip.compress(content, mtime=0)
    plain, whole = both.python([("a", content)]), both.javascript([("a", packed)])
    assert plain == whole == both.python([("a", packed)])
    for broken in (packed[:-30], packed[:100] + b"\xff\xff\xff" + packed[103:]):
        log: Log = [("broken", broken), ("b", content)]
        answer = both.javascript(log)
        assert answer == both.python(log)
        assert answer.problems == ["broken"]


def test_a_browser_cannot_unpack_zstd(both: Both) -> None:
    answer = both.javascript([("a.zst", b"\x28\xb5\x2f\xfd\x00"), ("b", b"ValueError: x\n")])
    assert answer.problems == ["a.zst"]


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=6), st.sampled_from(ODD_BYTES), st.just(b"a")), max_size=12))
def test_bytes_that_are_no_utf_8(both: Both, parts: list[bytes]) -> None:
    content = b"".join(parts)
    assert clean(content) == both.twin("cleanBytes", base64.b64encode(content).decode())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from((0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x41, 0x0A, 0xFEFF, 0x20AC)), max_size=9),
    st.booleans(),
)
def test_utf_16(both: Both, units: list[int], odd: bool) -> None:
    for order, mark in (("little", b"\xff\xfe"), ("big", b"\xfe\xff")):
        text = [*map(ord, "ValueError: "), *units]
        content = mark + b"".join(unit.to_bytes(2, order) for unit in text) + b"\x00" * odd  # type: ignore[arg-type]
        log: Log = [("a.log", content)]
        assert both.python(log) == both.javascript(log, 3)


def _long_log(size: int) -> bytes:
    """Steps of eight ranks with errors among them, most of one kind, cut to so many bytes."""
    random = Random(size)
    rows: list[bytes] = []
    length = 0
    while length < size:
        step = len(rows)
        rare = b"[rank1]: KeyError: '%s'\n" % bytes(random.choices(b"abcdefgh", k=8))
        often = ERROR % (step % 8, step)
        row = random.choices(
            (STEP % (step % 8, step), often, rare, b"\r" * 9, b"x" * 40_000), (900, 90, 9, 3, 0.02)
        )[0]
        rows.append(row)
        length += len(row)
    return b"".join(rows)[:size]
