"""Content that is right loads whole; content that is wrong gives a finding at the place, whatever it is."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generator import yaml_document
from generator.checks import CODES, examine
from generator.cli import run
from generator.finding import Finding
from generator.hidden import HIDDEN
from generator.load import MAX_FILE_BYTES, load
from generator.model import Entry
from generator.validate import STAND_IN, validate
from generator.yaml_document import compose, read_document

from .malformed.table import CHANGES, ENTRY, MARK, SHORT, TREES, WHOLES, Change, Tree, Whole

WARNINGS = {"path-in-signature", "private", "unfixed-cause", "unused-reference"}
Captured = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[1]
RIGHT = Path(__file__).parent / "malformed" / "content"


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """A copy of the small folder in which nothing is wrong."""
    return shutil.copytree(RIGHT, tmp_path / "content")


def test_an_entry_is_the_same_after_pickling(content: Path) -> None:
    loaded, _ = load(content)
    for one in loaded.entries:
        again = pickle.loads(pickle.dumps(one.entry))
        assert again == one.entry
        assert repr(again) == repr(one.entry)
        assert again.model_dump_json() == one.entry.model_dump_json()
        assert again.model_copy(update={"title": "Another"}) != again


def test_the_right_folder_has_no_findings() -> None:
    content, findings = examine(RIGHT)
    assert findings == []
    assert [loaded.slug for loaded in content.entries] == ["disk-full", "port-taken"]
    assert content.entries[0].files.keys() == {"near-miss.log", "run.log"}
    assert content.pages[0].body == "A page with a [link](../failures/).\n"


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.name)
def test_change(case: Change, content: Path, capsys: Captured) -> None:
    path = content / case.file
    text = path.read_text()
    assert case.old in text, "the case's old text is gone"
    marked = text.replace(case.old, case.new, 1)
    path.write_bytes(marked.replace(MARK, "").encode())
    place = _place_of_mark(marked) if MARK in marked else None
    _expect(content, capsys, case.file, case.code, place)


@pytest.mark.parametrize("case", WHOLES, ids=lambda case: case.name)
def test_whole(case: Whole, content: Path, capsys: Captured) -> None:
    (content / case.file).write_bytes(case.data)
    _expect(content, capsys, case.file, case.code, (case.line, case.column))


@pytest.mark.parametrize("case", TREES, ids=lambda case: case.name)
def test_tree(case: Tree, content: Path, capsys: Captured) -> None:
    case.change(content)
    _expect(content, capsys, case.path, case.code, (case.line, case.column), is_start=True)


def _place_of_mark(text: str) -> tuple[int, int]:
    before = text[: text.index(MARK)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _expect(
    content: Path,
    capsys: Captured,
    file: str,
    code: str,
    place: tuple[int, int] | None,
    is_start: bool = False,
) -> None:
    """The command tells the finding, and fails; strictly, since a case may be a warning."""
    assert run(["check", "--quiet", "--strict", "--format", "json", "--content", str(content)]) == 1
    findings = [Finding(**item) for item in json.loads(capsys.readouterr().out)]
    assert {finding.code for finding in findings} <= CODES.keys()
    shown = "\n".join(map(str, findings))
    path = f"content/{file}"
    found = [
        f for f in findings if f.code == code and (f.path == path or (is_start and f.path.startswith(path)))
    ]
    assert found, f"no {code} in {path}; instead:\n{shown}"
    assert found[0].severity == ("warning" if code in WARNINGS else "error")
    if place is not None:
        assert place in [(f.line, f.column) for f in found], f"none at {place}; instead:\n{shown}"


def spoil_short(content: Path, *changes: tuple[str, str]) -> None:
    """Replace each first text of the short entry, which has it, by the second."""
    path = content / SHORT
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text)


def test_all_errors_are_told_at_once(content: Path) -> None:
    spoil_short(
        content,
        ("family: launch", "family: [x]"),
        ("status: short", "status: brief"),
        ("    yes:", "    yess:"),
    )
    _, findings = load(content)
    assert [finding.code for finding in findings] == [
        "wrong-choice",
        "wrong-type",
        "missing-key",
        "unknown-key",
    ]


def test_an_error_in_one_entry_leaves_the_others(content: Path) -> None:
    (content / SHORT).write_text("title: [")
    loaded, findings = examine(content)
    assert [entry.slug for entry in loaded.entries] == ["disk-full"]
    assert loaded.broken == {"port-taken"}
    # What others say of the broken entry is not called wrong.
    assert {finding.path for finding in findings} == {f"content/{SHORT}"}


@pytest.mark.parametrize("file", ["families", "phases", "systems", "tags"])
def test_an_error_in_the_taxonomy_is_told_once(content: Path, file: str) -> None:
    path = content / f"taxonomy/{file}.yaml"
    path.write_text(path.read_text().replace("- id: ", "- ids: ", 1))
    # What others say by names that could not be read is not called wrong.
    assert {finding.path for finding in examine(content)[1]} == {f"content/taxonomy/{file}.yaml"}
    path.unlink()
    assert [finding.code for finding in examine(content)[1]] == ["missing-file"]


def test_what_the_system_refuses_is_a_finding(content: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *arguments: object) -> object:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    _, findings = load(content)
    assert {finding.code for finding in findings} == {"unreadable"}


def test_what_cannot_be_looked_into_is_not_called_missing(
    content: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in folders without the right to list them, or to pass through."""

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "lstat", refuse)
    monkeypatch.setattr(Path, "is_file", refuse)
    _, findings = load(content)
    assert {finding.code for finding in findings} == {"unreadable"}


def test_no_finding_tells_of_a_number_that_nobody_wrote(content: Path) -> None:
    spans = "[{start: 0, end: 4, does: runs}, {start: 5, end: nine, does: waits}]"
    figure = f"figures:\n  - caption: x\n    lanes:\n      - {{who: rank 0, spans: {spans}}}\ncauses:\n"
    spoil_short(content, ("causes:\n", figure))
    assert [finding.code for finding in examine(content)[1]] == ["wrong-type"]


@pytest.mark.parametrize("spoil", ["huge", "folder", "pipe"])
def test_a_log_that_cannot_be_read_is_not_called_missing(content: Path, spoil: str) -> None:
    log = content / "failures/port-taken/run.log"
    log.unlink()
    if spoil == "huge":
        log.write_bytes(b"x" * 4_100_000)
    elif spoil == "folder":
        log.mkdir()
    else:
        os.mkfifo(log)
    found = [finding for finding in examine(content)[1] if "port-taken" in finding.path]
    assert [finding.code for finding in found] == ["too-large" if spoil == "huge" else "stray-file"]


def test_hidden_names_are_not_content(content: Path) -> None:
    (content / "failures/port-taken/.entry.yaml.swp").write_bytes(b"\xff")
    (content / ".git").mkdir()
    assert examine(content)[1] == []


def test_a_record_of_many_entries_is_read(content: Path) -> None:
    """Ten thousand entries have more rows in it than any entry's file may have bytes."""
    row = {"log": "a/b.log", "says": "other", "of": None, "named": None, "verdict": "clean", "standing": []}
    rows = ",".join([json.dumps(row)] * 60_000)
    (content / "evidence").mkdir(exist_ok=True)
    (content / "evidence/corpora.json").write_text(f'{{"logs": [{rows}], "unseen": []}}')
    assert (content / "evidence/corpora.json").stat().st_size > MAX_FILE_BYTES
    assert examine(content)[1] == []


def test_only_the_taxonomy_is_required(content: Path) -> None:
    for folder in ("failures", "hubs", "lines", "pages", "healthy"):
        shutil.rmtree(content / folder)
    loaded, findings = examine(content)
    assert (loaded.entries, loaded.hubs, findings) == ((), (), [])


def test_scalars_stay_texts_and_nulls_are_none() -> None:
    document, findings = compose("x.yaml", 'a: no\nb: 1e3\nc: 2026-01-01\nd: ~\ne: "null"\nf:\n- on\n')
    assert findings == []
    assert document is not None
    assert document.value == {"a": "no", "b": "1e3", "c": "2026-01-01", "d": None, "e": "null", "f": ["on"]}


@given(
    st.text(st.sampled_from("ab:-, \n'\"#&*!?|>{}[]~%\t."), max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "a:",
                "a: b",
                "b: ~",
                "- c",
                "  - d",
                "  e: [1, 2]",
                "  e: {f: g}",
                "---",
                "? h",
                "'a': |",
                "  text",
                "",
            ]
        ),
        max_size=12,
    ).map("\n".join)
)
@example("a: 1\na: 2\n")
@example("- " * 40 + "deep\n")
@example("- " * 32 + "deep\n")
@example("%YAML 1.1\n---\na: 1\n")
@example("a: &x 1\nb: *x\n")
@example("~: 1\n")
@example("[a]: 1\n")
@example("{a: 1, b: [c, d]}: 1\n")
@example("a\n---\nb\n")
@example("# nothing\n")
@example("a: !t 1\nb: !t {}\nc: !t []\n")
@example("a:\n\t- b\n")
def test_the_short_way_reads_what_the_long_one_does(text: str) -> None:
    """A document is read without its places first; where anything may be wrong, the whole way is taken."""
    try:
        value = yaml_document._sound_value(text)
    except (yaml_document._Unsound, yaml.MarkedYAMLError):
        return
    composer = yaml_document._Composer("x.yaml", text)
    document = composer.compose()
    assert composer.findings == []
    assert document is not None
    assert document.value == value


def test_every_document_takes_the_short_way() -> None:
    """Else nothing would be gained: no file of the content has a tab in it or anything that YAML alone would take."""
    for path in sorted((ROOT / "content").rglob("*.yaml")):
        document, findings = read_document(path.name, path.read_bytes())
        assert document is not None, path
        assert (document.value, findings) == (yaml_document._sound_value(document.positions.source), []), path


@pytest.mark.parametrize("code", [*range(0x100), 0x200B, 0x202E, 0xFEFF, 0xFFFF, 0x2014])
def test_what_is_no_text_is_refused_wherever_it_stands(code: int) -> None:
    """Control characters and what can't be seen, but for tabs and line ends."""
    data = f"a: b{chr(code)}c\n".encode()
    text, findings = yaml_document.decode("x.yaml", data)
    allowed = chr(code) in "\t\n" or (code >= 32 and re.match(f"[{HIDDEN}]", chr(code)) is None)
    assert (text is not None, findings == []) == (allowed, allowed)
    if not allowed:
        assert (findings[0].line, findings[0].column) == (1, 5)


STYLES = {
    "plain": "a: one\n  two X three\n",
    "single": "a: 'it''s one\n  two X three'\n",
    "double": 'a: "\\u006fne \\"q\\" \\\n  two\\tX three"\n',
    "literal": "a: |\n  one\n\n    two X\n  three\n",
    "folded": "a: >-\n  one\n  two X\n\n  three\n",
    "indented": "a: |2-\n    one\n  two X three\n",
}


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_a_place_inside_a_text_is_that_of_the_file(text: str) -> None:
    document, _ = compose("x.yaml", text)
    assert document is not None
    assert isinstance(document.value, dict)
    value = document.value["a"]
    before = text[: text.index("X")]
    expected = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert document.positions.within(("a",), value, value.index("X")) == expected


def test_places_of_fields() -> None:
    document, _ = compose("x.yaml", "a:\n  - b: 1\n    c: {d: 2}\n")
    assert document is not None
    places = document.positions.places
    assert places[("a",)] == (1, 1)
    assert places[("a", 0)] == (2, 5)
    assert places[("a", 0, "b")] == (2, 8)
    assert places[("a", 0, "c")] == (3, 8)
    assert places[("a", 0, "c", "d")] == (3, 12)
    assert document.positions.of(("a", 0, "x", "y")) == (2, 5)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    document, findings = read_document("x.yaml", data)
    assert document is not None or findings
    assert all(f.line >= 1 and f.column >= 1 for f in findings)


YAML_PIECES = st.sampled_from(
    ["a", ": ", ":", "- ", "\n", "  ", "\n  ", "\t", "'", '"', "|\n", ">-\n", "[", "]", "{", "}", ",", "#", " #",
     "&a ", "*a", "!t ", "?", "? ", "---\n", "...\n", "%", "~", "\\", "\\x4", "\r\n", "é", "💥"]
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(YAML_PIECES, max_size=40).map("".join))
def test_no_yaml_raises(text: str) -> None:
    document, findings = read_document("x.yaml", text.encode())
    assert document is not None or findings


HUGE = {
    "aliases": "[" + "*a," * 330_000,
    "duplicate keys": "a: 1\n" * 190_000,
    "unknown keys": "".join(f"k{number}: x\n" for number in range(80_000)),
    "complex keys": "? " * 490_000,
    "nested items": "- " * 490_000,
    "brackets": "[" * 990_000,
    "braces": "{" * 990_000,
    "quotes": "'a' " * 240_000,
    "tabs": "a: b\n" + "\tc\n" * 300_000,
    "line ends": "\n" * 990_000,
    "documents": "---\n" * 240_000,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_a_megabyte_of_anything_is_read_in_seconds(text: str) -> None:
    start = time.process_time()
    document, findings = read_document("entry.yaml", text.encode())
    if document is not None:
        findings += validate(Entry, document)[1]
    assert 1 <= len(findings) <= 100
    assert time.process_time() - start < 10


LINES_OF_ENTRY = (RIGHT / ENTRY).read_text().splitlines(keepends=True)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_damage_to_an_entry_raises(data: st.DataObject) -> None:
    """Lines lost, doubled, swapped, cut or filled with pieces of YAML: findings or an entry, never an error."""
    lines = list(LINES_OF_ENTRY)
    for _ in range(data.draw(st.integers(1, 4))):
        i, j = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        damage = data.draw(st.sampled_from(["lose", "double", "swap", "cut", "fill"]))
        if damage == "lose" and len(lines) > 1:
            del lines[i]
        elif damage == "double":
            lines.insert(j, lines[i])
        elif damage == "swap":
            lines[i], lines[j] = lines[j], lines[i]
        elif damage == "cut":
            lines[i] = lines[i][: data.draw(st.integers(0, len(lines[i])))]
        else:
            lines[i] = lines[i].rstrip("\n") + data.draw(YAML_PIECES) + "\n"
    document, findings = read_document("entry.yaml", "".join(lines).encode())
    if document is not None:
        entry, more = validate(Entry, document, findings)
        assert entry is not None or findings or more
        assert all(finding.code in CODES for finding in more)


def test_what_else_is_wrong_is_told_beside_what_does_not_fit(content: Path) -> None:
    """A wrong key, a wrong word and a missing one, and names and links that only the checks know."""
    spoil_short(
        content,
        ("summary: The", "sumary: The"),
        ("family: launch", "family: lunch"),
        ("printed_by: launcher", "printed_by: everybody"),
        ("grade: inferred", "grade: source"),
        ("says: initiating", "says: initiating\n    entry: gone"),
    )
    loaded, findings = examine(content)
    assert loaded.broken == {"port-taken"}
    found = [finding.code for finding in findings if finding.path.endswith(SHORT)]
    assert {"unknown-key", "missing-key", "unknown-name", "wrong-choice", "incomplete"} <= set(found)
    assert not any(STAND_IN in str(finding) for finding in findings)


def test_a_place_is_told_of_once(content: Path) -> None:
    spoil_short(content, ("family: launch", "family: [launch]"))
    assert [finding.code for finding in examine(content)[1]] == ["wrong-type"]
