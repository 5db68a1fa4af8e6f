"""The real server in a process of its own: reloads on a change, findings over the page, a clean end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from generator import search_index
from generator.serve import Options, Problem, Site, Snapshot, _answer, make

ROOT = Path(__file__).parents[1]
RIGHT = Path(__file__).parent / "malformed" / "content"
ENTRY = "failures/port-taken/entry.yaml"


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return shutil.copytree(RIGHT, tmp_path / "content")


@contextmanager
def serving(content: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server's process and its address; what it printed before the address is dropped."""
    command = [sys.executable, str(ROOT / "build.py"), "serve", "--port", "0", "--content", str(content)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        address = next(line.strip() for line in process.stdout if line.startswith("http://"))
        yield process, address
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        finally:
            process.kill()
            process.stdout.close()


def get(address: str) -> HTTPResponse | urllib.error.HTTPError:
    try:
        response: HTTPResponse = urllib.request.urlopen(address, timeout=30)
    except urllib.error.HTTPError as error:
        return error
    return response


def await_title(address: str, title: str) -> None:
    """Follow the server's versions until the entry has the title; none that brings it ends in an error."""
    while True:
        page = get(f"{address}failures/port-taken/").read().decode()
        if title in page:
            return
        seen = page.partition('data-version="')[2].partition('"')[0]
        with urllib.request.urlopen(f"{address}_serve/events?seen={seen}", timeout=10) as events:
            while not (line := events.readline()).startswith(b"data"):
                assert line, "the server ended"


def edit(content: Path, old: str, new: str) -> None:
    path = content / ENTRY
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_change_shows_in_an_open_page(content: Path, browser: Browser) -> None:
    with serving(content) as (process, address):
        page = browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(f"{address}failures/port-taken/")
        edit(content, "title: Address already in use at launch", "title: The port is taken")
        expect(page).to_have_title(re.compile("^The port is taken"))

        edit(content, "family: launch", "family: lunch")
        findings = page.locator(".serve-findings")
        findings.wait_for()
        assert "no family is named 'lunch'" in findings.inner_text()
        assert page.title().startswith("The port is taken")
        findings.get_by_role("link", name=re.compile("lunch")).click()
        marked = page.locator("li.at")
        assert marked.inner_text() == "family: lunch"
        assert page.get_by_role("link", name="Open it in VS Code").get_attribute("href") == (
            f"vscode://file{content}/{ENTRY}:{marked.get_attribute('id').removeprefix('line-')}"  # type: ignore[union-attr]
        )
        page.go_back()
        findings.wait_for()
        # The style of the findings came through the site's policy.
        assert findings.evaluate("element => getComputedStyle(element).position") == "fixed"

        edit(content, "family: lunch", "family: launch")
        findings.wait_for(state="detached")
        assert errors == []
        # The open page holds a stream of events; the server ends at once all the same.
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        page.close()


def test_what_is_served_and_how(content: Path) -> None:
    with serving(content) as (_, address):
        home = get(address)
        assert home.status == 200
        assert home.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "unsafe-inline" not in home.headers["Content-Security-Policy"]
        assert b'<script src="/_serve/reload.js"' in home.read()
        assert get(f"{address}failures/port-taken").url == f"{address}failures/port-taken/"
        assert get(f"{address}css/site.css").headers["Content-Type"] == "text/css; charset=utf-8"
        assert get(f"{address}api/v1/signatures.json").status == 200
        assert (
            "title: Address already" in get(f"{address}_serve/source/content/{ENTRY}?line=2").read().decode()
        )
        content.with_name("beside.log").write_text("no content")
        for up in ("..", "%2e%2e"):
            assert get(f"{address}_serve/source/content/{up}/beside.log").status == 404
            assert get(f"{address}_serve/source/content/{up}/content/{ENTRY}").status == 200
        os.mkfifo(content / "healthy/pipe.log")
        assert get(f"{address}_serve/source/content/healthy/pipe.log").status == 404
        assert get(f"{address}_serve/source/content/{ENTRY}?line={'9' * 6000}").status == 200
        for path in ("nope", "nope/", "../README.md", "%2e%2e/README.md", "failures/%00", "_serve/nope"):
            assert get(address + path).status == 404


def test_a_content_folder_that_is_replaced_is_watched_again(content: Path) -> None:
    """As by a checkout that lacks it, and one that has it."""
    with serving(content) as (_, address):
        for title in ("Gone and back", "Seen again"):
            seen = get(address).read().decode().partition('data-version="')[2].partition('"')[0]
            with urllib.request.urlopen(f"{address}_serve/events?seen={seen}", timeout=30) as events:
                if title == "Gone and back":
                    shutil.rmtree(content)
                    events.readline()
                    shutil.copytree(RIGHT, content)
                edit(content, "title: ", f"title: {title} ")
                events.readline()
            await_title(address, title)


@pytest.mark.parametrize(
    ("old", "new", "state"),
    [
        ("family: launch", "family: lunch", "shown without the entries that have errors"),
        ("title: Address", "titel: Address", "shown without the entries that have errors"),
        ("grade: inferred", "grade: source", "shown as it is"),
    ],
)
def test_an_entry_with_errors_hides_no_other(content: Path, old: str, new: str, state: str) -> None:
    edit(content, old, new)
    with serving(content) as (_, address):
        answer = get(f"{address}failures/disk-full/")
        assert answer.status == 200
        text = answer.read().decode()
        assert re.search(f"[12] findings?; {state}", text)
        assert ENTRY in text
        assert get(f"{address}failures/port-taken/").status == (200 if state == "shown as it is" else 404)
        gone = get(f"{address}failures/port-taken/").read()
        assert (b"one with errors" in gone) == (state != "shown as it is")
        # Once it is right, the waiting page is told.
        seen = text.partition('data-version="')[2].partition('"')[0]
        with urllib.request.urlopen(f"{address}_serve/events?seen={seen}", timeout=30) as events:
            edit(content, new, old)
            assert events.readline() == b"data: changed\n"
        assert b"serve-findings" not in get(f"{address}failures/port-taken/").read()


def test_no_site_at_all_is_a_page(content: Path) -> None:
    (content / "taxonomy/phases.yaml").unlink()
    with serving(content) as (_, address):
        answer = get(address)
        assert answer.status == 500
        assert "there is no good site yet" in answer.read().decode()


def test_a_taken_port_is_one_line(content: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [
            sys.executable,
            str(ROOT / "build.py"),
            "serve",
            "--port",
            str(port),
            "--content",
            str(content),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    assert (
        done.stderr
        == f"firstfault: port {port} of 127.0.0.1 is taken; name another with --port (make serve PORT=8001), 0 is any free one\n"
    )


def test_the_index_is_what_pagefind_adds(content: Path) -> None:
    snapshot = make(Options(content=content))
    assert snapshot.documents is not None
    added = search_index.index_files(snapshot.documents)
    assert "pagefind/pagefind.js" in added
    assert all(path.startswith("pagefind/") for path in added)
    assert snapshot.files is not None
    site = Site(files=snapshot.files, index=added)
    answer = _answer(site, "pagefind/pagefind.js")
    assert (answer.status_code, answer.media_type) == (200, "text/javascript")


def test_the_last_good_site_stays_under_problems() -> None:
    site = Site()
    site.take(Snapshot({"index.html": b"<body>good</body>"}))
    version = site.version
    site.take(Snapshot(None, (Problem("a <b> problem"),)))
    body = bytes(_answer(site, "").body)
    assert b"good" in body
    assert b"a &lt;b&gt; problem" in body
    assert site.version > version


def test_a_broken_template_is_a_problem(
    content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    templates = shutil.copytree(ROOT / "templates", tmp_path / "templates")
    (templates / "home.html").write_text("{% block %}")
    monkeypatch.setattr("generator.render.ROOT", tmp_path)
    snapshot = make(Options(content=content))
    assert snapshot.files is None
    assert "home.html:1: template: " in snapshot.problems[0].text
