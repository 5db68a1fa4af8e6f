"""What reviewers are told of a change, and which links are found dead."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree

import pytest

from generator.links import dead, links_of
from generator.load import load
from generator.review import content_at, review

ROOT = Path(__file__).parents[1]
RIGHT = Path(__file__).parent / "malformed" / "content"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with content in which nothing is wrong, committed."""
    copytree(RIGHT, tmp_path / "content")
    for command in ("init -q", "add .", "commit -q -m base"):
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *command.split()]
        subprocess.run(git, cwd=tmp_path, check=True)
    return tmp_path


def test_nothing_changed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    base = content_at("HEAD", tmp_path_factory.mktemp("base"), repository)
    said = review(base, load(repository / "content")[0])
    assert "No page is different." in said
    assert "The same as before, of every log." in said


def test_a_changed_entry_and_its_log(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    base = content_at("HEAD", tmp_path_factory.mktemp("base"), repository)
    folder = repository / "content" / "failures" / "port-taken"
    entry = folder / "entry.yaml"
    entry.write_text(entry.read_text().replace("title: ", "title: X ", 1))
    log = folder / "run.log"
    log.write_text("nothing of note\n")
    now, findings = load(repository / "content")
    assert findings == []
    said = review(base, now)
    assert "`/failures/port-taken/`" in said.split("###")[1]
    assert "`port-taken/run.log`" in said.split("###")[2]


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response({"/ok": 200, "/refused": 403, "/gone": 404}.get(self.path, 500))
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def host() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_dead_links_are_told_and_no_others(host: str) -> None:
    asked = [f"{host}/{path}" for path in ("ok", "refused", "gone", "broken")]
    nobody = "http://127.0.0.1:9/"
    found = dead([*asked, nobody])
    assert list(found) == [f"{host}/gone", f"{host}/broken", nobody]
    assert found[f"{host}/gone"].startswith("404")


def test_every_reference_is_asked_once() -> None:
    content, _ = load(ROOT / "content")
    links = links_of(content)
    told = {ref.url.partition("#")[0] for each in content.entries for ref in each.entry.references}
    assert links.keys() == {url for url in told if url.startswith("http")}
    assert all(slugs for slugs in links.values())
