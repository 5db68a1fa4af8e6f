"""The commands as a person meets them: what they print, where, and how they end."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from shutil import copytree

import pytest

from generator import __version__
from generator.build import Options, build, site_files
from generator.checks import examine
from generator.cli import run, with_command
from generator.from_log import AFTER, BEFORE
from generator.load import load
from generator.model import Entry
from generator.pages import FOLDERS
from generator.scaffold import template_of
from generator.schema import MODELINE, entry_schema, schema_text
from generator.write import arrange

from .malformed.table import BLOCK, PARTS

ROOT = Path(__file__).parents[1]
RIGHT = Path(__file__).parent / "malformed" / "content"

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return shutil.copytree(RIGHT, tmp_path / "content")


def break_entry(content: Path) -> None:
    entry = content / "failures/port-taken/entry.yaml"
    entry.write_text(entry.read_text().replace("family: launch", "family: lunch"))


def warn_in_entry(content: Path) -> None:
    entry = content / "failures/port-taken/entry.yaml"
    nobody = "references:\n  - {id: nobody, title: A, url: 'https://example.org/', kind: issue, supports: Nothing.}\n"
    entry.write_text(entry.read_text().rstrip("\n") + f"\n{nobody}")


def firstfault(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    command = [sys.executable, str(ROOT / "build.py"), *arguments]
    return subprocess.run(command, text=True, capture_output=True, timeout=60, **options)  # type: ignore[call-overload, no-any-return]


WRONG_USE = {
    "unknown command": (["chek"], "did you mean 'check'?"),
    "unknown option": (["check", "--bogus"], "--bogus"),
    "unknown option of the default": (["--bogus"], "--bogus"),
    "missing argument": (["explain"], "SLUG"),
    "missing value": (["build", "--out"], "--out"),
    "no such content": (["check", "--content", "/no/such"], "/no/such: no such folder"),
    "content that is a file": (["check", "--content", __file__], "is not a folder"),
    "unknown format": (["check", "--format", "xml"], "xml"),
    "unknown code": (["check", "--explain", "tabb"], "did you mean 'tab'?"),
    "unknown slug": (["check", "port-take"], "did you mean 'port-taken'?"),
    "path outside": (["check", "/"], "is not in the content folder"),
    "folder above": (["check", ".."], "is not in the content folder"),
    "no name": (["check", ""], "an entry without a name"),
    "unknown entry": (["explain", "port-take"], "did you mean 'port-taken'?"),
    "bad base": (["build", "--base-url", "ftp://x"], "ftp://x"),
    "base without a host": (["build", "--base-url", "https://"], "a host"),
    "base of half a host": (["build", "--base-url", "https://[::1"], "a host"),
    "base with blanks": (["build", "--base-url", "https://x y/"], "a host"),
    "base with a query": (["build", "--base-url", "https://x/?a"], "a host"),
    "base with a user": (["build", "--base-url", "https://a@x/"], "a host"),
    "site at the root": (["build", "--out", "/"], "/"),
    "site among templates": (["build", "--out", str(ROOT / "templates/site")], "holds what the build reads"),
    "what a terminal obeys": (["explain", "a\x1b[31mb"], "a\\x1b[31mb"),
    "bad port": (["serve", "--port", "70000"], "--port"),
    "no port": (["serve", "--port", "http"], "--port"),
    "bad slug": (["new", "Port_Taken"], "is no slug"),
    "taken slug": (["new", "port-taken"], "is the name of an entry already"),
    "taken alias": (["new", "enospc"], "is the name of an entry already"),
    "unknown system": (["new", "x", "--system", "pytorhc"], "did you mean 'pytorch'?"),
    "no number": (["find", "x", "-n", "0"], "-n"),
}


def test_a_log_without_a_name_is_not_this_folder(content: Path, capsys: Captured) -> None:
    """As where a script's variable is not set."""
    assert run(["diagnose", "", "--content", str(content)]) == 2
    assert capsys.readouterr() == ("", "'': no name of a file or folder\n")


@pytest.mark.parametrize(("arguments", "said"), WRONG_USE.values(), ids=WRONG_USE)
def test_wrong_use_is_one_line_on_standard_error(
    arguments: list[str], said: str, content: Path, capsys: Captured
) -> None:
    if "--content" not in arguments:
        arguments = [*arguments, "--content", str(content)] if arguments != ["build", "--out"] else arguments
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("firstfault: ")
    assert said in err


def test_without_a_command_it_builds() -> None:
    assert with_command([]) == ["build"]
    assert with_command(["--out", "x"]) == ["build", "--out", "x"]
    assert with_command(["--content", "check", "--strict"]) == ["build", "--content", "check", "--strict"]


def test_options_of_all_may_stand_before_the_command() -> None:
    assert with_command(["--content", "x", "-q", "check", "a"]) == ["check", "--content", "x", "-q", "a"]
    assert with_command(["--content=x", "find"]) == ["find", "--content=x"]


def test_version_and_help(capsys: Captured) -> None:
    assert firstfault("--version").stdout == f"firstfault {__version__}\n"
    assert run(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in ("build", "serve", "check", "new", "find", "explain"):
        assert f"  {command} " in shown
        assert run([command, "--help"]) == 0


def test_check_tells_findings_and_ends_by_their_severity(content: Path, capsys: Captured) -> None:
    assert run(["check", "--content", str(content)]) == 0
    assert capsys.readouterr() == ("", "2 entries: no findings\n")
    warn_in_entry(content)
    assert run(["check", "--content", str(content), "--quiet"]) == 0
    assert run(["check", "--content", str(content), "--quiet", "--strict"]) == 1
    break_entry(content)
    capsys.readouterr()
    assert run(["check", "--content", str(content)]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == (
        "content/failures/port-taken/entry.yaml:9:9: error unknown-name: "
        "no family is named 'lunch' (did you mean 'launch'?)"
    )
    assert err == "2 entries: 1 error, 1 warning\n"


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("port-taken", 1),
        ("disk-full", 0),
        ("failures/port-taken/entry.yaml", 1),
        ("failures", 1),
        ("hubs", 0),
    ],
)
def test_check_of_a_part_tells_only_its_findings(
    target: str, code: int, content: Path, capsys: Captured
) -> None:
    break_entry(content)
    where = str(content / target) if target in ("failures", "hubs") or "/" in target else target
    assert run(["check", where, "--content", str(content)]) == code
    assert bool(capsys.readouterr().out) == bool(code)


def test_check_of_an_entry_that_cannot_be_read_counts_it(content: Path, capsys: Captured) -> None:
    path = content / "failures/port-taken/entry.yaml"
    path.write_text("\t" + path.read_text())
    assert run(["check", "port-taken", "--content", str(content)]) == 1
    assert capsys.readouterr().err == "1 of 2 entries: 1 error\n"


def test_check_prints_json_alone_on_standard_output(content: Path, capsys: Captured) -> None:
    break_entry(content)
    assert run(["check", "--format", "json", "--content", str(content)]) == 1
    assert json.loads(capsys.readouterr().out)[0]["code"] == "unknown-name"


def test_check_explains_a_code(capsys: Captured) -> None:
    assert run(["check", "--explain", "duplicate-key"]) == 0
    out = capsys.readouterr().out
    assert "Wrong:\n  family: zero\n  family: memory" in out


def test_build_writes_beside_the_content(content: Path, capsys: Captured) -> None:
    assert run(["--content", str(content)]) == 0
    assert (content.parent / "site/failures/port-taken/index.html").is_file()
    assert capsys.readouterr().out.startswith("2 entries, ")


def test_a_build_with_findings_writes_nothing(content: Path, capsys: Captured) -> None:
    out = content.parent / "site"
    warn_in_entry(content)
    assert run(["build", "--content", str(content), "--strict"]) == 1
    assert not out.exists()
    assert run(["build", "--content", str(content)]) == 0
    before = sorted(out.rglob("*"))
    break_entry(content)
    capsys.readouterr()
    assert run(["build", "--content", str(content)]) == 1
    assert "unknown-name" in capsys.readouterr().err
    assert sorted(out.rglob("*")) == before


def test_two_builds_are_byte_identical(content: Path, tmp_path: Path) -> None:
    sites = [tmp_path / "one", tmp_path / "two"]
    for out in sites:
        assert build(Options(content=content, out=out)).ok
    one, two = (
        {path.relative_to(out): path.read_bytes() for path in out.rglob("*") if path.is_file()}
        for out in sites
    )
    assert one == two
    assert len(one) > 20


def test_a_site_that_cannot_be_written_is_one_line(content: Path, capsys: Captured) -> None:
    assert run(["build", "--content", str(content), "--out", str(content.parent)]) == 2
    assert run(["build", "--content", str(content), "--out", str(Path(__file__).parent)]) == 2
    assert "holds something else than a site of ours" in capsys.readouterr().err


def test_a_site_does_not_stand_in_what_it_is_made_from_nor_replace_it(
    content: Path, capsys: Captured
) -> None:
    for out in (content, content / "failures/site"):
        assert run(["build", "--content", str(content), "--out", str(out)]) == 2
        assert "holds what the build reads" in capsys.readouterr().err
    site = content.parent / "site"
    assert run(["build", "--content", str(content), "--out", str(site)]) == 0
    inside = Path(shutil.move(content, site / "content"))
    capsys.readouterr()
    assert run(["build", "--content", str(inside), "--out", str(site)]) == 2
    assert capsys.readouterr().err.endswith("which the build reads; not replaced\n")
    assert (inside / "failures/port-taken/entry.yaml").is_file()


def test_every_entry_names_the_schema_for_editors() -> None:
    for path in (ROOT / "content" / "failures").glob("*/entry.yaml"):
        assert path.read_text(encoding="utf-8").startswith(MODELINE + "\n"), path
        assert (path.parent / MODELINE.rpartition("=")[2]).resolve() == ROOT / "content" / "entry.schema.json"


def test_pages_keep_out_of_every_folder_of_the_site(content: Path) -> None:
    files = site_files(load(content)[0], ROOT)
    folders = {path.partition("/")[0] for path in arrange(files) if "/" in path}
    assert folders | {"pagefind"} == FOLDERS | {"about", "pytorch"}


def test_new_scaffolds_what_only_a_person_can_fill_in(content: Path, capsys: Captured) -> None:
    arguments = ["new", "nan-loss", "--title", 'A "title": with # signs', "--system", "pytorch"]
    message = "[rank3]: RuntimeError: loss is nan at step 17 of {20}"
    assert run([*arguments, "--message", message, "--content", str(content)]) == 0
    out, err = capsys.readouterr()
    path = content / "failures/nan-loss/entry.yaml"
    assert out == f"{path}\n"
    assert path.read_text().startswith(MODELINE)
    _, findings = examine(content)
    # Whatever else is wrong would be the scaffold's fault.
    assert {finding.code for finding in findings} == {"no-value"}
    assert len(findings) < 25
    assert all(str(finding) in err for finding in findings)


SECRET = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
LOG = b"""torchrun starting on gpu-17.cluster.local
[rank0]: step 41 loss 2.31, HF_TOKEN=%s
[rank1]: Traceback (most recent call last):
[rank1]:   File "/home/alice/run/train.py", line 31, in <module>
[rank1]: ValueError: sample 17 of shard 4 has 3 channels
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
""" % SECRET.encode()


@pytest.mark.parametrize("name", ["train.log", "train.log.gz", "utf-16le.log"])
def test_new_takes_message_rank_and_log_from_a_log(
    content: Path, tmp_path: Path, capsys: Captured, name: str
) -> None:
    log = tmp_path / name
    data = LOG.decode().encode("utf-16-le") if name.startswith("utf-16") else LOG
    log.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    arguments = [
        "new",
        "odd-sample",
        "--system",
        "pytorch",
        "--from-log",
        str(log),
        "--content",
        str(content),
    ]
    assert run(arguments) == 0
    err = capsys.readouterr().err
    assert "replaced user 'alice' by user-1, once" in err
    assert "replaced token 'hf_…' by [token 1], once" in err
    assert SECRET not in err
    folder = content / "failures" / "odd-sample"
    entry = (folder / "entry.yaml").read_text()
    assert 'title: "ValueError: sample 17 of shard 4 has 3 channels"' in entry
    assert 'text: "ValueError: sample {int} of shard {int} has {int} channels"' in entry
    assert "    line: 5\n    ranks: [1]\n" in entry
    kept = (folder / "run.log").read_text()
    assert "alice" not in kept
    assert "gpu-17" not in kept
    assert kept.splitlines()[4] == "[rank1]: ValueError: sample 17 of shard 4 has 3 channels"
    _, findings = examine(content)
    assert {finding.code for finding in findings} == {"no-value"}


def test_new_keeps_the_lines_around_the_beginning(content: Path, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(b"step\n" * 5000 + LOG + b"more\n" * 5000)
    arguments = ["new", "odd-sample", "--quiet", "--from-log", str(log), "--content", str(content)]
    assert run(arguments) == 0
    kept = (content / "failures/odd-sample/run.log").read_text().splitlines()
    assert len(kept) == BEFORE + 1 + AFTER
    assert kept[BEFORE].startswith("[rank1]: ValueError: sample 17")


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (b"step 1 loss 2.0\n", "no line of it is known for an error"),
        (gzip.compress(LOG * 50)[:-20], "ended before"),
        (None, "no such file"),
    ],
)
def test_new_needs_a_failure_in_the_log(
    content: Path, tmp_path: Path, capsys: Captured, log: bytes | None, said: str
) -> None:
    path = tmp_path / "train.log"
    if log is not None:
        path.write_bytes(log)
    assert run(["new", "odd-sample", "--from-log", str(path), "--content", str(content)]) == 2
    assert said in capsys.readouterr().err
    assert not (content / "failures/odd-sample").exists()


def test_new_says_where_the_message_is_explained_already(
    content: Path, tmp_path: Path, capsys: Captured
) -> None:
    known = next(
        (loaded, log)
        for loaded in load(ROOT / "content")[0].entries
        for log in loaded.entry.logs
        if log.says == "initiating"
    )
    path = tmp_path / "train.log"
    path.write_bytes(known[0].files[known[1].file])
    copy = copytree(ROOT / "content", tmp_path / "copy")
    assert run(["new", "odd-sample", "--from-log", str(path), "--content", str(copy)]) == 0
    assert f"{known[0].slug} has this message already" in capsys.readouterr().err


def test_a_short_entry_grows_by_what_it_lacks(content: Path, capsys: Captured) -> None:
    path = content / "failures/port-taken/entry.yaml"
    short = path.read_text()
    assert run(["new", "port-taken", "--complete", "--content", str(content)]) == 0
    err = capsys.readouterr().err
    grown = path.read_text()
    assert grown.startswith(short.replace("status: short", "status: complete").rstrip("\n"))
    for name in Entry.model_fields:
        assert len(re.findall(f"^{name}:", grown, re.M)) <= 1
    assert "mechanism" in err
    _, findings = examine(content)
    assert {finding.code for finding in findings} <= {"no-value", "too-short", "incomplete"}
    assert run(["new", "port-taken", "--complete", "--content", str(content)]) == 0
    assert path.read_text() == grown


def test_an_entry_without_a_run_log_grows_too(content: Path, capsys: Captured) -> None:
    folder = content / "failures/port-taken"
    (folder / "run.log").rename(folder / "other.log")
    path = folder / "entry.yaml"
    path.write_text(path.read_text().replace("run.log", "other.log"))
    assert run(["new", "port-taken", "--complete", "--content", str(content)]) == 0
    assert "run.log" not in capsys.readouterr().err


def test_only_an_entry_grows(content: Path, tmp_path: Path) -> None:
    outside = tmp_path / "entry.yaml"
    outside.write_text("status: short\n")
    assert run(["new", "../..", "--complete", "--content", str(content)]) == 2
    assert outside.read_text() == "status: short\n"


def test_new_asks_on_a_terminal(content: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"The loss is NaN\npytorhc\npytorch\nloss is nan at step 17\n")
        asked = firstfault("new", "nan-loss", "--content", str(content), stdin=theirs)
    finally:
        os.close(theirs)
        os.close(ours)
    assert asked.returncode == 0
    assert "did you mean 'pytorch'?" in asked.stderr
    path = content / "failures/nan-loss/entry.yaml"
    assert asked.stdout == f"{path}\n"
    text = path.read_text()
    for line in ('title: "The loss is NaN"', '- id: "pytorch"', 'text: "loss is nan at step {int}"'):
        assert line in text


def test_a_killed_build_leaves_the_former_or_the_new_site(content: Path, tmp_path: Path) -> None:
    """The whole command, killed while it loads, renders, indexes or swaps: what stands is one of the two sites."""
    out, entry = tmp_path / "site", content / "failures/port-taken/entry.yaml"
    command = [sys.executable, str(ROOT / "build.py"), "--content", str(content), "--out", str(out)]
    wholes = []
    for title in ("The port is taken", "Somebody has the port"):
        entry.write_text(re.sub("^title: .*", f"title: {title}", entry.read_text()))
        assert build(Options(content=content, out=out)).ok
        wholes.append(_files(out))
    for moment in range(10):
        entry.write_text(
            re.sub(
                "^title: .*",
                f"title: {('The port is taken', 'Somebody has the port')[moment % 2]}",
                entry.read_text(),
            )
        )
        killed = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            killed.wait(timeout=0.2 + 0.15 * moment)
        killed.kill()
        killed.wait()
        assert _files(out) in wholes
    assert build(Options(content=content, out=out)).ok
    assert _files(out) == wholes[1]


def _files(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_scaffold_that_is_filled_in_passes(content: Path) -> None:
    assert run(["new", "nan-loss", "--quiet", "--content", str(content)]) == 0
    path = content / "failures/nan-loss/entry.yaml"
    filled = {
        "family": "launch",
        "phase": "launch",
        "restart": "no",
        "id": "pytorch",
        "text": "loss is nan here",
    }
    lines = []
    for number, line in enumerate(path.read_text().splitlines()):
        bare = line.partition("  #")[0] if not line.startswith("#") else line
        key = bare.strip().removeprefix("- ").removesuffix(":")
        if bare.strip() == "-":
            bare = f"{bare} step {number}"
        elif bare.endswith(": ") or (bare.endswith(":") and _has_no_children(path, number)):
            bare = f"{bare.rstrip()} {filled.get(key.rstrip(': '), f'words {number}')}"
        lines.append(bare)
    path.write_text("\n".join(lines) + "\n")
    assert (path.parent / "run.log").read_text() == ""
    (path.parent / "run.log").write_text("loss is nan here\n")
    assert [str(finding) for finding in examine(content)[1]] == []


def _has_no_children(path: Path, number: int) -> bool:
    lines = path.read_text().splitlines()
    following = lines[number + 1] if number + 1 < len(lines) else ""
    indent = len(lines[number]) - len(lines[number].lstrip(" -"))
    return not following.startswith(" " * (indent + 1))


def test_a_message_becomes_a_template() -> None:
    assert template_of("[rank0]: got 3 of {4} at 0x1f, pid 17.") == "got {int} of {{4}} at 0x1f, pid 17."
    assert template_of("gave up at step 17 of 300") == "gave up at step {int} of {int}"
    assert template_of("") == ""
    assert template_of("can't open /data/run/a.bin: error 2") == "can't open {path}: error {int}"
    assert template_of("host-2:29500 refused to take [token 1]") == "{word} refused to take {word}"


def test_explain_fits_eighty_columns_and_has_no_colour_in_a_pipe() -> None:
    shown = firstfault("explain", "port-taken", "--content", str(RIGHT))
    assert shown.returncode == 0
    assert "DO NOW\n  1. Find the owner with `ss -ltnp`.\n" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_explain_follows_an_alias(capsys: Captured) -> None:
    assert run(["explain", "enospc", "--content", str(RIGHT)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("No space left on device while a checkpoint is saved\n")
    assert "    import shutil\n" in out


def test_find_ranks_from_an_argument_or_standard_input() -> None:
    message = "[rank7]: OSError: [Errno 28] No space left on device: '/scratch/b.pt'\n"
    found = firstfault("find", "--json", "-n", "1", "--content", str(RIGHT), input=message)
    assert found.returncode == 0
    first = json.loads(found.stdout)[0]
    assert (first["entry"], first["signature"]) == ("disk-full", "disk-full/no-space")
    assert firstfault("find", message, "--content", str(RIGHT)).stdout.split()[1] == "disk-full"


def test_find_says_where_no_message_is_known(capsys: Captured) -> None:
    assert run(["find", "address already", "--content", str(RIGHT)]) == 0
    out, err = capsys.readouterr()
    assert "port-taken" in out
    assert err == "no known message stands in this text; these entries share words with it\n"
    assert run(["find", "OSError: [Errno 98] Address already in use", "--content", str(RIGHT)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", [["find"], ["diagnose"], ["new", "nan-loss", "--system", "pytorhc"]])
def test_a_closed_standard_input_is_one_line(command: list[str], content: Path) -> None:
    line = [sys.executable, str(ROOT / "build.py"), *command, "--content", str(content)]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *line], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_a_terminal_obeys_nothing_in_an_entry(content: Path, capsys: Captured) -> None:
    entry = content / "failures/port-taken/entry.yaml"
    entry.write_text(
        re.sub("title: .*", r'title: "Address already in \\e[31muse\\a"', entry.read_text(), count=1)
    )
    for command in (["explain", "port-taken"], ["find", "address already in use"]):
        assert run([*command, "--content", str(content)]) == 0
        assert "Address already in \\x1b[31muse\\x07\n" in capsys.readouterr().out


def test_find_of_nothing_ends_well() -> None:
    found = firstfault("find", "-", "--content", str(RIGHT), input="\x00\xff zzz")
    assert (found.returncode, found.stdout) == (0, "")
    assert found.stderr == "no entry is known for this text\n"


def test_a_reader_that_goes_away_gets_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, str(ROOT / "build.py"), "explain", "disk-full", "--content", str(RIGHT)],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    finally:
        os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 1


def test_an_interrupt_while_it_loads_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "generator").mkdir()
    (tmp_path / "generator/cli.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    shutil.copy(ROOT / "build.py", tmp_path)
    command = [sys.executable, str(tmp_path / "build.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_output_that_is_full_is_one_line() -> None:
    if not os.path.exists("/dev/full"):
        return
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, str(ROOT / "build.py"), "explain", "disk-full", "--content", str(RIGHT)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2
    assert done.stderr == "firstfault: No space left on device\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16"])
def test_an_odd_encoding_of_the_terminal_is_no_error(encoding: str, content: Path) -> None:
    entry = content / "failures/port-taken/entry.yaml"
    entry.write_text(entry.read_text().replace("title: Address", "title: → 💥 Address"), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    command = [sys.executable, str(ROOT / "build.py"), "explain", "port-taken", "--content", str(content)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_committed_schema_is_that_of_the_models() -> None:
    committed = (ROOT / "content/entry.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "run: python -m generator.schema > content/entry.schema.json"


def test_the_schema_knows_every_key_and_its_description() -> None:
    schema = entry_schema()
    assert schema["properties"].keys() == Entry.model_fields.keys()
    assert schema["additionalProperties"] is False
    assert "from" in schema["$defs"]["Log"]["properties"]
    assert schema["properties"]["title"]["description"].startswith("How people call the failure")


@pytest.mark.parametrize("command", [["verify", "port-taken"], ["repro"]])
def test_a_user_without_a_home_is_told_to_name_a_cache(command: list[str], content: Path) -> None:
    (content / "failures/port-taken/repro.py").write_bytes(BLOCK + PARTS)
    line = [sys.executable, str(ROOT / "build.py"), *command, "--content", str(content)]
    done = subprocess.run(
        line, env={"PATH": "/usr/bin", "HOME": "~"}, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "firstfault: this user has no home folder to keep things in; name a folder with --cache\n"
    )
