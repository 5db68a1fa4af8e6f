"""``find`` among a thousand generated entries: how large its index is, and how soon the search box answers."""

from __future__ import annotations

import gzip
import json
import statistics
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from bench.entries import Generator
from generator import find_index as search
from generator.bundle import to_bytes
from generator.catalogue import Catalogue
from generator.find import Finder
from generator.load import load
from generator.model import Signature
from generator.signature import Hole, parse

from .conftest import ROOT
from .test_find import FILLED
from .twin import Twin

COUNT = 1000
MOST_BYTES = 150_000
MOST_MILLISECONDS = 50
ASKED = 12


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Generator, dict[str, Any]]:
    """Who drew the entries, and the index of them."""
    folder = tmp_path_factory.mktemp("many")
    generator = Generator(load(ROOT / "content")[0], COUNT)
    for number in range(COUNT):
        entry = generator.entry(number)
        home = folder / "failures" / entry.slug
        home.mkdir(parents=True)
        (home / "entry.yaml").write_bytes(entry.files["entry.yaml"])
    (folder / "taxonomy").symlink_to(ROOT / "content" / "taxonomy")
    catalogue = Catalogue(load(folder)[0])
    assert len(catalogue.current) == COUNT
    return generator, search.find_index(catalogue)


@pytest.fixture(scope="module")
def pastes(made: tuple[Generator, dict[str, Any]]) -> list[tuple[str, str]]:
    """Entries, and thirty lines of a log with a message of each."""
    generator, _ = made
    draw = Random(1)
    numbers = draw.sample(range(COUNT), ASKED)
    return [(generator.slug(number), _lines(draw, generator.signatures(number)[0])) for number in numbers]


def _lines(draw: Random, signature: Signature) -> str:
    """The message and what it needs, with numbers in the holes, among lines of a run."""
    messages = (
        line for template in (*signature.needs, signature.text) for line in _filled(template).split("\n")
    )
    noise = [
        f"step {step} loss {draw.random():.4f} lr 1e-05 took {draw.random():.2f} s" for step in range(28)
    ]
    frames = [
        '  File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1773, in _call'
    ]
    return "\n".join(f"[rank{draw.randint(0, 7)}]: {line}" for line in (*noise, *frames, *messages)) + "\n"


def _filled(template: str) -> str:
    return "".join(FILLED[piece.kind] if isinstance(piece, Hole) else piece.text for piece in parse(template))


def test_the_index_is_small(made: tuple[Generator, dict[str, Any]]) -> None:
    _, index = made
    search.SearchShape.model_validate_json(to_bytes(index), strict=False)
    assert len(gzip.compress(to_bytes(index), 9)) < MOST_BYTES


def test_what_is_cut_is_found_all_the_same(
    made: tuple[Generator, dict[str, Any]], pastes: list[tuple[str, str]]
) -> None:
    _, index = made
    finder = Finder(index)
    with Twin() as twin:
        twin("index", "many", index)
        for slug, text in pastes:
            found = finder.find(text, 5)
            assert (found[0].entry, found[0].how) == (slug, "signature"), text
            assert json.dumps([one.to_json() for one in found]) == json.dumps(twin("find", "many", text, 5))
            # One letter of a message is another: it isn't the message any more.
            line = text.rstrip().rpartition("\n")[2]
            other = text.replace(line, line[:-4] + "zq" + line[-2:])
            assert json.dumps([one.to_json() for one in finder.find(other, 5)]) == json.dumps(
                twin("find", "many", other, 5)
            )


ANSWERED = """async ([text, pasted]) => {
  const input = document.getElementById("q");
  const list = document.getElementById("search-list");
  const before = list.firstElementChild;
  const answered = new Promise((resolve) => {
    const seen = () => list.firstElementChild !== null && list.firstElementChild !== before && resolve(performance.now());
    new MutationObserver(seen).observe(list, {childList: true});
  });
  const began = performance.now();
  if (pasted) {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    input.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}));
  } else {
    input.value = text;
    input.dispatchEvent(new InputEvent("input", {inputType: "insertFromPaste", bubbles: true}));
  }
  return [await answered - began, list.firstElementChild.getAttribute("href")];
}"""


@pytest.mark.parametrize("lines", [True, False], ids=["thirty lines", "one line"])
def test_the_box_answers_at_once(
    page: Page,
    address: str,
    made: tuple[Generator, dict[str, Any]],
    pastes: list[tuple[str, str]],
    lines: bool,
) -> None:
    _, index = made
    page.route("**/search.json", lambda route: route.fulfill(body=to_bytes(index)))
    page.goto(address + "about/")
    page.keyboard.press("/")
    page.keyboard.insert_text("watchdog timeout")
    expect(page.get_by_role("status")).not_to_be_empty()
    took = []
    for slug, text in pastes:
        asked = text if lines else text.rstrip().rpartition("\n")[2]
        milliseconds, address_of_first = page.evaluate(ANSWERED, [asked, lines])
        assert not lines or address_of_first.endswith(f"/failures/{slug}/")
        took.append(milliseconds)
    assert statistics.median(took) < MOST_MILLISECONDS, took


def test_few_words_are_answered_at_once(
    page: Page, address: str, made: tuple[Generator, dict[str, Any]]
) -> None:
    """The engine alone: with unknown words it guesses, which takes it longest."""
    _, index = made
    page.goto(address + "about/")
    took = page.evaluate(
        """async ([root, index]) => {
          const {Finder} = await import(new URL("engine/find.js", root).href);
          const finder = new Finder(index);
          const asked = ["cuda out of memory optimizer step", "watchdg timout allreduse", "zero3 gathr", "loss nan resumed"];
          return asked.map((text) => {
            finder.find(text);
            const began = performance.now();
            finder.find(text);
            return performance.now() - began;
          });
        }""",
        [address, index],
    )
    assert statistics.median(took) < MOST_MILLISECONDS, took
