"""Messages out of source, signatures against them, releases out of an index, and what is recorded of it."""

from __future__ import annotations

import functools
import io
import json
import os
import re
import shutil
import tarfile
import threading
from collections.abc import Iterator, Mapping
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from zipfile import ZipFile

import pytest

from generator.catalogue import Catalogue
from generator.checks import examine
from generator.checks.evidence import contradiction
from generator.cli import run
from generator.evidence import coverage, match, record
from generator.evidence.messages import Message, messages, read_template, split
from generator.evidence.packages import PackageError, last_of_each_minor, open_index
from generator.evidence.record import Found, Looked
from generator.load import load
from generator.model import Source

Captured = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[1]
RIGHT = Path(__file__).parent / "malformed" / "content"


@pytest.mark.parametrize(
    ("source", "template", "kind"),
    [
        ('raise ValueError("a plain text")', "a plain text", "raise"),
        ('raise ValueError(f"got {x.y!r:>4}, not {{z}}")', "got {}, not {{z}}", "raise"),
        ('raise ValueError("one "\n    f"two {x}"\n    " three")', "one two {} three", "raise"),
        ('raise ValueError("one " + str(x) + " two")', "one {} two", "raise"),
        ('raise ValueError("%s of %(n)d at %.2f%%" % x)', "{} of {} at {}%%", "raise"),
        ('raise ValueError("{} of {name}".format(1, name=2))', "{} of {}", "raise"),
        ('def f():\n  text = "one"\n  text += f" two {x}"\n  raise ValueError(text)', "one two {}", "raise"),
        ('KEY = "stage"\ndef f():\n  raise ValueError(f"no {KEY} {x}")', "no stage {}", "raise"),
        ('assert x, "x is needed"', "x is needed", "assert"),
        ('logger.warning("%s is slow", x)', "{} is slow", "log"),
        ('print("saved", path, "twice")', "saved {} twice", "other"),
    ],
)
def test_a_message_is_read_as_it_is_printed(source: str, template: str, kind: str) -> None:
    found = [(one.template, one.kind) for one in messages(source.encode())]
    assert (template, kind) in found, found


def test_what_is_no_message_is_not_read() -> None:
    source = b'"""Of the module."""\ndef f():\n    """Of f."""\n    logger.info("started")\n    raise ValueError(x)\n'
    assert [one.template for one in messages(source)] == ["started"]
    assert messages(b"print 'of Python 2'") == ()
    assert messages(b"x = 1\0") == ()


@pytest.mark.parametrize("text", ["a {x} b", "{} at both ends {}", "{'a': 1}", "100% of %s", ""])
def test_a_template_is_read_back(text: str) -> None:
    pieces = split(text)
    assert read_template(Message(pieces, 1, "other").template) == pieces


@pytest.mark.parametrize(
    ("signature", "upstream", "agree"),
    [
        ("has {int} files under '{path}'", "has {} files under '{}'.", True),
        ("ValueError: Type fp16 is not supported.", "Type fp16 is not supported.", True),
        (
            "Unable to JIT load the cpu_adam op due to ninja",
            "Unable to JIT load the {} op due to ninja",
            True,
        ),
        ("rank {int} of size {num} is gone", "rank 3 of size {} is gone", True),
        ("{{'id': {int}, 'status': 'INFLIGHT'", "{{'id': {}, 'status': 'INFLIGHT'}}", True),
        ("first line\nsecond line", "the first line \n  second line", True),
        ("is not equal to world_size{num} !=", "is not equal to world_size {} != {}", False),
        ("is currently not supported", "are currently not supported", False),
        ("first line second line", "first line\nsecond line", False),
        ("rank {int} is gone", "rank zero is gone", False),
        ("'Parameter' object has no attribute 'ds_{word}'", "'{}' object has no attribute '{}'", False),
        ("anything at all that is long enough", "{}", False),
    ],
)
def test_a_signature_agrees_with_the_message_that_prints_it(
    signature: str, upstream: str, agree: bool
) -> None:
    pattern = match.of_pieces(read_template(upstream))
    assert match.agrees(match.of_signature(signature), pattern) is agree


SAMPLE = "firstfault-sample"
OLD = 'def f(n):\n    raise OSError("[Errno 98] Address in use")\n'
NEW = 'def f(n):\n    raise OSError(\n        f"[Errno {n}] Address "\n        "already in use")\n'
MOVED = {"sample/net/ports.py": NEW, "csrc/x.cu": 'printf("Error %s at line %d\\n", a, b);\n'}
RELEASES: Mapping[str, Mapping[str, str]] = {
    "0.9": {"sample/ports.py": OLD},
    "1.0": {"sample/ports.py": NEW},
    "1.0.1": {"sample/ports.py": NEW, "tests/test_x.py": 'raise ValueError("only of a test")\n'},
    "1.2rc1": {"sample/ports.py": OLD},
    "2.0": MOVED,
}


class RangeHandler(SimpleHTTPRequestHandler):
    """A static host that serves ranges, as package hosts do."""

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked is None:
            return super().do_GET()
        data = Path(self.translate_path(self.path)).read_bytes()[int(asked[1]) : int(asked[2]) + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """pip is configured for an index on this machine; a folder of it is a package."""
    folder = tmp_path / "index"
    for version, files in RELEASES.items():
        _sdist(folder / SAMPLE, version, files)
    handler = functools.partial(RangeHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    yield folder
    server.shutdown()
    server.server_close()


def _sdist(folder: Path, version: str, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"firstfault_sample-{version}"
    with tarfile.open(folder / f"{stem}.tar.gz", "w:gz") as archive:
        for name, text in {**files, "setup.py": "raise SystemExit('executed')\n"}.items():
            info = tarfile.TarInfo(f"{stem}/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    _list(folder)


def _list(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir() if path.name != "index.html")
    links = "".join(f'<a href="{name}">{name}</a>\n' for name in names)
    (folder / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")


def test_final_releases_are_listed_and_only_sources_are_read(index: Path, tmp_path: Path) -> None:
    with open_index(tmp_path / "cache") as opened:
        releases = opened.releases(SAMPLE)
        assert [str(release.version) for release in releases] == ["0.9", "1.0", "1.0.1", "2.0"]
        assert [str(release.version) for release in last_of_each_minor(releases)] == ["0.9", "1.0.1", "2.0"]
        assert opened.is_light(SAMPLE)
        with opened.sources(releases[2]) as sources:
            assert sources.namelist() == ["sample/ports.py", "setup.py"]
    shutil.rmtree(index / SAMPLE)
    with open_index(tmp_path / "cache") as opened:
        with opened.sources(releases[2]) as sources:
            assert sources.read("sample/ports.py").decode() == NEW
        with pytest.raises(PackageError, match="no release of firstfault-sample"):
            opened.releases(SAMPLE)


def test_of_a_wheel_only_what_is_needed_is_read(index: Path, tmp_path: Path) -> None:
    wheel = index / SAMPLE / "firstfault_sample-3.0-cp311-cp311-manylinux_2_28_x86_64.whl"
    filler = os.urandom(9_000_000)
    with ZipFile(wheel, "w") as archive:
        archive.writestr("sample/ports.py", NEW)
        archive.writestr("sample/large.so", filler + b"Error %s at line %d\n\0" + filler)
    _list(index / SAMPLE)
    with open_index(tmp_path / "cache") as opened:
        newest = opened.releases(SAMPLE)[-1]
        assert not opened.is_light(SAMPLE)
        with opened.sources(newest) as sources:
            assert sources.namelist() == ["sample/ports.py"]
        assert opened.in_binaries(newest, [b"Error %s at line %d\n", b"absent"]) == {
            b"Error %s at line %d\n": "sample/large.so",
            b"absent": None,
        }


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """The small folder that is right, with an entry whose message is the sample's."""
    folder = shutil.copytree(RIGHT, tmp_path / "content")
    systems = folder / "taxonomy" / "systems.yaml"
    systems.write_text(systems.read_text().replace("package: torch", f"package: {SAMPLE}"))
    _edit(
        folder,
        "    usually: The failure itself.\n",
        "    usually: The failure itself.\n    source:\n      project: pytorch\n      file: sample/ports.py\n"
        '      versions: ">=1.0"\n',
    )
    return folder


def _edit(content: Path, old: str, new: str) -> None:
    entry = content / "failures" / "port-taken" / "entry.yaml"
    assert old in entry.read_text()
    entry.write_text(entry.read_text().replace(old, new))


def _verify(content: Path, *arguments: str) -> int:
    cache = content.parent / "cache"
    return run(["verify", *arguments, "--quiet", "--cache", str(cache), "--content", str(content)])


def _codes(content: Path) -> list[str]:
    return [finding.code for finding in examine(content)[1]]


def test_verify_records_where_a_message_is(index: Path, content: Path, capsys: Captured) -> None:
    assert _verify(content, "port-taken") == 0
    assert "the newest has it in sample/net/ports.py" in capsys.readouterr().out
    found = json.loads((content / "failures/port-taken/evidence.json").read_text())["signatures"]["in-use"]
    assert found["found"] == [["1.0", "2.0"]]
    assert found["lacking"] == ["0.9"]
    assert (found["file"], found["line"], found["matched"]) == ("sample/net/ports.py", 3, "text")
    assert found["looked"] == {"first": "0.9", "last": "2.0", "count": 4, "which": "every release"}
    assert _codes(content) == []


def test_a_claim_that_no_release_bears_out_fails(index: Path, content: Path, capsys: Captured) -> None:
    _edit(content, '">=1.0"', '">=0.9"')
    assert _verify(content, "port-taken") == 1
    assert "versions is >=0.9, but 0.9 of firstfault-sample lacks it" in capsys.readouterr().out
    _edit(content, "Address already in use", "Address never in use")
    assert _verify(content, "port-taken") == 1
    assert "no release of firstfault-sample has" in capsys.readouterr().out
    assert not (content / "failures/port-taken/evidence.json").exists()


def test_a_changed_signature_needs_new_evidence(index: Path, content: Path) -> None:
    assert _verify(content, "port-taken") == 0
    _edit(content, "Address already in use", "Address is already in use")
    assert _codes(content) == ["stale-evidence"]
    _edit(content, "Address is already in use", "Address already in use")
    _edit(content, '">=1.0"', '">=0.9"')
    assert _codes(content) == ["stale-evidence"]


def test_a_literal_counts_where_the_text_is_assembled(index: Path, content: Path) -> None:
    _edit(content, "[Errno 98] Address already in use", "Error out of memory at line {int} of it")
    _edit(content, "file: sample/ports.py", 'file: csrc/x.cu\n      literal: "Error %s at line %d"')
    _edit(content, '">=1.0"', '"==2.0"')
    assert _verify(content, "port-taken") == 0
    found = json.loads((content / "failures/port-taken/evidence.json").read_text())["signatures"]["in-use"]
    assert (found["file"], found["line"], found["matched"]) == ("csrc/x.cu", 1, "literal")


def test_an_index_without_the_package_is_told_in_one_line(
    index: Path, content: Path, capsys: Captured
) -> None:
    shutil.rmtree(index / SAMPLE)
    assert _verify(content, "port-taken") == 2
    assert capsys.readouterr().err == f"firstfault: the index has no release of {SAMPLE}\n"
    assert _verify(content, "port-take") == 2
    assert "did you mean" in capsys.readouterr().err


def _with_messages(content: Path, files: Mapping[str, list[tuple[int, str]]]) -> None:
    (content / "evidence").mkdir()
    recorded = {"package": "deepspeed", "version": "1.0", "sites": 3, "files": files}
    (content / "evidence" / coverage.FILE).write_text(json.dumps(recorded))


def test_coverage_counts_what_signatures_match(content: Path, capsys: Captured) -> None:
    _with_messages(
        content,
        {
            "deepspeed/comm/comm.py": [
                (3, "[Errno {}] Address already in use: {}"),
                (9, "no such backend {}"),
            ],
            "deepspeed/runtime/engine.py": [(4, "{} is already in use")],
        },
    )
    counted = coverage.coverage(Catalogue(load(content)[0]))
    assert counted is not None
    assert counted.areas == {"comm": (1, 2), "engine": (0, 1)}
    assert (counted.matched, counted.total) == (1, 3)
    assert counted.templates[0].signatures == ("port-taken/in-use",)
    assert run(["coverage", "--missing", "comm", "--content", str(content)]) == 0
    assert capsys.readouterr().out == "deepspeed/comm/comm.py:9: no such backend {}\n"
    assert run(["coverage", "--json", "--content", str(content)]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 3
    assert run(["coverage", "--missing", "com", "--content", str(content)]) == 2


def test_the_messages_of_a_release_are_counted_once_each(tmp_path: Path) -> None:
    path = tmp_path / "sources.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("deepspeed/a.py", 'raise ValueError("one")\nassert x, "two"\n')
        archive.writestr("deepspeed/b.py", 'raise ValueError("one")\nprint("three")\n')
        archive.writestr("setup.py", 'raise ValueError("four")\n')
    with ZipFile(path) as sources:
        found = coverage.messages_of(sources, "1.0")
    assert found.sites == 3
    assert found.files == {"deepspeed/a.py": ((1, "one"), (2, "two"))}


def test_the_recorded_messages_are_about_as_many_as_were_counted_by_hand() -> None:
    counted = coverage.coverage(Catalogue(load(ROOT / "content")[0]))
    assert counted is not None
    assert 1500 < counted.total <= counted.sites < 2500
    assert "elsewhere" in counted.areas
    assert counted.areas["elsewhere"][1] < counted.total / 20


def test_recorded_evidence_is_small() -> None:
    for path in sorted((ROOT / "content" / "failures").glob(f"*/{record.FILE}")):
        assert path.stat().st_size < 12_000, path
    assert (ROOT / "content" / "evidence" / coverage.FILE).stat().st_size < 300_000


@pytest.mark.parametrize(
    ("versions", "is_held"),
    [
        ("*", True),
        ("==2.13.0", True),
        (">=2.1,<2.2", True),
        (">=2.15.0", True),
        (">=2.16", False),
        ("<1.13", False),
        ("==3.0.1", False),
        (">=1.13.1,<=2.15.0", True),
    ],
)
def test_a_claim_inside_a_run_of_releases_is_held(versions: str, is_held: bool) -> None:
    looked = Looked(first="1.12.1", last="2.15.0", count=4, which="1.12.1, 1.13.1, 2.12.1, 2.15.0")
    found = Found(
        of="0",
        package="torch",
        matched="text",
        looked=looked,
        found=(("1.13.1", "2.15.0"),),
        file="torch/x.py",
    )
    source = Source(project="pytorch", file="torch/x.py", versions=versions)
    assert (contradiction(source, found) is None) == is_held
