"""The Worker in Chromium: files in, messages out, and the same bytes as the command line's."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from .both_engines import Both, logs_of_checkout
from .mutations import Log

LOGS = {name: log for name, log in logs_of_checkout().items() if not name.startswith("healthy/")}
NAMES = sorted(LOGS)[::4]
RUN = """([root, files]) => new Promise((resolve) => {
  const items = files.map(([name, text]) => ({
    name,
    blob: new Blob([Uint8Array.from(atob(text), (character) => character.charCodeAt(0))]),
  }));
  const worker = new Worker(new URL("engine/worker.js", root), {type: "module"});
  const messages = [];
  worker.onmessage = ({data}) => {
    messages.push(data);
    if (data.type !== "answer" && data.type !== "error") return;
    worker.terminate();
    resolve(messages);
  };
  worker.postMessage({type: "start", root, items});
})"""


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    with Both() as running:
        yield running


def run(page: Page, address: str, log: Log) -> list[dict[str, Any]]:
    """The messages that the Worker posts for these files."""
    if not page.url.startswith(address):
        page.goto(address)
    files = [[name, base64.b64encode(content).decode()] for name, content in log]
    messages: list[dict[str, Any]] = page.evaluate(RUN, [address, files])
    return messages


def test_answers_are_the_command_lines(page: Page, address: str, both: Both) -> None:
    for name in NAMES:
        *_, answer = run(page, address, LOGS[name])
        expected = both.python(LOGS[name])
        assert answer["json"] + "\n" == expected.json, name
        assert answer["context"] == expected.context
        assert json.loads(answer["json"]) == answer["answer"]


def test_progress_counts_the_bytes_on_disk(page: Page, address: str) -> None:
    packed = gzip.compress(b"[rank0]: step 1 loss 2.0\n" * 100_000)
    *messages, _ = run(page, address, [("a.gz", packed), ("b.log", b"ValueError: x\n")])
    assert {message["total"] for message in messages} == {len(packed) + 14}
    assert messages[-1]["bytes"] == len(packed) + 14


def test_lanes_and_places(page: Page, address: str) -> None:
    content = b"".join(b"[rank%d]: step %d loss 2.0\n" % (step % 4, step) for step in range(180_000))
    *_, answer = run(page, address, [("a.log", content + b"[rank2]: ValueError: x\n")])
    assert [lane["rank"] for lane in answer["lanes"]] == [0, 1, 2, 3]
    assert [mark["role"] for mark in answer["lanes"][2]["events"]] == ["initiating"]
    (places,) = answer["places"]
    assert places["file"] == "a.log"
    for feeds, byte in places["every"]:
        assert content.count(b"\n", 0, byte) == feeds
    assert len(places["every"]) == len(content) // (4 << 20)


def test_what_cannot_be_read_is_told_and_the_rest_read(page: Page, address: str) -> None:
    broken = gzip.compress(b"ValueError: y\n" * 50)[:-9]
    log: Log = [("a.gz", broken), ("b.zst", b"\x28\xb5\x2f\xfd\x00\x00"), ("c.log", b"ValueError: x\n")]
    messages = run(page, address, log)
    problems = {each["name"]: each["code"] for each in messages if each["type"] == "problem"}
    assert problems == {"a.gz": "corrupt", "b.zst": "zstd"}
    assert [each["file"] for each in messages[-1]["answer"]["inputs"]] == ["c.log"]
    assert run(page, address, log[:2])[-1] == {"type": "error", "message": "none"}
