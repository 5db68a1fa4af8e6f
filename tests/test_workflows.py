"""GitHub's files: right by GitHub's schemas, safe by zizmor, and every command in them exists here."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from generator.catalogue import Catalogue
from generator.cli import app
from generator.load import load
from generator.render import Renderer

from . import golden

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = {path.stem: path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"}
TOOLS = Path(sys.executable).parent
SHELL = {"cat", "git", "gh", "head"}


def validated(schema: str, *paths: Path) -> str:
    command = [TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *paths]
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_workflows_and_forms_are_as_github_wants_them(tmp_path: Path) -> None:
    assert validated("github-workflows", *WORKFLOWS) == ""
    assert validated("github-issue-forms", *FORMS.values()) == ""
    assert validated("github-issue-config", GITHUB / "ISSUE_TEMPLATE" / "config.yml") == ""
    broken = tmp_path / "main.yml"
    broken.write_text((GITHUB / "workflows" / "main.yml").read_text().replace("runs-on:", "runs_on:", 1))
    assert "runs_on" in validated("github-workflows", broken)


def test_workflows_are_safe() -> None:
    done = subprocess.run(
        [TOOLS / "zizmor", "--offline", "--no-progress", "--quiet", GITHUB], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_a_workflow_for_each_occasion() -> None:
    told = {path.stem: yaml.safe_load(path.read_text()) for path in WORKFLOWS}
    # YAML 1.1 reads the key 'on' as true.
    occasions = {name: set(workflow[True]) for name, workflow in told.items()}
    assert occasions == {
        "pull-request": {"pull_request"},
        "comment": {"workflow_run"},
        "main": {"push", "workflow_dispatch"},
        "weekly": {"schedule", "workflow_dispatch"},
    }
    for workflow in told.values():
        for job in workflow["jobs"].values():
            assert job["timeout-minutes"] <= 90


def commands() -> list[list[str]]:
    """Every command of every step, as words; of a pipe or redirection its first."""
    found = []
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            for step in job["steps"]:
                for line in step.get("run", "").splitlines():
                    bare = re.sub(r"^[a-z]+=\$\((.*)\)$", r"\1", line.strip())
                    found.append(shlex.split(re.split(r" (?:>|>>|<|\|) ?", bare)[0]))
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_there(words: list[str]) -> None:
    match words:
        case ["make", target]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)
        case [".ci/run"]:
            assert (ROOT / ".ci" / "run").stat().st_mode & 0o100
        case [".venv/bin/python", "-m", module, *_]:
            assert find_spec(module) is not None
        case [".venv/bin/python", "build.py", command, *options]:
            known = {each.name: each for each in app.registered_commands}
            assert command in known
            said = subprocess.run(
                [sys.executable, "build.py", command, "--help"], capture_output=True, text=True, cwd=ROOT
            ).stdout
            assert all(option in said for option in options if option.startswith("--"))
        case [tool, *_]:
            assert tool in SHELL


def test_a_page_leads_to_the_form_that_there_is() -> None:
    catalogue = Catalogue(load(golden.CONTENT)[0])
    from generator.pages import all_pages

    page = next(page for page in all_pages(catalogue) if page.kind == "entry")
    repository = "https://example.org/first/fault"
    html = Renderer(catalogue, repository=repository).render(page).data.decode()
    slug = page.data["loaded"].slug
    assert f'href="{repository}/edit/main/content/failures/{slug}/entry.yaml"' in html
    (template,) = set(re.findall(r"issues/new\?template=([\w-]+)\.yml", html))
    fields = {field.get("id") for field in form(template)["body"]}
    assert f"template={template}.yml&amp;entry={slug}" in html
    assert "entry" in fields
    assert "edit/main" not in Renderer(catalogue).render(page).data.decode()


def form(name: str) -> Any:
    return yaml.safe_load(FORMS[name].read_text())
