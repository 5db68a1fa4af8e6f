"""A hostile entry is refused with a finding or does nothing, wherever it goes; a hostile log does nothing."""

from __future__ import annotations

import functools
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as XML

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from generator.build import site_files
from generator.catalogue import Catalogue
from generator.checks import examine
from generator.checks.texts import Text, texts
from generator.cli import run
from generator.content import Content, FieldPath
from generator.explain import explain
from generator.finding import Finding
from generator.write import write_site

from . import golden
from .conftest import ROOT, QuietHandler
from .hostile import (
    CONTROLS,
    HARMLESS,
    HTML,
    LINKS,
    Tags,
    harm_in_html,
    harm_in_markdown,
    harm_in_terminal,
    texts_of,
)
from .test_diagnose_page import DIAGNOSE, verdict

Captured = pytest.CaptureFixture[str]
SLUG = "zero3-weight-must-be-2-d"
PATH = f"content/failures/{SLUG}/entry.yaml"
ALL_KINDS = ("plain", "inline", "markdown", "template", "code")
MARKED_UP = ("inline", "markdown")
REFUSED = {"character", "html", "bad-link", "image", "dead-link"}
"""Codes of what is hostile in a text, wherever it stands."""
TURNS = pytest.mark.parametrize(
    "turns", [range(3), pytest.param(range(30), marks=pytest.mark.soak)], ids=["short", "long"]
)

# --- an entry ----------------------------------------------------------------------------------------


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """A copy of the small content in which nothing is wrong."""
    return shutil.copytree(golden.CONTENT, tmp_path / "content")


def entry_texts(kinds: Iterable[str]) -> list[Text]:
    entry = golden.catalogue().by_slug[SLUG].entry
    return [text for text in texts(entry) if text.kind in kinds]


def written(content: Path, values: dict[FieldPath, str]) -> None:
    """The entry with other values, each written with YAML's escapes."""
    path = content / "failures" / SLUG / "entry.yaml"
    entry = yaml.load((golden.CONTENT / "failures" / SLUG / "entry.yaml").read_text(), yaml.BaseLoader)
    for field, value in values.items():
        part = entry
        for key in field[:-1]:
            part = part[key]
        part[field[-1]] = value
    path.write_text(yaml.safe_dump(entry, allow_unicode=False, width=10_000))


def in_a_field(text: Text, piece: str) -> str:
    """The piece as a text of that kind, with what the kind asks for."""
    return (
        f"The template says {piece.replace('{', '{{').replace('}', '}}')}"
        if text.kind == "template"
        else piece
    )


def places(findings: list[Finding], codes: Iterable[str]) -> set[tuple[int, int]]:
    return {(each.line, each.column) for each in findings if each.code in codes and each.path == PATH}


@pytest.mark.parametrize("piece", CONTROLS.values(), ids=CONTROLS)
def test_what_a_terminal_obeys_is_refused_in_every_text(piece: str, content: Path, capsys: Captured) -> None:
    fields = entry_texts(ALL_KINDS)
    written(content, {text.field: in_a_field(text, piece) for text in fields})
    findings = examine(content)[1]
    assert len(places(findings, ["character"])) == len(fields)
    # Content with findings is shown all the same, and harms nobody.
    for command in (
        ["check", "--quiet"],
        ["check", "--quiet", "--format", "json"],
        ["check", "--quiet", "--format", "github"],
        ["check", "--quiet", "--format", "sarif"],
        ["explain", SLUG],
        ["find", piece + " template"],
        ["find", "--json", piece + " template"],
    ):
        run([*command, "--content", str(content)])
        told = capsys.readouterr()
        assert harm_in_terminal(told.out + told.err) == [], command


@pytest.mark.parametrize("piece", [*HTML.values(), *LINKS.values()], ids=[*HTML, *LINKS])
def test_markup_is_refused_in_every_text_that_has_some(piece: str, content: Path) -> None:
    fields = entry_texts(MARKED_UP)
    written(content, {text.field: piece for text in fields})
    findings = examine(content)[1]
    refused = {line for line, _ in places(findings, REFUSED)}
    assert len(refused) == len(fields), "\n".join(map(str, findings))


NO_TEXT = (
    "<script>owned</script>",
    "\x1b]0;owned\x07",
    "javascript:owned",
    "../../../etc/passwd",
    "\u202eowned",
    "",
)


def leaves(part: Any, field: FieldPath = ()) -> Iterator[FieldPath]:
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else None
    if items is None:
        yield field
    else:
        for key, value in items:
            yield from leaves(value, (*field, key))


@TURNS
def test_what_is_no_text_takes_nothing_hostile(turns: range, content: Path) -> None:
    """Ids, addresses, file names, versions, dates, numbers."""
    entry = yaml.load((golden.CONTENT / "failures" / SLUG / "entry.yaml").read_text(), yaml.BaseLoader)
    free = {text.field for text in entry_texts(ALL_KINDS)}
    fields = [field for field in leaves(entry) if field not in free]
    assert len(fields) > 40
    for number, field in enumerate(fields):
        for turn in range(len(NO_TEXT) if len(turns) > 3 else 1):
            piece = NO_TEXT[(number + turn) % len(NO_TEXT)]
            written(content, {field: piece})
            findings = examine(content)[1]
            assert any(each.severity == "error" for each in findings), (field, piece)
            assert harm_in_terminal("\n".join(map(str, findings)).replace("\n", "")) == [], (field, piece)


def accepted(content: Path, turn: int) -> Content:
    """The content with an entry that is hostile in each of its texts, as far as the checks let it."""
    harmless, markup = list(HARMLESS.values()), [*HTML.values(), *LINKS.values()]
    values = {}
    for number, text in enumerate(entry_texts(ALL_KINDS)):
        pieces = harmless if text.kind in MARKED_UP else [*harmless, *markup]
        values[text.field] = in_a_field(text, pieces[(number + turn) % len(pieces)])
    written(content, values)
    loaded, findings = examine(content)
    assert not places(findings, REFUSED), "\n".join(map(str, findings))
    assert SLUG in {each.slug for each in loaded.entries}, "\n".join(map(str, findings))
    return loaded


@functools.cache
def usual_files() -> dict[str, bytes]:
    files = site_files(golden.catalogue().content, ROOT, golden.BASE_URL)
    return {file.path: file.data for file in files}


@functools.cache
def usual() -> Tags:
    """The elements and attributes of all pages of the content in which nothing is hostile."""
    return Tags("".join(data.decode() for path, data in usual_files().items() if path.endswith(".html")))


def harm_in_page(path: str, text: str) -> list[str]:
    """What a page has that none has, or other scripts than it has with harmless content."""
    found = harm_in_html(text, usual())
    scripts = len(re.findall("<script", text)), len(re.findall("<script", usual_files()[path].decode()))
    return [each for each in found if not each.endswith(" scripts")] + (
        [f"{scripts} scripts"] if scripts[0] != scripts[1] else []
    )


def harm_in_feed(text: str) -> list[str]:
    feed = XML.fromstring(text)
    found = harm_in_terminal(text)
    for element in feed.iter():
        if element.get("type") == "html":
            shown = Tags(element.text or "")
            found += [f"<{tag}>" for tag in shown.elements if tag not in ("p", "code", "em", "strong", "a")]
        if "href" in element.attrib:
            found += [] if element.attrib["href"].startswith(golden.BASE_URL) else [element.attrib["href"]]
    return found


@TURNS
def test_what_is_accepted_does_nothing_in_any_file(turns: range, content: Path) -> None:
    for turn in turns:
        loaded = accepted(content, turn)
        for file in site_files(loaded, ROOT, golden.BASE_URL):
            kind = file.path.rpartition(".")[2]
            if kind not in ("html", "json", "md", "txt", "xml") or file.path.startswith("engine/"):
                continue
            text = file.data.decode()
            if kind == "html":
                harm = harm_in_page(file.path, text)
            elif kind == "xml" and "feed" in file.path:
                harm = harm_in_feed(text)
            elif kind == "json":
                harm = [*harm_in_terminal(text), *harm_in_terminal("".join(texts_of(json.loads(text))))]
            elif kind in ("md", "txt"):
                harm = harm_in_markdown(text)
            else:
                harm = harm_in_terminal(text)
            assert harm == [], (file.path, turn)
        entry = next(each for each in loaded.entries if each.slug == SLUG)
        assert harm_in_terminal(explain(entry, Catalogue(loaded))) == []


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_what_is_accepted_does_nothing_in_a_browser(content: Path, tmp_path: Path, browser: Browser) -> None:
    with served(tmp_path) as address:
        context = browser.new_context()
        page = context.new_page()
        wrong: list[str] = []
        page.on("request", lambda r: r.url.startswith((address, "blob:", "data:")) or wrong.append(r.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda m: m.type == "error" and wrong.append(m.text))
        for turn in (0, 10, 20):
            write_site(site_files(accepted(content, turn), ROOT, f"{address}site/"), tmp_path / "site")
            for path in ("", f"failures/{SLUG}/", "failures/", "signatures/", "deepspeed/"):
                page.goto(f"{address}site/{path}")
                page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
                page.mouse.move(400, 400)
                assert page.evaluate("window.owned") is None, (turn, path)
        context.close()
        # There is no full-text index here.
        assert [each for each in wrong if "404" not in each and "pagefind" not in each] == []


# --- a log -------------------------------------------------------------------------------------------

BYTES = {
    "lone surrogates": b"\xed\xa0\x80\xed\xb0\x80 \xed\xb3\xbf",
    "overlong": b"\xc0\xaf\xe0\x80\xaf\xc0\x80",
    "no UTF-8": b"\x80\x81\x9b31m\xff\xfe\xfd",
    "UTF-16 marks inside": b"a \xff\xfe \xfe\xff b",
    "a megabyte": b"A" * 1_000_000,
    "a word of escapes": b"\x1b" * 5_000 + b"[31m",
}
PIECES = {
    **{name: text.encode() for name, text in {**CONTROLS, **HTML, **LINKS, **HARMLESS}.items()},
    **BYTES,
}


def log_of(piece: bytes) -> bytes:
    """A run that ends by an exception, with the piece wherever a log may hold something of a stranger."""
    return b"".join(
        [
            b"[rank1]: loading " + piece + b"\n" + piece + b"\n",
            b"[rank1]: Traceback (most recent call last):\n",
            b'[rank1]:   File "/data/run/' + piece + b'.py", line 3, in load\n',
            b"[rank1]:     raise ValueError(name)\n",
            b"[rank1]: ValueError: shard " + piece + b" holds no samples\n",
            b"worker-" + piece + b": [rank0]: NCCL WARN " + piece + b"\n",
            b"ERROR " + piece + b" exits with return code = -9\n",
        ]
    )


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of hostile logs, some under hostile names, and two that can't be read."""
    folder = tmp_path_factory.mktemp("logs")
    for number, piece in enumerate(PIECES.values()):
        (folder / f"rank_{number}.log").write_bytes(log_of(piece))
    for name in (b"\x1b]0;owned\x07.log", b"\xe2\x80\xaegol.log", b"\xff\x9b31m.log", b"<img src=x>.log"):
        Path(os.fsdecode(bytes(folder) + b"/" + name)).write_bytes(log_of(b"x"))
    for name in ("\x1b]0;broken\x07.gz", "\u202ebroken.gz"):
        (folder / name).write_bytes(b"\x1f\x8b\x08broken")
    return folder


def on_a_terminal(*arguments: str) -> str:
    """What a command writes to a terminal, of both its streams."""
    ours, theirs = pty.openpty()
    command = [sys.executable, str(ROOT / "build.py"), *arguments]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 65_536):
            shown += data
    except OSError:
        pass  # Linux says EIO once nobody has the other end open.
    finally:
        os.close(ours)
    assert process.wait(timeout=60) in (1, 2)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("fmt", ["text", "json", "markdown"])
def test_a_hostile_log_does_nothing_to_a_terminal(logs: Path, fmt: str) -> None:
    shown = on_a_terminal("diagnose", str(logs), "--format", fmt, "--content", str(golden.CONTENT))
    assert "Traceback" not in shown
    assert "\\x1b]0;broken\\x07.gz" in shown
    assert harm_in_terminal(shown) == []


@pytest.mark.parametrize("name", PIECES)
def test_each_hostile_log_is_diagnosed(logs: Path, name: str, capsys: Captured) -> None:
    path = logs / f"rank_{list(PIECES).index(name)}.log"
    code = run(["diagnose", str(path), "--json", "--content", str(golden.CONTENT)])
    answer = json.loads(capsys.readouterr().out)
    assert code == 1
    assert answer["initiating"]["text"].startswith("[rank1]: ValueError: shard")
    assert run(["diagnose", str(path), "--format", "markdown", "--content", str(golden.CONTENT)]) == 1
    assert harm_in_markdown(capsys.readouterr().out) == []


def test_a_hostile_log_does_nothing_to_the_page(page: Page, address: str, logs: Path) -> None:
    page.goto(address + DIAGNOSE)
    page.evaluate("document.title = 'mine'")
    page.locator("#folder").set_input_files(logs)
    expect(verdict(page)).to_be_visible()
    page.evaluate("for (const part of document.querySelectorAll('#told details')) part.open = true")
    foreign = "#told :is(script, img, iframe, embed, object, base, meta, link, style, form, video)"
    assert page.locator(foreign).count() == 0
    assert page.evaluate("window.owned") is None
    assert harm_in_terminal(page.evaluate("document.querySelector('main').textContent")) == []
    links = page.evaluate("[...document.querySelectorAll('#told a')].map(link => link.href)")
    assert [link for link in links if not link.startswith(address)] == []
    names = page.evaluate("[...document.querySelectorAll('#told *')].flatMap(e => e.getAttributeNames())")
    assert [name for name in names if name.startswith("on") or name == "srcdoc"] == []
    assert page.title() == "mine"
