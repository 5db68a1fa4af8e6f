"""A build that takes files of the former site over gives what a clean build gives, after each of many edits."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from generator import former
from generator.build import Options, build, site_files, site_makers
from generator.content import PROSE, Content
from generator.former import Former, keys
from generator.load import load
from generator.parts import entry_of
from generator.write import MARKER, write_site

from .test_serve_edits import World

ROOT = Path(__file__).parents[1]
SMALL = Path(__file__).parent / "malformed" / "content"
PAGE = "failures/port-taken/index.html"
OTHER = "failures/disk-full/index.html"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def rebuild(content: Content, out: Path, root: Path = ROOT, base_url: str = "") -> dict[str, bytes]:
    """Build into a folder that may hold a former site, and what is there then."""
    before = Former.at(out)
    makers = site_makers(content, root, base_url, former=before)
    write_site((), out, makers=makers, remember=before.renew)
    return {path: (out / path).read_bytes() for path in paths(out)}


def paths(out: Path) -> Iterator[str]:
    found = (path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    return (path for path in found if path != MARKER)


def clean(content: Content, root: Path = ROOT, base_url: str = "") -> dict[str, bytes]:
    return {file.path: file.data for file in site_files(content, root, base_url)}


def numbers(out: Path) -> dict[str, int]:
    """Of each entry's file, the number under which the system knows it: the same where it was taken over."""
    slugs = {path.stem for path in (out / "api/v1/entries").glob("*.json")}
    return {path: (out / path).stat().st_ino for path in paths(out) if entry_of(path) in slugs}


@pytest.mark.parametrize("edits", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_what_is_taken_over_is_never_stale(
    edits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    # Stands for the program's own files, which no test may change.
    monkeypatch.setattr(former, "_OWN", own)
    rng = random.Random(edits)
    world, out = World(tmp_path, rng), tmp_path / "site"
    taken = 0
    for done in range(edits):
        content = load(world.content)[0]
        before = numbers(out) if done else {}
        assert rebuild(content, out, world.root) == clean(content, world.root), world.before
        taken += len(before.items() & numbers(out).items())
        world.edit()
        if rng.random() < 0.2:
            (own / "version.py").write_text(f"VERSION = {rng.random()}")
        # A taxonomy that doesn't load leaves no entries.
        if rng.random() < 0.4 and len(numbers(out)) > 1:
            vandalize(rng, out)
    assert taken > 20


def vandalize(rng: random.Random, out: Path) -> None:
    """Change a file of the site by hand, as one shouldn't."""
    one, other = (out / path for path in rng.sample(sorted(numbers(out)), 2))
    match rng.randrange(4):
        case 0:
            one.unlink()
        case 1:
            one.write_bytes(other.read_bytes())
        case 2:
            other.replace(one)
        case 3:
            one.write_bytes(one.read_bytes()[:100])


def test_prose_of_others_is_on_no_page() -> None:
    """Half of the entries get the prose of their neighbors: the other half's files stay as they are."""
    content = load(ROOT / "content")[0]
    for rest in (0, 1):
        changed = replace(
            content,
            entries=tuple(
                one
                if number % 2 == rest
                else replace(
                    one,
                    entry=one.entry.model_copy(
                        update={name: getattr(content.entries[number - 1].entry, name) for name in PROSE}
                    ),
                )
                for number, one in enumerate(content.entries)
            ),
        )
        same = {one.slug for number, one in enumerate(content.entries) if number % 2 == rest}
        before, after = (entry_files(each, same) for each in (content, changed))
        assert before == after
        assert len(before) == 3 * len(same)


def entry_files(content: Content, slugs: set[str]) -> Mapping[str, bytes]:
    return {path: data for path, data in clean(content).items() if entry_of(path) in slugs}


def test_only_what_changed_is_made_again(tmp_path: Path) -> None:
    content, out = load(SMALL)[0], tmp_path / "site"
    rebuild(content, out)
    before = numbers(out)
    rebuild(content, out)
    assert numbers(out) == before
    one, *others = content.entries
    prose = one.entry.model_copy(update={"quick_answer": others[0].entry.quick_answer})
    edited = replace(one.positions, source=f"{one.positions.source}# edited\n")
    content = replace(content, entries=(replace(one, entry=prose, positions=edited), *others))
    assert rebuild(content, out) == clean(content)
    again = {entry_of(path) for path, number in numbers(out).items() if number != before[path]}
    assert again == {one.slug}


def test_another_address_is_another_site(tmp_path: Path) -> None:
    content, out = load(SMALL)[0], tmp_path / "site"
    for address in ("https://a.example", "https://b.example/c"):
        assert rebuild(content, out, base_url=address) == clean(content, base_url=address)


def test_what_pages_are_made_with_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    content = load(SMALL)[0]
    before = keys(content, ROOT, ())
    assert before == keys(content, ROOT, ())
    assert len(set(before.values())) == len(before)
    real = former.metadata.version
    monkeypatch.setattr(
        former.metadata, "version", lambda name: f"{real(name)}.post1" if name == "jinja2" else real(name)
    )
    assert not before.items() & keys(content, ROOT, ()).items()


@pytest.mark.parametrize("record", [b"", b"[]", b"{", b'{"a": 1}', b'{"a": ["b"]}', b"\xff", b"null"])
def test_a_record_that_is_none_is_no_record(tmp_path: Path, cache: Path, record: bytes) -> None:
    content, out = load(SMALL)[0], tmp_path / "site"
    rebuild(content, out)
    (file,) = cache.rglob("site-*.json")
    file.write_bytes(record)
    assert rebuild(content, out) == clean(content)


def test_a_link_in_the_former_site_is_not_taken_over(tmp_path: Path) -> None:
    """It would lead somewhere else from the new one, or to what somebody may change."""
    content, out = load(SMALL)[0], tmp_path / "site"
    rebuild(content, out)
    (tmp_path / "elsewhere").write_bytes((out / PAGE).read_bytes())
    (out / PAGE).unlink()
    (out / PAGE).symlink_to(tmp_path / "elsewhere")
    assert rebuild(content, out) == clean(content)
    assert not (out / PAGE).is_symlink()


def test_where_nothing_can_be_kept_all_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, out = load(SMALL)[0], tmp_path / "site"
    for home in ("", str(tmp_path / "file")):
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", home)
        monkeypatch.setenv("HOME", home or "nowhere")
        before = numbers(out) if out.exists() else {}
        assert rebuild(content, out) == clean(content)
        assert not before.items() & numbers(out).items()


def test_the_command_takes_over(tmp_path: Path) -> None:
    out = tmp_path / "site"
    for _ in range(2):
        before = numbers(out) if out.exists() else {}
        assert build(Options(content=SMALL, out=out)).ok
    assert before == numbers(out)
    assert os.stat(out / OTHER).st_nlink == 1
