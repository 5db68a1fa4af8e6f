"""The real server in a process of its own: reloads on a change, findings over the page, a clean end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from generator import search_index
from generator.catalogue import Catalogue
from generator.checks import examine, examine_logs
from generator.load import load
from generator.serve.editions import Editions
from generator.serve.workshop import LAST, NONE, SHOWN, WITHOUT, Workshop

ROOT = Path(__file__).parents[1]
RIGHT = Path(__file__).parent / "malformed" / "content"
ENTRY = "failures/port-taken/entry.yaml"


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return shutil.copytree(RIGHT, tmp_path / "content")


@contextmanager
def serving(content: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server's process and its address, once it has read the content."""
    command = [sys.executable, str(ROOT / "build.py"), "serve", "--port", "0", "--content", str(content)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        address = next(line.strip() for line in process.stdout if line.startswith("http://"))
        # A program's first answer comes when everything is read; a browser gets a page that says so.
        get(address)
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


def awaited(address: str, path: str, told: Callable[[str], object]) -> str:
    """The page once it tells what is awaited: after each version and each word of findings it is asked for again."""
    while not told(page := get(address + path).read().decode()):
        version, word = (
            page.partition(f'data-{name}="')[2].partition('"')[0] for name in ("version", "told")
        )
        with urllib.request.urlopen(
            f"{address}_serve/events?seen={version}&told={word}", timeout=60
        ) as events:
            while not (line := events.readline()).startswith(b"data"):
                assert line, "the server ended"
    return page


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


def test_findings_that_follow_are_laid_over_the_page_as_it_is(content: Path, browser: Browser) -> None:
    other = (content / "failures/disk-full/entry.yaml").read_text()
    summary = re.search("(?m)^summary: .*$", other)
    assert summary is not None
    with serving(content) as (_, address):
        page = browser.new_page()
        page.goto(f"{address}failures/port-taken/")
        text = re.sub("(?m)^summary: .*$", summary[0], (content / ENTRY).read_text())
        (content / ENTRY).write_text(re.sub("(?m)^title: .*$", "title: Another title", text))
        expect(page).to_have_title(re.compile("^Another title"))
        page.evaluate("window.sameDocument = true")
        findings = page.locator(".serve-findings")
        expect(findings).to_contain_text("this sentence stands elsewhere", timeout=60_000)
        assert page.evaluate("window.sameDocument") is True
        page.close()


def test_small_answers_do_not_wait(content: Path) -> None:
    """For 40 ms, as they do where a socket gathers what is small until the other side acknowledges."""
    with serving(content) as (_, address):
        connection = HTTPConnection(address.removeprefix("http://").rstrip("/"))
        took = []
        for _ in range(10):
            start = time.perf_counter()
            connection.request("GET", "/_serve/reload.js")
            connection.getresponse().read()
            took.append(time.perf_counter() - start)
        connection.close()
    assert min(took[1:]) < 0.03


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


def test_styles_and_scripts_are_kept_while_they_are_the_same(content: Path, browser: Browser) -> None:
    with serving(content) as (_, address):
        page = browser.new_page()
        page.goto(f"{address}failures/port-taken/")
        edit(content, "title: Address already in use at launch", "title: The port is taken")
        expect(page).to_have_title(re.compile("^The port is taken"))
        page.wait_for_load_state("load")
        sizes = page.evaluate(
            "performance.getEntriesByType('resource').filter((r) => /(css|js)\\?/.test(r.name)).map((r) => r.transferSize)"
        )
        assert len(sizes) > 2
        assert set(sizes) == {0}
        style = page.locator("link[rel=stylesheet]").first.evaluate("link => link.href")
        assert "immutable" in (get(style).headers["Cache-Control"] or "")
        for other in ("?edition=0", ""):
            assert get(style.partition("?")[0] + other).headers["Cache-Control"] == "no-store"
        page.close()


def test_a_style_or_script_that_changes_has_another_edition(tmp_path: Path) -> None:
    (tmp_path / "css").mkdir()
    style = tmp_path / "css/entry.css"
    style.write_text("a { color: red }")
    editions = Editions(tmp_path)
    first = editions.now()
    assert editions.now() == first
    assert editions.linked(b'<link href="../css/site.css"><a href="../cssx/">') == (
        f'<link href="../css/site.css?edition={first}"><a href="../cssx/">'.encode()
    )
    style.write_text("a { color: tan }")
    second = editions.now()
    (tmp_path / "css/more.css").write_text("")
    assert len({first, second, editions.now(), Editions(tmp_path).now()}) == 4


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
            awaited(address, "failures/port-taken/", lambda page, title=title: title in page)


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
        assert get(f"{address}failures/disk-full/").status == 200
        text = awaited(address, "failures/disk-full/", re.compile(f"[12] findings?; {state}").search)
        assert ENTRY in text
        assert get(f"{address}failures/port-taken/").status == (200 if state == "shown as it is" else 404)
        gone = get(f"{address}failures/port-taken/").read()
        assert (b"one with errors" in gone) == (state != "shown as it is")
        # Once it is right, the waiting page is told.
        seen = text.partition('data-version="')[2].partition('"')[0]
        with urllib.request.urlopen(f"{address}_serve/events?seen={seen}", timeout=30) as events:
            edit(content, new, old)
            while (line := events.readline()) != b"data: changed\n":
                assert line, "the server ended"
        awaited(address, "failures/port-taken/", lambda page: "serve-findings" not in page)


def test_what_no_list_can_show_is_left_out(content: Path) -> None:
    (content / "taxonomy/phases.yaml").unlink()
    workshop = Workshop(content, ROOT)
    home = workshop.answer("")
    assert home.state.words == WITHOUT
    assert any("phases.yaml" in problem.text for problem in home.state.problems)
    assert home.data is not None
    assert b"failures/port-taken/" not in home.data
    assert workshop.answer("failures/port-taken/").data is None


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
    workshop = Workshop(content, ROOT)
    made = workshop.index("")
    assert made.files == search_index.index_files(search_index.documents(Catalogue(load(content)[0])))
    assert made.failed == ""
    # It is made anew where something else can be found.
    assert workshop.index(made.digest).files is None
    edit(content, "title: Address", "title: The address")
    workshop.look([content / ENTRY])
    assert workshop.index(made.digest).files not in (None, made.files)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of what pages are made with, which a test may change."""
    for name in ("templates", "static"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_last_good_page_stays_under_problems(content: Path, root: Path) -> None:
    workshop = Workshop(content, root)
    good = workshop.answer("failures/port-taken/")
    assert (good.data is None, good.state.problems, good.state.words) == (False, (), SHOWN)

    edit(content, "title: Address", "titel: Address")
    workshop.look([content / ENTRY])
    kept = workshop.answer("failures/port-taken/")
    assert kept.data == good.data
    assert kept.state.words == LAST
    assert "'title' is missing" in kept.state.problems[0].text
    assert kept.state.version > good.state.version
    # Others are shown as they are now, without it.
    other = workshop.answer("failures/disk-full/")
    assert other.state.words == WITHOUT
    assert b"failures/port-taken/" not in (other.data or b"")

    # Of an entry that is gone nothing stays.
    shutil.rmtree(content / "failures/port-taken")
    workshop.look([content / ENTRY])
    assert workshop.answer("failures/port-taken/").data is None


def test_a_broken_template_is_a_problem(content: Path, root: Path) -> None:
    workshop = Workshop(content, root)
    home = root / "templates/home.html"
    before, good = home.read_text(), workshop.answer("")
    home.write_text("{% block %}")
    workshop.look([home])
    broken = workshop.answer("")
    assert (broken.data, broken.state.words) == (good.data, LAST)
    assert "home.html:1: template: " in broken.state.problems[0].text
    # What doesn't need it is as good as ever; what looks at everything finds the mistake, too.
    assert workshop.answer("failures/port-taken/").state.words == SHOWN
    workshop.found_pages(*workshop.look_through_pages())
    assert "home.html:1: template: " in workshop.answer("failures/port-taken/").state.problems[0].text
    # A page that never was good has nothing to stay.
    assert Workshop(content, root).answer("").state.words == NONE

    home.write_text(before)
    workshop.look([home])
    assert workshop.answer("").data == good.data
    workshop.found_pages(*workshop.look_through_pages())
    assert workshop.state.problems == ()


def test_findings_are_in_the_end_those_of_check(content: Path) -> None:
    workshop = Workshop(content, ROOT)

    def shown() -> list[str]:
        return [problem.text for problem in workshop.tell().problems]

    def of_check() -> list[str]:
        loaded, findings = examine(content)
        return list(map(str, sorted([*findings, *examine_logs(loaded)])))

    def follow() -> None:
        workshop.found(*workshop.look_through())
        workshop.found_logs(*workshop.look_through_logs())

    follow()
    assert shown() == of_check() == []
    # Its own finding is there at once, another's that is its fault follows.
    edit(content, "grade: inferred", "grade: source")
    other = (content / "failures/disk-full/entry.yaml").read_text()
    summary = re.search(r"^summary: (.*)$", other, re.MULTILINE)
    assert summary is not None
    path = content / ENTRY
    path.write_text(re.sub("(?m)^summary: .*$", summary[0], path.read_text()))
    workshop.look([path])
    assert len(shown()) == 1
    assert "port-taken" in shown()[0]
    follow()
    assert shown() == of_check()
    assert any("repeated-sentence" in text for text in shown())

    # What was found before an edit and told after it does not hide what the edit brought.
    before = workshop.look_through()
    edit(content, "family: launch", "family: lunch")
    workshop.look([path])
    assert any("lunch" in text for text in shown())
    workshop.found(*before)
    assert any("lunch" in text for text in shown())
    follow()
    assert shown() == of_check()
