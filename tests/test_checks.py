"""What the checks need beyond the table of malformed content: closure of the codes, speed, formats."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from generator.checks import CODES, examine, private
from generator.checks.sentences import MIN_WORDS, SIMILARITY, Sentence, near_duplicates, sentences_of
from generator.checks.texts import Text, texts
from generator.content import Positions
from generator.finding import Finding, format_findings
from generator.load import load

from .malformed.table import CHANGES, TREES, WHOLES

ROOT = Path(__file__).parents[1]
RIGHT = Path(__file__).parent / "malformed" / "content"
TESTED_ELSEWHERE = {
    "log-promise": "test_corpora, since only the command check diagnoses",
    "unreadable": "test_load, since the superuser may read everything",
}


def test_every_code_has_a_case() -> None:
    cases = {case.code for case in (*CHANGES, *WHOLES, *TREES)}
    assert cases | TESTED_ELSEWHERE.keys() == CODES.keys()
    assert not cases & TESTED_ELSEWHERE.keys()


def test_every_code_is_explained_in_a_sentence() -> None:
    assert all(said.text.endswith((".", ":")) for said in CODES.values())
    assert all(bool(said.bad) == bool(said.good) for said in CODES.values())


def test_no_log_of_the_content_names_anybody() -> None:
    found = [finding for loaded in load(ROOT / "content")[0].entries for finding in private.check(loaded)]
    assert [str(finding) for finding in found] == []


def test_the_content_has_no_errors() -> None:
    _, findings = examine(ROOT / "content")
    assert [str(finding) for finding in findings if finding.severity == "error"] == []


def test_the_content_is_checked_in_two_seconds() -> None:
    start = time.process_time()
    examine(ROOT / "content")
    assert time.process_time() - start < 2


def test_a_hundred_entries_are_checked_in_seconds(tmp_path: Path) -> None:
    """The bar is two seconds for the real content; this is a hundred entries, with room for a busy machine."""
    content = shutil.copytree(RIGHT, tmp_path / "content")
    for number in range(100):
        folder = shutil.copytree(content / "failures/port-taken", content / f"failures/copy-{number}")
        entry = folder / "entry.yaml"
        entry.write_text(entry.read_text().replace("[Errno 98]", f"[Errno {number + 1000}]"))
    start = time.process_time()
    _, findings = examine(content)
    assert time.process_time() - start < 5
    assert {finding.code for finding in findings} == {"repeated-sentence"}


WORDS = st.sampled_from(["rank", "waits", "for", "the", "other", "ranks", "until", "a", "timeout", "comes"])


@settings(deadline=None)
@given(st.lists(st.lists(WORDS, min_size=MIN_WORDS, max_size=14).map(tuple), max_size=12))
def test_comparing_few_pairs_finds_what_comparing_all_finds(sentences: list[tuple[str, ...]]) -> None:
    nowhere = Positions("x"), Text((), "plain", ""), 0
    made = [Sentence(words, *nowhere) for words in sentences]
    found = [
        (made.index(earlier), number)
        for earlier, later in near_duplicates(made)
        for number in [_index(made, later)]
    ]
    expected = []
    for number, words in enumerate(sentences):
        like = [
            other
            for other in range(number)
            if Indel.normalized_similarity(sentences[other], words) >= SIMILARITY
        ]
        expected += [(made.index(made[like[0]]), number)] if like else []
    assert found == expected


def test_real_sentences_that_were_changed_are_found_as_by_comparing_all() -> None:
    rng = Random(4)
    entries = load(ROOT / "content")[0].entries
    sentences = rng.sample([each for loaded in entries for each in sentences_of(loaded)], 120)
    made = [_changed(each, rng) for each in sentences for _ in range(5)]
    rng.shuffle(made)
    own, others = made[200:], made[:200]
    expected = []
    for number, later in enumerate(own):
        for earlier in [*others, *own[:number]]:
            if Indel.normalized_similarity(earlier.words, later.words) > SIMILARITY - 1e-9:
                expected.append((earlier, later))
                break
    found = list(near_duplicates(own, others))
    assert [tuple(map(id, pair)) for pair in found] == [tuple(map(id, pair)) for pair in expected]
    assert len(found) > 200


def _changed(sentence: Sentence, rng: Random) -> Sentence:
    """The sentence with some words less, more or others: about as many as make it another one."""
    words = list(sentence.words)
    for _ in range(rng.randrange(max(2, len(words) // 7))):
        place, change = rng.randrange(len(words)), rng.random()
        words[place : place + (change < 0.6)] = [rng.choice(words)] if change > 0.3 else []
    return replace(sentence, words=(*words, *("and",) * (MIN_WORDS - len(words))))


def _index(made: list[Sentence], sentence: Sentence) -> int:
    return next(number for number, one in enumerate(made) if one is sentence)


def test_sentences_are_split_where_a_reader_stops() -> None:
    loaded = load(RIGHT)[0].entries[0]
    said = {" ".join(sentence.words) for sentence in sentences_of(loaded)}
    assert "a save streams tensors through the page cache" in said
    assert "the checkpoint that it was writing is cut short" in said
    assert not any("import shutil" in sentence for sentence in said)


def test_texts_know_their_kind_and_their_yaml_key() -> None:
    entry = load(RIGHT)[0].entries[0].entry
    kinds = {text.field: text.kind for text in texts(entry)}
    assert kinds[("title",)] == "plain"
    assert kinds[("logs", 0, "from")] == "inline"
    assert kinds[("causes", 0, "text")] == "markdown"
    assert kinds[("signatures", 0, "unless", 0)] == "template"
    assert kinds[("prevention", "smoke_test", "snippet", "code")] == "code"


FINDINGS = [
    Finding("content/a b/entry.yaml", 3, 7, "tab", "error", "a tab, 100% sure", "use spaces\nonly"),
    Finding("content/é.yaml", 1, 1, "filler", "warning", "says 'nothing'"),
]


def test_text_is_one_line_a_finding_with_its_hint() -> None:
    text = format_findings(FINDINGS[1:])
    assert text == "content/é.yaml:1:1: warning filler: says 'nothing'\n"
    assert format_findings([]) == ""


def test_json_holds_every_field() -> None:
    assert json.loads(format_findings(FINDINGS, "json"))[0] == {
        "path": "content/a b/entry.yaml",
        "line": 3,
        "column": 7,
        "code": "tab",
        "severity": "error",
        "message": "a tab, 100% sure",
        "hint": "use spaces\nonly",
    }
    assert json.loads(format_findings([], "json")) == []


def test_github_annotations_are_escaped() -> None:
    first = format_findings(FINDINGS, "github").splitlines()[0]
    assert first == (
        "::error file=content/a b/entry.yaml,line=3,col=7,title=tab::a tab, 100%25 sure (use spaces%0Aonly)"
    )


def test_sarif_names_rules_and_places() -> None:
    run = json.loads(format_findings(FINDINGS, "sarif"))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["filler", "tab"]
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "content/a%20b/entry.yaml"
    assert location["region"] == {"startLine": 3, "startColumn": 7}


@pytest.mark.parametrize("code", CODES)
def test_the_right_side_of_an_explanation_is_not_the_wrong_side(code: str) -> None:
    said = CODES[code]
    assert not said.bad or said.bad != said.good


@pytest.mark.parametrize(
    "text", ["RuntimeError:", "torch.OutOfMemoryError: {int}", "Traceback (most recent call last):"]
)
def test_words_that_every_failure_prints_are_no_message(tmp_path: Path, text: str) -> None:
    assert "too-general" in _codes_with_message(tmp_path, text, "")


@pytest.mark.parametrize(
    ("text", "needs"),
    [("KeyError: 0", ""), ("'grad_norm': nan,", ""), ("KeyError: {int:at}", "needs: [in _update_lr]")],
)
def test_words_that_tell_or_have_a_condition_are_a_message(tmp_path: Path, text: str, needs: str) -> None:
    assert "too-general" not in _codes_with_message(tmp_path, text, needs)


def _codes_with_message(folder: Path, text: str, needs: str) -> set[str]:
    """The codes found where the short entry has this message."""
    entry = shutil.copytree(RIGHT, folder / "content") / "failures/port-taken/entry.yaml"
    old = 'text: "OSError: [Errno 98] Address already in use"'
    whole = entry.read_text()
    assert old in whole
    entry.write_text(whole.replace(old, f"text: {json.dumps(text)}" + (f"\n    {needs}" if needs else "")))
    return {finding.code for finding in examine(folder / "content")[1]}


@pytest.mark.parametrize(
    "versions", [">=1.0,!=1.0.*", "!=0.*", "==1.*,!=1.0.*", ">=1!2,!=1!2.*", ">1.0,<1.1", ">=1.0rc1,<=1.0"]
)
def test_a_range_that_some_version_is_in_is_one(tmp_path: Path, versions: str) -> None:
    entry = shutil.copytree(RIGHT, tmp_path / "content") / "failures/port-taken/entry.yaml"
    whole = entry.read_text()
    assert 'versions: "*"' in whole
    entry.write_text(whole.replace('versions: "*"', f"versions: {json.dumps(versions)}"))
    assert "versions" not in {finding.code for finding in examine(tmp_path / "content")[1]}


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (
            "status: short",
            "status: short\naliases: [port-taken]",
            "give a former name of the entry, or remove it",
        ),
        ("id: pytorch", "id: PyTorch", "write pytorch"),
    ],
)
def test_a_finding_says_what_to_do(tmp_path: Path, old: str, new: str, hint: str) -> None:
    entry = shutil.copytree(RIGHT, tmp_path / "content") / "failures/port-taken/entry.yaml"
    whole = entry.read_text()
    assert old in whole
    entry.write_text(whole.replace(old, new, 1))
    assert hint in {finding.hint for finding in examine(tmp_path / "content")[1]}
