"""``find`` on the real content, in Python and in JavaScript: whatever surrounds a message, its entry comes first."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from generator import bundle as signature_bundle
from generator import find_index as search
from generator.catalogue import Catalogue
from generator.content import LoadedEntry
from generator.find import SIGNATURE_SCORE, Finder, Found
from generator.find_index import find_index
from generator.load import load
from generator.model import Signature
from generator.signature import Hole, parse

from .twin import Twin

CONTENT = Path(__file__).parents[1] / "content"

PREFIXES = (
    "",
    "[rank3]: ",
    "3: ",
    "[default1]:",
    "[1,3]<stderr>:",
    "(RayTrainWorker pid=8812, ip=192.0.2.7) ",
    "worker-7: ",
    "2026-03-02 11:40:09,518 - ERROR - ",
    "[2026-03-02 11:40:09,518] [ERROR] [engine.py:325:step] ",
    "\x1b[31m[rank11]: RuntimeError: ",
)
FILLED = {
    "int": "90211",
    "num": "1.25e-05",
    "hex": "0x7f1c2a",
    "size": "61.03 GiB",
    "word": "some.other-name_7",
    "path": "/scratch/u-1/env/lib/",
    "quoted": "'<other thing>'",
    "any": "something else, 5 of 7",
}
TYPED = (
    ("deepspeed oom cpu killed -9", "exit-code-minus-9"),
    ("batch size not equal micro batch gradient accumulation", "batch-size-triangle"),
    ("ops.cu line 216 8bit adam", "bitsandbytes-invalid-configuration-argument"),
    ("gradient computed twice", "gradient-computed-twice"),
    ("weight must be 2-D zero3 embedding", "zero3-weight-must-be-2d"),
    ("cuda oom optimizer step adam", "cuda-oom-optimizer-step"),
    ("world size changed resume", "checkpoint-dp-world-size"),
    ("ds_opt_adam", "cpuadam-no-ds-opt-adam"),
    ("offload own optimizer", "offload-client-optimizer"),
    ("watchdog timeout", "nccl-watchdog-timeout"),
    ("zero_to_fp32 missing optim states", "zero-to-fp32-missing-optim-states"),
    ("pipeline zero-3 incompatible", "pipeline-with-zero2-or-zero3"),
)


@cache
def catalogue() -> Catalogue:
    return Catalogue(load(CONTENT)[0])


@cache
def real_index() -> dict[str, Any]:
    return find_index(catalogue())


@cache
def finder() -> Finder:
    return Finder(real_index())


@pytest.fixture(scope="module")
def twin() -> Iterator[Twin]:
    with Twin() as running:
        running("index", "real", real_index())
        yield running


def ranked(twin: Twin, text: str) -> list[Found]:
    """What Python finds; JavaScript must find the same, byte for byte."""
    found = finder().find(text, 5)
    answer = json.dumps(twin("find", "real", text, 5))
    assert answer == json.dumps([one.to_json() for one in found])
    return found


def signatures() -> list[tuple[LoadedEntry, Signature]]:
    return [(one, signature) for one in catalogue().current for signature in one.entry.signatures]


def filled(template: str) -> str:
    return "".join(FILLED[piece.kind] if isinstance(piece, Hole) else piece.text for piece in parse(template))


@pytest.mark.parametrize(
    ("loaded", "signature"), [pytest.param(*pair, id=f"{pair[0].slug}/{pair[1].id}") for pair in signatures()]
)
def test_a_message_finds_its_entry_first(twin: Twin, loaded: LoadedEntry, signature: Signature) -> None:
    message = "\n".join(map(filled, (*signature.needs, signature.text)))
    for prefix in PREFIXES:
        text = "\n".join(f"{prefix}{line} (seen on node-3)" for line in message.split("\n"))
        first = ranked(twin, text)[0]
        assert (first.entry, first.how) == (loaded.slug, "signature"), text


def test_cut_as_among_thousands_a_message_finds_its_entry_first(
    twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "TEMPLATE_CHARACTERS", 0)
    index = find_index(catalogue())
    assert "{~" in json.dumps(index)
    twin("index", "cut", index)
    cut = Finder(index)
    for loaded, signature in signatures():
        text = "\n".join(f"[rank3]: {filled(part)}" for part in (*signature.needs, signature.text))
        found = [one.to_json() for one in cut.find(text, 5)]
        assert (found[0]["entry"], found[0]["how"]) == (loaded.slug, "signature"), text
        assert json.dumps(twin("find", "cut", text, 5)) == json.dumps(found)


@pytest.mark.parametrize(("query", "slug"), TYPED, ids=[query for query, _ in TYPED])
def test_a_few_words_find_their_entry_first(twin: Twin, query: str, slug: str) -> None:
    assert ranked(twin, query)[0].entry == slug


def test_a_wrapped_message_is_whole_again(twin: Twin) -> None:
    text = (
        "[rank0]: AssertionError: Check batch related parameters. train_batch_size is not\n"
        "[rank0]: equal to micro_batch_per_gpu * gradient_acc_step\n[rank0]: * world_size 32 != 4 * 1 * 3\n"
    )
    assert ranked(twin, text)[0].signature == "batch-size-triangle/mismatch"


def test_the_cause_stands_above_what_it_makes_others_print(twin: Twin) -> None:
    text = (
        "[rank1]: 'weight' must be 2-D\n"
        "[2026-03-02 11:40:09,518] [ERROR] [launch.py:325:sigkill_handler] ['python', '-u', 't.py', '--local_rank=7'] "
        "exits with return code = -9\n"
    )
    assert [one.entry for one in ranked(twin, text)[:2]] == ["zero3-weight-must-be-2d", "exit-code-minus-9"]


@pytest.mark.parametrize(
    "text", ["", "\n \n", "\x00\x1b[31m", "zzqqxx wwvvkk", "7.31 0x7f /a/b/c", "the of and is"]
)
def test_nothing_known_finds_nothing(twin: Twin, text: str) -> None:
    assert ranked(twin, text) == []


def test_scores_tell_how_an_entry_was_found(twin: Twin) -> None:
    for text in ("exits with return code = -9", "weight 2-D gathered", "weihgt", "gath"):
        for one in ranked(twin, text):
            assert 0 < one.score <= 1000
            assert (one.score >= SIGNATURE_SCORE) == (one.how == "signature") == (one.signature is not None)


def test_a_megabyte_is_no_burden(twin: Twin) -> None:
    noise = "\u202e\ud83d step 12 loss=2.3 /data/run/x.py watchdog\x00\r" * 40 + "\n"
    text = noise * 500 + "'weight' must be 2-D\n" + noise * 50
    started = time.process_time()
    assert ranked(twin, text)[0].entry == "zero3-weight-must-be-2d"
    assert time.process_time() - started < 5


def test_a_log_finds_its_entry_first(twin: Twin) -> None:
    for loaded in catalogue().current:
        for log in loaded.entry.logs:
            if log.says == "initiating":
                text = (CONTENT / "failures" / loaded.slug / log.file).read_text("utf-8", "replace")
                assert loaded.slug in [one.entry for one in ranked(twin, text)], log.file


@pytest.mark.parametrize(
    ("made", "shape", "schema"),
    [
        (signature_bundle.bundle, signature_bundle.BundleShape, signature_bundle.json_schema),
        (search.find_index, search.SearchShape, search.json_schema),
    ],
    ids=["bundle", "index of find"],
)
def test_what_programs_read_fits_its_schema(made: Any, shape: Any, schema: Any) -> None:
    content = made(catalogue())
    data = signature_bundle.to_bytes(content)
    assert data == signature_bundle.to_bytes(made(Catalogue(catalogue().content)))
    assert shape.model_validate_json(data, strict=False).version == content["version"]
    assert json.loads(data) == content
    assert set(schema()["required"]) == set(content)
    assert list(content.get("slugs") or sorted(content["entries"])) == sorted(
        one.slug for one in catalogue().current
    )


@pytest.mark.parametrize(
    "made", [signature_bundle.bundle, search.find_index], ids=["bundle", "index of find"]
)
def test_the_version_follows_the_content(made: Any) -> None:
    fewer = Catalogue(replace(catalogue().content, entries=catalogue().content.entries[1:]))
    assert made(fewer)["version"] != made(catalogue())["version"]
