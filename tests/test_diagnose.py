"""The diagnosis on logs whose answer is known: our vectors, the healthy runs, the entries' own logs."""

from __future__ import annotations

import gzip
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import zstandard

from generator.bundle import bundle
from generator.catalogue import Catalogue
from generator.cli import run
from generator.content import Content
from generator.diagnose.engine import Engine
from generator.load import load

ROOT = Path(__file__).parents[1]
VECTORS = Path(__file__).parent / "vectors" / "diagnose"
HEALTHY = sorted((ROOT / "content" / "healthy").glob("*.log"))
Answer = dict[str, Any]
Captured = pytest.CaptureFixture[str]

KEYS = [
    *("schema", "verdict", "entry_match", "initiating", "candidates", "collateral", "recovered", "attempts"),
    *("missing_fact", "next_action", "unmatched", "inputs"),
]
INITIATING = [
    *("entry", "signature", "role", "rank", "ranks", "symmetric", "node", "file", "line", "time", "text"),
    *("captures", "why"),
]


@cache
def content() -> Content:
    return load(ROOT / "content")[0]


@cache
def engine() -> Engine:
    return Engine(bundle(Catalogue(content())))


def diagnose(*logs: tuple[str, bytes]) -> Answer:
    return engine().diagnose([(name, io.BytesIO(data)) for name, data in logs])


def vector_logs(name: str) -> list[tuple[str, bytes]]:
    """The files of a vector: one log, or a folder of them."""
    path = VECTORS / name
    if path.is_file():
        return [(name, path.read_bytes())]
    files = sorted(each for each in path.rglob("*") if each.is_file())
    return [(each.relative_to(path).as_posix(), each.read_bytes()) for each in files]


def vectors() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / "expected.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("expected", vectors(), ids=lambda row: row["name"])
def test_vector(expected: dict[str, Any]) -> None:
    answer = diagnose(*vector_logs(expected["name"]))
    found = answer["initiating"] or {"line": None, "ranks": [], "symmetric": False, "file": None}
    told = {"verdict": answer["verdict"], "attempts": answer["attempts"], **found}
    for key, value in expected.items():
        if key in ("verdict", "line"):
            assert str(told[key]) in str(value).split("|"), (key, answer)
        elif key != "name" and value != "any":
            assert told[key] == value, (key, answer)


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.name)
def test_healthy_is_clean(path: Path) -> None:
    answer = diagnose((path.name, path.read_bytes()))
    assert answer["verdict"] == "clean", answer
    assert answer["initiating"] is None
    assert answer["missing_fact"] is None


@pytest.mark.parametrize("text", [b"", b"\n", b"[rank0]: ValueError: x\n", b"step 1 loss 2.0\n"])
def test_every_key_is_always_there(text: bytes) -> None:
    answer = diagnose(("a.log", text))
    assert list(answer) == KEYS
    assert answer["initiating"] is None or list(answer["initiating"]) == INITIATING
    assert list(answer["inputs"][0]) == ["file", "lines", "bytes", "ranks"]
    assert json.loads(json.dumps(answer)) == answer


def test_lines_are_counted_by_line_feed() -> None:
    answer = diagnose(("a.log", b"one\r\ntwo\rthree\nValueError: last, without a line feed"))
    assert answer["inputs"][0]["lines"] == 3
    assert answer["initiating"]["line"] == 3


def test_hundreds_of_ranks_are_one_fault() -> None:
    answer = diagnose(*vector_logs("key-error-512-ranks.log"))
    assert answer["collateral"] == []
    assert len(answer["unmatched"]) == 1


def test_the_entry_of_a_consequence_is_only_a_candidate() -> None:
    log = (
        b"[rank1]: Traceback (most recent call last):\n[rank1]: KeyError: 'labels'\n"
        b"[rank0]:[E1130 04:12:33.1 ProcessGroupNCCL.cpp:683] [Rank 0] Watchdog caught collective operation "
        b"timeout: WorkNCCL(SeqNum=48, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600024 "
        b"milliseconds before timing out.\n"
    )
    answer = diagnose(("a.log", log))
    assert (answer["verdict"], answer["entry_match"]) == ("established", "none")
    assert answer["initiating"]["rank"] == 1
    assert [row["entry"] for row in answer["candidates"]] == ["nccl-watchdog-timeout"]
    assert answer["collateral"][0]["role"] == "witness"


# --- the command --------------------------------------------------------------------------------------

FAULT = b"[rank3]: Traceback (most recent call last):\n[rank3]: ValueError: odd sample 17\n"


OWN = FAULT.replace(b"[rank3]: ", b"")


def answer_of(capsys: Captured, *arguments: str, code: int) -> Answer:
    assert run(["diagnose", "--json", *arguments]) == code
    answer: Answer = json.loads(capsys.readouterr().out)
    return answer


def test_exit_code_of_a_clean_log(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "a.log").write_bytes(b"step 1 loss 2.0\n")
    assert answer_of(capsys, str(tmp_path / "a.log"), code=0)["verdict"] == "clean"


@pytest.mark.parametrize(
    ("name", "data"),
    {
        "plain.log": FAULT,
        "windows.log": FAULT.replace(b"\n", b"\r\n"),
        "packed.log.gz": gzip.compress(FAULT),
        "packed.log.zst": zstandard.ZstdCompressor().compress(FAULT),
        "two-frames.zst": zstandard.ZstdCompressor().compress(FAULT[:40])
        + zstandard.ZstdCompressor().compress(FAULT[40:]),
        "powershell.log": FAULT.decode().encode("utf-16"),
        "big-endian.log": b"\xfe\xff" + FAULT.decode().encode("utf-16-be"),
        "marked.log": b"\xef\xbb\xbf" + FAULT,
        "packed-utf-16.gz": gzip.compress(FAULT.decode().encode("utf-16")),
    }.items(),
)
def test_any_encoding(tmp_path: Path, capsys: Captured, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    answer = answer_of(capsys, str(tmp_path / name), code=1)
    assert (answer["initiating"]["rank"], answer["initiating"]["line"]) == (3, 2)
    assert answer["inputs"][0]["lines"] == 2


def test_folder_of_files_by_rank(tmp_path: Path, capsys: Captured) -> None:
    for rank in range(3):
        log = tmp_path / f"out_rank{rank}.log"
        log.write_bytes(b"RuntimeError: Connection closed by peer [192.0.2.1]:80\n" if rank != 1 else OWN)
    (tmp_path / "model.safetensors").write_bytes(b"\x00" * 64)
    answer = answer_of(capsys, str(tmp_path), code=1)
    assert [each["ranks"] for each in answer["inputs"]] == [[0], [1], [2]]
    assert answer["initiating"]["file"].endswith("out_rank1.log")


UNREADABLE = {
    "missing": (None, "no such file or folder"),
    "cut.gz": (gzip.compress(FAULT * 500)[:-9], "end-of-stream"),
    "cut.zst": (b"\x28\xb5\x2f\xfd" + b"\x00" * 3, "cut.zst: "),
    "wrong.gz": (b"\x1f\x8b\x08\x00" + b"\xff" * 40, "wrong.gz: "),
}


@pytest.mark.parametrize(("name", "case"), UNREADABLE.items(), ids=UNREADABLE)
def test_unreadable_is_told_and_the_rest_diagnosed(
    tmp_path: Path, capsys: Captured, name: str, case: tuple[bytes | None, str]
) -> None:
    if case[0] is not None:
        (tmp_path / name).write_bytes(case[0])
    (tmp_path / "good.log").write_bytes(FAULT)
    assert run(["diagnose", "--json", str(tmp_path / name), str(tmp_path / "good.log")]) == 2
    output = capsys.readouterr()
    told = [line for line in output.err.splitlines() if name in line]
    assert len(told) == 1
    assert case[1] in told[0]
    assert json.loads(output.out)["initiating"]["rank"] == 3


@pytest.mark.parametrize("expected", vectors(), ids=lambda row: row["name"])
def test_words_fit_the_terminal_and_are_no_commands(capsys: Captured, expected: dict[str, Any]) -> None:
    run(["diagnose", str(VECTORS / expected["name"])])
    text = capsys.readouterr().out
    assert text
    assert all(ord(char) >= 32 or char == "\n" for char in text)
    long = [
        line for line in text.splitlines() if len(line) > 80 and " " in line.strip() and "   # " not in line
    ]
    assert not [line for line in long if not line.startswith("    ")], long


def test_markdown_for_a_ticket(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "a.log").write_bytes(FAULT)
    assert run(["diagnose", "--format", "markdown", str(tmp_path / "a.log")]) == 1
    text = capsys.readouterr().out
    assert text.startswith("**The log states what started it: rank 3.**\n")
    assert "    [rank3]: ValueError: odd sample 17\n" in text
