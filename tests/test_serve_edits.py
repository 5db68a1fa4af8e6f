"""Nothing that is kept is ever stale: after each of many edits, what is served is what a clean build makes.

Twenty edits drawn by a seed, of every kind that a writer makes, to a copy of a dozen real entries and all that stands
beside them; two hundred under the ``soak`` marker. What the commands keep, the bundle of signatures, is compared, too.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from generator import kept
from generator.build import site_files
from generator.bundle import bundle
from generator.catalogue import Catalogue
from generator.load import load
from generator.serve import reading
from generator.serve.reading import Reading
from generator.serve.workshop import Workshop
from generator.write import arrange

ROOT = Path(__file__).parents[1]
COUNT = 12
RIGHT = Path(__file__).parent / "malformed" / "content"
ENTRY = "failures/port-taken/entry.yaml"


class World:
    """A content folder, templates and static files that edits change; what was there before each edit is kept."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.content, self.root, self.rng = folder / "content", folder, rng
        for name in ("templates", "static"):
            shutil.copytree(ROOT / name, folder / name)
        names = sorted(path.name for path in (ROOT / "content/failures").iterdir() if path.is_dir())
        chosen = {"cpuadam-no-ds-opt-adam", "exit-code-minus-9", "batch-size-triangle"}
        chosen |= set(rng.sample([name for name in names if name not in chosen], COUNT - len(chosen)))

        def left_out(at: str, found: list[str]) -> list[str]:
            return [name for name in found if Path(at).name == "failures" and name not in chosen]

        shutil.copytree(ROOT / "content", self.content, ignore=left_out)
        self.before: list[dict[Path, bytes | None]] = []
        self.touched: list[Path] = []

    @property
    def entries(self) -> list[Path]:
        return sorted((self.content / "failures").iterdir())

    def edit(self) -> str:
        """Make one edit, and say which."""
        kinds = [name for name in dir(self) if name.startswith("edit_")]
        # Some take turns with what makes others of them possible.
        while True:
            kind = self.rng.choice(kinds)
            self.touched = []
            self.before.append({})
            if getattr(self, kind)():
                return kind
            self.before.pop()

    def write(self, path: Path, data: bytes | None) -> bool:
        """Give a file what it shall hold; None removes it. Half of all files are written by a rename."""
        before = path.read_bytes() if path.is_file() else None
        if before == data:
            return False
        self.before[-1].setdefault(path, before)
        self.touched.append(path)
        if data is None:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
            return True
        path.parent.mkdir(exist_ok=True)
        if self.rng.random() < 0.5:
            new = path.with_name(f".{path.name}.swp")
            new.write_bytes(data)
            new.replace(path)
        else:
            path.write_bytes(data)
        return True

    def write_all(self, files: Mapping[Path, bytes | None]) -> bool:
        for path, data in sorted(files.items()):
            self.write(path, data)
        return bool(self.touched)

    def entry(self, change: Callable[[dict[str, Any]], bool | None]) -> bool:
        """Change the fields of an entry, drawn at random."""
        path = self.rng.choice(self.entries) / "entry.yaml"
        try:
            fields = yaml.safe_load(path.read_bytes())
            if change(fields) is False:
                return False
        except (yaml.YAMLError, LookupError, TypeError):
            # Half an entry.
            return False
        return self.write(path, yaml.safe_dump(fields, sort_keys=False, allow_unicode=True).encode())

    def word(self) -> str:
        return f"word{self.rng.randrange(10**6)}"

    def edit_title(self) -> bool:
        return self.entry(lambda fields: fields.update(title=f"Another title {self.word()}"))

    def edit_summary(self) -> bool:
        return self.entry(lambda fields: fields.update(summary=f"It says `{self.word()}` now."))

    def edit_look_alikes(self) -> bool:
        other = self.rng.choice(self.entries).name
        alike = {"entry": other, "name": self.word(), "difference": f"It prints {self.word()}."}
        return self.entry(lambda fields: fields.update(look_alikes=[alike]))

    def edit_aliases(self) -> bool:
        return self.entry(lambda fields: fields.update(aliases=[f"former-{self.word()}"]))

    def edit_group(self) -> bool:
        family = self.rng.choice(["zero", "memory", "checkpoint", "pipeline"])
        tags = [tag["id"] for tag in yaml.safe_load((self.content / "taxonomy/tags.yaml").read_bytes())]
        return self.entry(lambda fields: fields.update(family=family, tags=self.rng.sample(tags, 2)))

    def edit_signature(self) -> bool:
        def change(fields: dict[str, Any]) -> bool:
            for signature in fields.get("signatures", [])[:1]:
                signature["text"] = f"{signature['text']} {self.word()}"
            return bool(fields.get("signatures"))

        return self.entry(change)

    def edit_causes(self) -> bool:
        return self.entry(lambda fields: fields["causes"][0].update(title=f"A cause, {self.word()}"))

    def edit_status(self) -> bool:
        """Withdraw an entry, or one that is withdrawn not any more."""
        other = self.rng.choice(self.entries).name

        def change(fields: dict[str, Any]) -> bool:
            if fields["status"] == "withdrawn":
                fields["status"] = "short"
                del fields["superseded_by"]
            else:
                fields |= {"status": "withdrawn", "superseded_by": other}
            return True

        return self.entry(change)

    def edit_log(self) -> bool:
        logs = sorted((self.content / "failures").glob("*/*.log"))
        path = self.rng.choice(logs)
        return self.write(path, path.read_bytes() + f"{self.word()}\n".encode())

    def edit_evidence(self) -> bool:
        records = sorted((self.content / "failures").glob("*/evidence.json"))
        path, other = self.rng.choice(records), self.rng.choice(records)
        return self.write(path, other.read_bytes())

    def edit_addition(self) -> bool:
        folder = self.rng.choice(self.entries)
        new = folder.with_name(f"added-{self.word()}")
        return self.write_all({new / path.name: path.read_bytes() for path in folder.iterdir()})

    def edit_removal(self) -> bool:
        if len(self.entries) < COUNT - 2:
            return False
        return self.write_all(dict.fromkeys(self.rng.choice(self.entries).iterdir()))

    def edit_rename(self) -> bool:
        folder = self.rng.choice(self.entries)
        new = folder.with_name(f"renamed-{self.word()}")
        there = sorted(folder.iterdir())
        renamed = {new / path.name: path.read_bytes() for path in there}
        return self.write_all({**renamed, **dict.fromkeys(there)})

    def edit_half_an_entry(self) -> bool:
        path = self.rng.choice(self.entries) / "entry.yaml"
        data = path.read_bytes()
        return self.write(path, data[: self.rng.randrange(len(data) // 2)])

    def edit_template(self) -> bool:
        path = (
            self.root / "templates" / self.rng.choice(["base.html", "entry.html", "group.html", "home.html"])
        )
        text = path.read_text()
        return self.write(path, re.sub("</h1>", f" {self.word()}</h1>", text).encode()) or self.write(
            path, f"{text}\n{{# {self.word()} #}}\n".encode()
        )

    def edit_style(self) -> bool:
        path = self.root / "static/css/entry.css"
        return self.write(path, path.read_bytes() + f".{self.word()} {{ color: red; }}\n".encode())

    def edit_script(self) -> bool:
        path = self.root / "static/js" / self.rng.choice(["page.js", f"{self.word()}.js"])
        before = path.read_bytes() if path.is_file() else b""
        return self.write(path, before + f"// {self.word()}\n".encode())

    def edit_taxonomy(self) -> bool:
        path = self.content / "taxonomy" / self.rng.choice(["families.yaml", "phases.yaml", "systems.yaml"])
        rows = yaml.safe_load(path.read_bytes())
        self.rng.choice(rows)["name"] = f"Name {self.word()}"
        return self.write(path, yaml.safe_dump(rows, sort_keys=False, allow_unicode=True).encode())

    def edit_packages(self) -> bool:
        path = self.content / "taxonomy/packages.yaml"
        rows = yaml.safe_load(path.read_bytes())
        self.rng.shuffle(rows)
        return self.write(path, yaml.safe_dump(rows, sort_keys=False, allow_unicode=True).encode())

    def edit_hub(self) -> bool:
        path = self.content / "hubs/deepspeed.yaml"
        text = re.sub("(?m)^title: .*$", f"title: The hub {self.word()}", path.read_text())
        return self.write(path, text.encode())

    def edit_page(self) -> bool:
        path = self.rng.choice(sorted((self.content / "pages").iterdir()))
        return self.write(path, path.read_bytes() + f"\nAnd {self.word()}.\n".encode())

    def edit_lines(self) -> bool:
        path = self.rng.choice(sorted((self.content / "lines").iterdir()))
        text = re.sub("(?m)^(.*reading: )(.*)$", rf"\1It is {self.word()}.", path.read_text(), count=1)
        return self.write(path, text.encode())

    def edit_healthy(self) -> bool:
        path = self.rng.choice(sorted((self.content / "healthy").iterdir()))
        return self.write(path, path.read_bytes() + b"done\n")

    def edit_corpora(self) -> bool:
        path = self.content / "evidence/corpora.json"
        return self.write(path, b'{"logs": [], "unseen": []}\n')

    def edit_undone(self) -> bool:
        if len(self.before) < 2:
            return False
        return self.write_all(self.before[-2])


def clean(world: World) -> Mapping[str, bytes]:
    """What a build that knows of nothing makes."""
    return arrange(site_files(load(world.content)[0], world.root))


def compared(
    world: World, workshop: Workshop, made: Mapping[str, bytes], former: Mapping[str, bytes]
) -> list[str]:
    """The paths at which ``workshop`` answers something else than ``made``."""
    wrong = [path for path, data in made.items() if workshop.answer(path).data != data]
    broken = workshop.content.broken
    gone = {path for path in former.keys() - made.keys() if path.split("/")[-2] not in broken}
    wrong += [path for path in gone if workshop.answer(path).data is not None]
    return wrong


@pytest.mark.parametrize("edits", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_what_is_served_is_never_stale(edits: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    own = tmp_path / "own"
    own.mkdir()
    # Stands for the program's own files, which no test may change.
    monkeypatch.setattr(kept, "OWN", own)
    rng = random.Random(edits)
    world = World(tmp_path, rng)
    workshop = Workshop(world.content, world.root)
    made = clean(world)
    assert compared(world, workshop, made, {}) == []
    done: list[str] = []
    for _ in range(edits):
        done.append(world.edit())
        former, made = made, clean(world)
        beside = [path for path in world.touched if not path.is_relative_to(world.content)]
        # Somebody told of the change, or nobody did.
        workshop.look(world.touched if rng.random() < 0.7 else [*workshop.missed(), *beside])
        workshop.prepare()
        assert compared(world, workshop, made, former) == [], done
        if rng.random() < 0.3:
            (own / "version.py").write_text(f"VERSION = {rng.random()}")
        fresh = bundle(Catalogue(load(world.content)[0]))
        for _ in range(2):
            assert kept.kept(world.content, partial(whole, fresh), "signatures") == fresh, done
    assert arrange(workshop.everything()) == made, done


def whole(bundle: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """What makes a bundle that may be kept."""
    return bundle, True


def test_what_nobody_told_of_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also within one tick of the clock, where size, times and number stay as they were."""
    content = shutil.copytree(RIGHT, tmp_path / "content")
    monkeypatch.setattr(reading, "_told", lambda folder: (("entry.yaml", 1, 1, time.time_ns(), 1),))
    told = reading._told(content)
    monkeypatch.setattr(reading, "_told", lambda folder: told)
    read = Reading(content)
    path = content / ENTRY
    before = path.read_bytes()
    path.write_bytes(before.replace(b"Address", b"Adresse"))
    assert content / "failures/port-taken" in read.missed()
    assert read.look(read.missed()) == ({"port-taken"}, False)
    assert "Adresse" in next(e.entry.title for e in read.content.entries if e.slug == "port-taken")
    # A look that was too early is followed by one that isn't.
    path.write_bytes(before)
    assert read.look([]) == ({"port-taken"}, False)


def test_what_is_old_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = shutil.copytree(RIGHT, tmp_path / "content")
    monkeypatch.setattr(reading, "YOUNG_SECONDS", -3600)
    read = Reading(content)
    assert read.missed() == [content]
    os.utime(content / ENTRY)
    assert read.missed() == [content / "failures/port-taken", content]
    # Touched is not changed.
    assert read.look(read.missed()) == (frozenset(), False)
    assert read.missed() == [content]


@pytest.mark.parametrize("name", ["entry.yaml", "other.log", "deep/file.txt"])
def test_an_entry_that_appears_is_read(tmp_path: Path, name: str) -> None:
    content = shutil.copytree(RIGHT, tmp_path / "content")
    read = Reading(content)
    new = content / "failures/new-one"
    shutil.copytree(content / "failures/port-taken", new)
    (new / name).parent.mkdir(exist_ok=True)
    (new / name).touch()
    assert read.look([content / "failures"]) == ({"new-one"}, False)
    assert read.findings == load(content)[1]
    shutil.rmtree(new)
    assert read.look([new / name]) == ({"new-one"}, False)
    assert (read.findings, read.content.broken) == ([], frozenset())
