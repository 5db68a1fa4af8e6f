"""An installation works from any folder, without the checkout: the wheel carries bundle and content."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from .conftest import ROOT

LINE = "[rank5]: RuntimeError: 'weight' must be 2-D"


@pytest.fixture(scope="module")
def firstfault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that holds nothing but the wheel, and sees its dependencies."""
    folder = tmp_path_factory.mktemp("installation")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = [*pip, "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", str(folder), str(ROOT)]
    subprocess.run(wheel, check=True)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    packages = next((folder / "env").glob("lib/python*/site-packages"))
    install = [*pip, "--python", str(folder / "env"), "install", "--no-deps", "--no-index"]
    subprocess.run([*install, *map(str, folder.glob("*.whl"))], check=True)
    (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    return folder / "env" / "bin" / "firstfault"


def answer(command: Path, *arguments: str, folder: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([command, *arguments], cwd=folder, input=text, capture_output=True, text=True)


def test_find_and_explain(firstfault: Path, tmp_path: Path) -> None:
    found = answer(firstfault, "find", "--json", LINE, folder=tmp_path)
    assert json.loads(found.stdout)[0]["entry"] == "zero3-weight-must-be-2d", found.stderr
    told = answer(firstfault, "explain", "zero3-weight-must-be-2d", folder=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "must be 2-D" in told.stdout


def test_diagnose_reads_a_log(firstfault: Path, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(f"[rank5]: Traceback (most recent call last):\n{LINE}\n")
    run = answer(firstfault, "diagnose", "--json", "train.log", folder=tmp_path)
    assert run.returncode == 1, run.stderr
    initiating = json.loads(run.stdout)["initiating"]
    assert (initiating["entry"], initiating["rank"], initiating["line"]) == ("zero3-weight-must-be-2d", 5, 2)


def test_building_a_site_needs_a_checkout(firstfault: Path, tmp_path: Path) -> None:
    run = answer(firstfault, "build", folder=tmp_path)
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
