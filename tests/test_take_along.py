"""What is made of an answer in the browser, run in Node: Markdown, redactions, drafts, lanes, single lines."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from datetime import date
from io import BytesIO
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from generator.bundle import bundle
from generator.catalogue import Catalogue
from generator.diagnose.command import printed
from generator.diagnose.engine import Engine, Logs
from generator.diagnose.read import SKIPPED, sources_of
from generator.load import load
from generator.outputs.diagnosis import draft
from generator.redact import redacted, redactions_of
from generator.scaffold import template_of

from .twin import Twin

ROOT = Path(__file__).parents[1]
WORDS = json.loads((ROOT / "generator" / "diagnose" / "words.json").read_bytes())


@pytest.fixture(scope="module")
def twin() -> Iterator[Twin]:
    with Twin() as running:
        yield running


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    content, _ = load(ROOT / "content")
    return Catalogue(content)


def test_markdown_is_that_of_the_command_line(twin: Twin, catalogue: Catalogue) -> None:
    known = bundle(catalogue)
    engine = Engine(known)
    titles = {slug: entry["title"] for slug, entry in known["entries"].items()}
    logs = [loaded.files[log.file] for loaded in catalogue.current for log in loaded.entry.logs]
    assert len(logs) > 20
    hostile = [b"", b"[rank3]: ValueError: `a` *b* <c> |d| \xe2\x80\xae_e_ \x1b[1m#f\n" * 3]
    for data in [*logs, *hostile]:
        read = Logs()
        engine.read(read, "run_1/`x`.log", BytesIO(data))
        conclusion = engine.conclude(read)
        context = [vars(line) for line in conclusion.context] if conclusion.context else []
        words = {"names": WORDS, "why": dict(conclusion.why), "titles": titles}
        assert twin("markdown", conclusion.answer, context, words) == printed(conclusion, known, "markdown")


# --- redactions --------------------------------------------------------------------------------------

REDACTED = (
    ('File "/home/alice/run/train.py", line 3', "alice", 'File "/home/user-1/run/train.py", line 3'),
    ("C:\\Users\\Bob\\train.py", "Bob", "C:\\Users\\user-1\\train.py"),
    ("gpu-17:4121:4121 [0] NCCL WARN x", "gpu-17", "host-1:4121:4121 [0] NCCL WARN x"),
    ("srun: error: node0417: task 3: Killed", "node0417", "srun: error: host-1: task 3: Killed"),
    ("peer db3.cluster.local closed", "db3.cluster.local", "peer host-1 closed"),
    ("remote peer 10.12.0.7<51020>", "10.12.0.7", "remote peer 192.0.2.1<51020>"),
    ("bound to fe80::1ff:fe23:4567:890a", "fe80::1ff:fe23:4567:890a", "bound to 2001:db8::1"),
    ("mail jo.doe+x@uni.edu now", "jo.doe+x@uni.edu", "mail user-1@example.com now"),
    (
        "HF_TOKEN=hf_abcdefghijklmnopQRSTUV",
        "hf_abcdefghijklmnopQRSTUV",
        "HF_TOKEN=[token 1]",
    ),
    ('"api_key": "9f8e7d6c5b4a"', "9f8e7d6c5b4a", '"api_key": "[token 1]"'),
    ("https://me:s3cret@git.example.org/x", "me:s3cret", "https://[token 1]@git.example.org/x"),
    ("http://me:s3cret@hub7.acme.com/x", "hub7.acme.com", "http://[token 1]@host-1/x"),
    ("cn7: lost cn7.acme.internal, not cn70", "cn7.acme", "host-1: lost host-1, not cn70"),
    ("Authorization: Bearer abcdef123456789", "abcdef123456789", "Authorization: Bearer [token 1]"),
    ("ssh carol@login.hpc.edu", "carol", "ssh user-1@example.com"),
    ("MASTER_ADDR=ip-10-1-2-3 ok", "ip-10-1-2-3", "MASTER_ADDR=host-1 ok"),
    ("  host      : gpu17\nlost gpu17 and gpu170", "gpu17\n", "  host      : host-1\nlost host-1 and gpu170"),
    ("SLURMD_NODENAME=gpu17 MASTER_ADDR=gpu17", "gpu17", "SLURMD_NODENAME=host-1 MASTER_ADDR=host-1"),
    ("ssh jane@gpu17 [gpu17]:29500", "gpu17", "ssh user-1@host-1 [host-1]:29500"),
    ("MASTER_ADDR=10.4.5.6 ok", "10.4.5.6", "MASTER_ADDR=192.0.2.1 ok"),
    ("torchrun --rdzv-endpoint trainhead:29500 x", "trainhead", "torchrun --rdzv-endpoint host-1:29500 x"),
    (
        "The client socket has timed out connect to (gpu-a, 29500)",
        "gpu-a",
        "The client socket has timed out connect to (host-1, 29500)",
    ),
)


@pytest.mark.parametrize(("text", "secret", "expected"), REDACTED)
def test_secrets_are_replaced(twin: Twin, text: str, secret: str, expected: str) -> None:
    answer = twin("redact", [text], [])
    assert secret not in answer["texts"][0]
    assert answer["texts"][0] == expected
    assert sum(answer["counts"]) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30 10:54:21.822000 torch/distributed/elastic/agent.py:1002",
        'File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1773',
        "CUDA 12.4.1, NCCL version 2.27.5+cuda12.9, driver 550.54.15",
        "[rank3]: torch.distributed.DistBackendError: c10::Error at 0000:3b:00.0",
        "see https://pytorch.org/docs and https://github.com/deepspeedai/DeepSpeed/issues/1",
        "loss 2.31, 1234 tokens: 55.3 tokens_per_second=12345678.9, pad_token='<unk>'",
        "127.0.0.1:29500 and 0.0.0.0",
        "WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=1, Timeout(ms)=600000)",
        "hostname: Name or service not known; hostname lookup failed; [default0]:12345 tokens",
        "cublas==12.1.3.1, version 9.8.7.6",
        "File at /root/x and /home/ubuntu/y, self.weight @ x",
        "node-a:4121:4121 [0] NCCL WARN x",
        "gpu0 is full, cuda:1 is not; worker3 and stage2 wait; [rank3]: on gpu 4",
    ],
)
def test_what_names_nobody_stays(twin: Twin, text: str) -> None:
    assert twin("redact", [text], []) == {"redactions": [], "counts": [], "texts": [text]}


def test_one_name_has_one_replacement_everywhere(twin: Twin) -> None:
    texts = ["/home/alice/a and /home/bob/b", "alice@node-7 said, alicent stays, bob-2 goes"]
    answer = twin("redact", texts, ["node-7"])
    assert answer["texts"] == [
        "/home/user-1/a and /home/user-2/b",
        "user-1@host-1 said, alicent stays, user-2-2 goes",
    ]
    told = {(each["kind"], each["found"], each["shown"]) for each in answer["redactions"]}
    assert told == {("user", "alice", "user-1"), ("user", "bob", "user-2"), ("host", "node-7", "host-1")}
    assert sum(answer["counts"]) == 5


def test_json_is_redacted_in_its_texts_alone(twin: Twin) -> None:
    value = {"alice": ["/home/alice/x", 3, None, {"text": 'a "quoted" /home/alice'}], "line": 10}
    assert twin("redactJson", value) == {
        "alice": ["/home/user-1/x", 3, None, {"text": 'a "quoted" /home/user-1'}],
        "line": 10,
    }


def test_long_texts_are_redacted_in_time(twin: Twin) -> None:
    for unit in ("a.", "a@", "1:", "10.", "/home", "token=", "x" * 50 + ".", "ip-1-"):
        text = unit * (400_000 // len(unit))
        assert len(twin("redact", [text], [])["texts"][0]) > 0


def both(twin: Twin, texts: list[str]) -> list[str]:
    """The texts redacted; both engines must do it alike."""
    redactions = redactions_of(texts)
    answer = twin("redact", texts, [])
    assert [vars(each) for each in redactions] == answer["redactions"]
    found = [redacted(text, redactions) for text in texts]
    assert found == answer["texts"]
    return found


def test_both_engines_redact_alike(twin: Twin) -> None:
    logs = [*(ROOT / "content").rglob("*.log"), *(ROOT / "tests" / "vectors").rglob("*.log")]
    assert len(logs) > 100
    for log in logs:
        both(twin, [log.read_bytes().decode("utf-8", "replace")])
    for text, secret, expected in REDACTED:
        assert both(twin, [text, secret])[0] == expected


# --- drafts ------------------------------------------------------------------------------------------

MESSAGES = (
    "[rank3]: ValueError: shard 12 of {x} holds 0 samples",
    "3: RuntimeError: size 1.5 GiB at 0x7f",
    "[default1]: a   b\tc -7",
    "12345",
    "can't open /data/user-1/shard-3/a.bin: error 2",
    "C:\\data\\runs\\x.pt is too short, see https://example.org/a/b",
    "[1]: host-2:29500 refused [token 1] of user-1@example.com, 192.0.2.7 didn't",
    "/data/a/b/3/c4",
    "éè \u202e bidi 5",
    "}{",
)


@pytest.mark.parametrize("message", MESSAGES)
def test_templates_of_messages_are_those_of_new(twin: Twin, message: str) -> None:
    assert twin("templateOf", message) == template_of(message)


def test_a_draft_lacks_only_what_a_person_must_say(twin: Twin, catalogue: Catalogue, tmp_path: Path) -> None:
    message = '[rank2]: ValueError: shard "part-0412.tar" of 512 holds {} samples # not 3: 4'
    known = {
        "title": message,
        "message": message,
        "day": "2026-11-30",
        "line": 2,
        "ranks": [2],
        "allRanks": False,
    }
    text = twin("draft", draft(catalogue), known)
    folder = tmp_path / "failures" / "shard-holds-no-samples"
    folder.mkdir(parents=True)
    copytree(ROOT / "content" / "taxonomy", tmp_path / "taxonomy")
    path = folder / "entry.yaml"
    path.write_text(text, encoding="utf-8")
    (folder / "run.log").write_text(f"step 1\n{message}\n", encoding="utf-8")
    _, findings = load(tmp_path)
    assert {finding.code for finding in findings} == {"no-value"}, "\n".join(map(str, findings))

    said = {"family": "data", "phase": "forward", "restart": "no", "id": "pytorch"}
    lines = text.split("\n")
    for finding in sorted(findings, key=lambda each: -each.line):
        before, _, comment = lines[finding.line - 1].partition("  #")
        field = finding.message.removesuffix(" has no value").rpartition(".")[2]
        value = said.get(field, "A sentence.")
        lines[finding.line - 1] = f"{before.rstrip()} {value}  #{comment}"
    path.write_text("\n".join(lines), encoding="utf-8")
    content, findings = load(tmp_path)
    assert findings == [], "\n".join(map(str, findings))
    (entry,) = (loaded.entry for loaded in content.entries)
    assert (entry.status, entry.added) == ("short", date(2026, 11, 30))
    assert (entry.logs[0].line, entry.logs[0].ranks) == (2, (2,))
    assert entry.signatures[0].text == template_of(message)


# --- lanes -------------------------------------------------------------------------------------------


def lane(
    rank: int | None, *events: tuple[str, int], file: str = "a.log", time: int | None = None
) -> dict[str, Any]:
    told = [{"file": file, "line": line, "role": role, "text": "", "time": time} for role, line in events]
    return {"rank": rank, "seen": [{"file": file, "first": 1, "last": 99}], "events": told}


def test_the_beginning_stands_left_of_what_came_later(twin: Twin) -> None:
    lanes = [lane(0, ("witness", 9), ("teardown", 12)), lane(1, ("initiating", 5), ("teardown", 11))]
    answer = twin("lanes", lanes)
    assert answer["bands"] == [
        [[1], [[0, "initiating"], [2, "teardown"]]],
        [[0], [[1, "witness"], [2, "teardown"]]],
    ]
    assert answer["columns"] == 3


def test_hundreds_of_ranks_fold_into_few_bands(twin: Twin) -> None:
    lanes = [lane(rank, ("witness", 600 + rank), ("teardown", 1200 - rank)) for rank in range(512)]
    lanes[137] = lane(137, ("initiating", 550))
    answer = twin("lanes", lanes)
    assert [len(ranks) for ranks, _ in answer["bands"]] == [1, 511]
    assert answer["columns"] == 3


def test_files_without_times_have_no_common_order(twin: Twin) -> None:
    apart = [lane(0, ("witness", 1), file="0.log"), lane(1, ("initiating", 50), file="1.log")]
    answer = twin("lanes", apart)
    assert (answer["order"], answer["bands"][0]) == ("none", [[1], [[0, "initiating"]]])
    assert answer["bands"][1] == [[0], [[1, "witness"]]]
    timed = [
        lane(0, ("witness", 1), file="0.log", time=2000),
        lane(1, ("initiating", 50), file="1.log", time=1000),
    ]
    assert twin("lanes", timed)["order"] == "time"
    assert twin("lanes", timed)["bands"][0] == [[1], [[0, "initiating"]]]


# --- files of a folder -------------------------------------------------------------------------------


def test_a_folder_is_read_as_the_command_line_reads_it(twin: Twin, tmp_path: Path) -> None:
    names = ("b.log", "a/1/out.log", "a/0/err.log", "a/z.txt", "a0.log", "B.log", ".hidden/x.log", "m.pt")
    names = (*names, "c.PT", "a/.x.log", "run.log.gz", "noending", "a-b/x.log")
    for name in names:
        path = tmp_path / "run" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    read = [
        Path(source.name).relative_to(tmp_path).as_posix()
        for source in sources_of([str(tmp_path / "run")])
        if not isinstance(source, str)
    ]
    assert twin("chosen", [f"run/{name}" for name in reversed(names)], sorted(SKIPPED)) == read


# --- single lines ------------------------------------------------------------------------------------

LOG = b"one\ntwo\r\n 10%\r 20%\rthree\n\nfive \x1b[31mred\x1b[0m\xe2\x80\xae\nsix"
ROWS = [
    {"number": 1, "text": "one"},
    {"number": 2, "text": "two"},
    {"number": 3, "text": " 10%"},
    {"number": 3, "text": " 20%"},
    {"number": 3, "text": "three"},
    {"number": 4, "text": ""},
    {"number": 5, "text": "five red"},
    {"number": 6, "text": "six"},
]


@pytest.mark.parametrize(
    "data",
    [LOG, gzip.compress(LOG), b"\xef\xbb\xbf" + LOG, LOG.decode().encode("utf-16")],
    ids=["plain", "gzip", "utf-8 mark", "utf-16"],
)
def test_lines_are_read_by_their_numbers(twin: Twin, data: bytes) -> None:
    text = base64.b64encode(data).decode()
    for first, last in ((1, 6), (3, 3), (5, 99), (7, 9)):
        wanted = [row for row in ROWS if first <= row["number"] <= last]  # type: ignore[operator]
        assert twin("lines", text, [], first, last) == wanted


def test_known_places_spare_the_way_to_a_line(twin: Twin) -> None:
    data = b"".join(b"line %d\n" % number for number in range(1, 1001))
    places = [[number, data.index(b"line %d\n" % (number + 1))] for number in (0, 400, 800)]
    spoilt = b"?" * places[1][1] + data[places[1][1] :]
    rows = twin("lines", base64.b64encode(spoilt).decode(), places, 500, 501)
    assert rows == [{"number": 500, "text": "line 500"}, {"number": 501, "text": "line 501"}]


def test_a_line_of_megabytes_is_cut(twin: Twin) -> None:
    text = base64.b64encode(b"x" * 3_000_000 + b"\nshort\n").decode()
    long, short = twin("lines", text, [], 1, 2)
    assert len(long["text"]) == 16 * 1024
    assert short == {"number": 2, "text": "short"}
