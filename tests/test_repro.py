"""Reproductions with real environments and processes: small scripts that need nothing but Python."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from generator.cli import run
from generator.repro.environment import EnvironmentFailure, installs, prepared
from generator.repro.neutral import neutral, path_replacement, word_replacement
from generator.repro.script import Script, ScriptError, read_script

from .malformed.table import BLOCK, PARTS, REPRO, SHORT

RIGHT = Path(__file__).parent / "malformed" / "content"
EMPTY = Script(SpecifierSet(">=3.11"), (), ("fail", "fix"))
FAILS = """
if part == "fail":
    raise OSError(98, "Address already in use")
"""
REPAIRS = """
if part == "fix":
    print("repaired: another port")
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the one environment of these tests is made."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return shutil.copytree(RIGHT, tmp_path / "content")


def write(content: Path, *lines: str, log: str = "    part: fail\n") -> None:
    """Give the entry port-taken a repro.py of these lines, and its log these last lines."""
    head = 'import os, subprocess, sys\n\npart = sys.argv[1] if len(sys.argv) > 1 else ""\n'
    (content / REPRO).write_bytes(BLOCK + PARTS + (head + "".join(map(dedent, lines))).encode())
    entry = (content / SHORT).read_text().replace("made: composed", "made: captured") + log
    (content / SHORT).write_text(entry)


def repro(content: Path, cache: Path, capsys: Captured, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """The command's exit code, and the parts that it tells of."""
    code = run(["repro", "--content", str(content), "--cache", str(cache), "--json", *arguments])
    answer = json.loads(capsys.readouterr().out)
    assert answer["ok"] == (code == 0)
    return code, answer["parts"]


def test_fails_and_repaired(content: Path, cache: Path, capsys: Captured) -> None:
    write(content, FAILS, REPAIRS)
    code, parts = repro(content, cache, capsys)
    assert code == 0
    fail, fix = parts
    assert (fail["entry"], fail["part"], fail["log"]) == ("port-taken", "fail", "run.log")
    assert (fail["exit_code"], fail["said"]) == (1, f"established port-taken, line {fail['line']}")
    assert (fix["part"], fix["log"], fix["exit_code"]) == ("fix", None, 0)
    assert fix["said"] == "repaired: another port"


def test_the_table_has_a_row_a_part_and_counts(content: Path, cache: Path, capsys: Captured) -> None:
    write(content, FAILS)
    assert run(["repro", "port-taken", "--content", str(content), "--cache", str(cache), "--quiet"]) == 1
    heading, fail, fix, counts = capsys.readouterr().out.splitlines()
    assert (cache / "output" / "port-taken.fix.log").read_text().endswith(": python repro.py fix\n")
    assert heading.split() == ["entry", "part", "seconds", "result"]
    assert fail.startswith("port-taken  fail ")
    assert "  ok  [established port-taken" in fail
    assert fix.endswith("FAILED: no line begins with 'repaired: '")
    assert counts.startswith("0 of 1 entries are reproduced, 1 of 2 parts hold")


WRONG = {
    "exits with 0": ("print('OSError: [Errno 98] Address already in use')", "it exits with 0"),
    "another failure": ("raise KeyError('labels')", "the diagnosis names no entry, not this entry"),
    "no message": ("sys.exit(3)", "the diagnosis names no entry, not this entry"),
}


@pytest.mark.parametrize("case", WRONG)
def test_fail_that_fails_otherwise(case: str, content: Path, cache: Path, capsys: Captured) -> None:
    code, wrong = WRONG[case]
    write(content, f'\nif part == "fail":\n    {code}\n', REPAIRS)
    exit_code, parts = repro(content, cache, capsys)
    assert exit_code == 1
    assert [(part["part"], part["wrong"]) for part in parts] == [("fail", wrong), ("fix", "")]


def test_fix_that_ends_badly(content: Path, cache: Path, capsys: Captured) -> None:
    write(content, FAILS, REPAIRS, "sys.exit(4)\n")
    assert repro(content, cache, capsys)[1][1]["wrong"] == "it exits with 4"


def test_without_a_log_fail_is_the_entry(content: Path, cache: Path, capsys: Captured) -> None:
    write(content, "raise KeyError(part)\n", log="")
    assert repro(content, cache, capsys)[1][0]["wrong"] == "the diagnosis names no entry, not this one"


@pytest.mark.parametrize(("told", "wrong"), [(1, ""), (2, "the diagnosis names ranks [2], not [0, 1]")])
def test_a_rank_may_be_ended_before_it_tells(
    told: int, wrong: str, content: Path, cache: Path, capsys: Captured
) -> None:
    error = "OSError: [Errno 98] Address already in use"
    write(
        content,
        f'\nif part == "fail":\n    sys.exit("[rank{told}]: {error}")\n',
        REPAIRS,
        log="    ranks: [0, 1]\n    part: fail\n",
    )
    assert repro(content, cache, capsys)[1][0]["wrong"] == wrong


def test_near_miss_that_is_none(content: Path, cache: Path, capsys: Captured) -> None:
    near_miss = "  - file: near.log\n    made: captured\n    from: x\n    says: other\n    part: near-miss\n"
    write(content, "raise OSError(98, 'Address already in use')\n", log="    part: fail\n" + near_miss)
    _, parts = repro(content, cache, capsys)
    assert [part["part"] for part in parts] == ["fail", "near-miss", "fix"]
    assert parts[1]["wrong"] == "the diagnosis names this entry"


def is_alive(pid: int) -> bool:
    """A dead process that nobody has waited for has no command line."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


CHILD = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
with open({pids!r}, "a") as pids:
    print(os.getpid(), child.pid, file=pids)
"""


def test_a_hanging_part_is_killed_with_its_children(content: Path, cache: Path, capsys: Captured) -> None:
    pids = content / "pids"
    write(content, CHILD.format(pids=str(pids)), 'if part == "fail":\n    child.wait()\n', REPAIRS)
    code, parts = repro(content, cache, capsys, "--limit", "1")
    assert code == 1
    assert parts[0]["wrong"] == "still running after 1 s"
    assert parts[0]["exit_code"] is None
    assert parts[1]["ok"]  # and what it leaves behind ends with it
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 4
    assert [pid for pid in started if is_alive(pid)] == []


def test_who_is_told_to_end_ends_what_it_started(content: Path, cache: Path, capsys: Captured) -> None:
    pids = content / "pids"
    write(content, CHILD.format(pids=str(pids)), "os.kill(os.getppid(), 15)\nchild.wait()\n")
    assert run(["repro", "--content", str(content), "--cache", str(cache)]) == 130
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 2
    assert [pid for pid in started if is_alive(pid)] == []


def test_a_part_sees_neither_the_job_nor_the_home_around_it(
    content: Path, cache: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "SLURM_PROCID", "HF_HOME", "PYTHONPATH"):
        monkeypatch.setenv(name, "1")
    seen = 'print("\\n".join(sorted(os.environ)), os.getcwd(), os.path.expanduser("~"), sep="\\n")\n'
    write(content, seen, FAILS, REPAIRS)
    assert repro(content, cache, capsys, "--capture")[0] == 0
    lines = (content / "failures/port-taken/run.log").read_text().splitlines()
    assert {"PATH", "TORCH_EXTENSIONS_DIR"} <= set(lines)
    assert not {"RANK", "WORLD_SIZE", "MASTER_ADDR", "SLURM_PROCID", "HF_HOME", "PYTHONPATH"} & set(lines)
    assert {"/data/run", "/home/user"} <= set(lines)


def test_capture_writes_a_neutral_log_and_tells_what_moved(
    content: Path, cache: Path, capsys: Captured
) -> None:
    write(content, "print(sys.executable)\n", FAILS, REPAIRS)
    run(["repro", "--content", str(content), "--cache", str(cache), "--capture"])
    said = capsys.readouterr().err
    header, python, *traceback = (content / "failures/port-taken/run.log").read_text().splitlines()
    version = ".".join(map(str, sys.version_info[:3]))
    assert header == f"# python {version}: python repro.py fail"
    assert python == "/opt/venv/bin/python"
    assert traceback[1].startswith('  File "/data/run/repro.py", line ')
    assert f"port-taken: line is now {2 + len(traceback)}, the entry says 1" in said


def test_capture_keeps_the_log_of_what_does_not_hold(content: Path, cache: Path, capsys: Captured) -> None:
    write(content, "raise KeyError(part)\n")
    before = (content / "failures/port-taken/run.log").read_bytes()
    assert repro(content, cache, capsys, "--capture")[0] == 1
    assert (content / "failures/port-taken/run.log").read_bytes() == before


def test_an_unusable_script_is_told_in_its_row(content: Path, cache: Path, capsys: Captured) -> None:
    (content / REPRO).write_bytes(BLOCK.replace(b"[]", b'["torch>=2"]') + PARTS)
    code, (row,) = repro(content, cache, capsys)
    assert code == 1
    assert (row["part"], row["wrong"]) == (None, "'torch>=2' isn't pinned by == to one release")


def test_no_python_of_that_range(content: Path, cache: Path, capsys: Captured) -> None:
    (content / REPRO).write_bytes(BLOCK.replace(b"3.11", b"3.99") + PARTS)
    _, (row,) = repro(content, cache, capsys)
    assert row["wrong"] == "no Python >=3.99 is here; it was looked for as python3.N on PATH"


def test_a_python_on_path_is_taken_where_the_running_one_does_not_fit(
    content: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "bin" / "python3.20"
    other.parent.mkdir()
    other.write_text('#!/bin/sh\nif [ "$1" = -c ]; then echo 3.20.1; else exit 7; fi\n')
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{other.parent}{os.pathsep}{os.environ['PATH']}")
    script = Script(SpecifierSet(">=3.20"), (), ())
    with pytest.raises(EnvironmentFailure, match="-m venv"), prepared(script, tmp_path, print):
        pass


def test_a_set_up_that_is_told_to_end_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    other = tmp_path / "bin" / "python3.20"
    other.parent.mkdir()
    other.write_text(
        '#!/bin/sh\nif [ "$1" = -c ]; then echo 3.20.1; exit; fi\n'
        f"sleep 60 & echo $$ $! > {pids}\nkill -TERM $PPID\nwait\n"
    )
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{other.parent}{os.pathsep}{os.environ['PATH']}")
    script = Script(SpecifierSet(">=3.20"), (), ())
    with pytest.raises(KeyboardInterrupt), prepared(script, tmp_path, print):
        pass
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 2
    assert [pid for pid in started if is_alive(pid)] == []


def test_unknown_entry(content: Path, capsys: Captured) -> None:
    write(content, FAILS)
    assert run(["repro", "port-take", "--content", str(content)]) == 2
    assert "did you mean 'port-taken'?" in capsys.readouterr().err
    assert run(["repro", "disk-full", "--content", str(content)]) == 2
    assert "no entry with a repro.py is named 'disk-full'" in capsys.readouterr().err


def test_an_environment_is_made_once(tmp_path: Path) -> None:
    said: list[str] = []
    for _ in range(2):
        with prepared(EMPTY, tmp_path, said.append) as environment:
            assert environment.python.exists()
    assert len(said) == 1


def test_an_interrupted_set_up_is_begun_anew(tmp_path: Path) -> None:
    with prepared(EMPTY, tmp_path, print) as environment:
        pass
    shutil.rmtree(environment.venv)
    (environment.folder / "ready.json").unlink()
    (environment.folder / "half").touch()
    said: list[str] = []
    with prepared(EMPTY, tmp_path, said.append) as again:
        assert again == environment
        assert again.python.exists()
    assert len(said) == 1
    assert not (environment.folder / "half").exists()


def test_a_compilation_that_was_killed_blocks_nobody(tmp_path: Path) -> None:
    with prepared(EMPTY, tmp_path, print) as environment:
        baton = environment.extensions / "cpu_adam" / "lock"
        baton.parent.mkdir()
        baton.touch()
    with prepared(EMPTY, tmp_path, print):
        assert not baton.exists()


def test_torch_is_installed_first_and_alone() -> None:
    orders = list(installs(("accelerate==1.0", "deepspeed==0.19.8", "torch==2.13.0")))
    assert orders[1] == ["torch==2.13.0"]
    assert orders[2][0] == "--no-build-isolation"
    assert list(installs(("pydantic==2.0",))) == [["pydantic==2.0"]]
    assert list(installs(())) == []


def test_the_same_needs_are_the_same_environment() -> None:
    first, second = (
        read_script(BLOCK.replace(b"[]", needs) + PARTS)
        for needs in (
            b'["torch==2.13.0", "huggingface_hub==1.0"]',
            b'["huggingface-hub == 1.0","torch==2.13.0"]',
        )
    )
    assert first.dependencies == second.dependencies == ("huggingface-hub==1.0", "torch==2.13.0")
    assert first.parts == ("fail", "fix")


def test_a_block_with_windows_line_ends() -> None:
    assert read_script((BLOCK + PARTS).replace(b"\n", b"\r\n")).parts == ("fail", "fix")


@pytest.mark.parametrize("data", [b"def f(:\n", b"\xff", b"x\0"])
def test_what_is_no_python(data: bytes) -> None:
    with pytest.raises(ScriptError, match="no Python"):
        read_script(data)


def test_only_whole_names_and_paths_are_replaced() -> None:
    replacements = [
        path_replacement(Path("/cache/venv"), "/opt/venv"),
        path_replacement(Path("/usr"), "/opt/python"),
        word_replacement("worker", "node-a"),
        word_replacement("root", "user"),
    ]
    text = b"/cache/venv/bin:/cache/venv2 /usr/lib [worker:12] workers worker-1 Root cause: root"
    shown = b"/opt/venv/bin:/cache/venv2 /usr/lib [node-a:12] workers worker-1 Root cause: root"
    assert neutral(text, replacements) == shown
