"""The signature bundle: what both engines, and other people's programs, read of the catalogue.

``api/v1/signatures.json`` holds every signature and known line ready to be matched, of each entry what a
verdict says, and the words by which ``find`` ranks. ``api/v1/signatures.schema.json`` describes it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .catalogue import Catalogue
from .content import LoadedEntry
from .find import weight_of
from .markdown import Markdown
from .model import Entry, LinePattern, PrintedBy, Restart, Role, Signature
from .normalize import clean, words_of
from .signature import CONDITION_BYTES, Compiled, Literal, compile_template, parse
from .write import File

SCHEMA = 1
PATH = "api/v1/signatures.json"
SCHEMA_PATH = "api/v1/signatures.schema.json"
WORDS_PER_ENTRY = (48, 160)
"""So many words of an entry are kept where there are a thousand entries, and where there are few."""

_MARKDOWN = Markdown()


class Shape(BaseModel):
    """What all parts of the bundle share."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True, populate_by_name=True)


class ConditionShape(Shape):
    """A template ready to be matched."""

    literal: str = Field(
        description="Stands in every line that matches; the key of a scan over bytes (UTF-8)."
    )
    key_line: int = Field(description="In which of the template's lines the literal stands, from 0.")
    expressions: tuple[str, ...] = Field(
        description="One a line, each to be searched in one line without its end. Group 1 is the message; the "
        "groups after it are the captures. RE2, Python, JavaScript and Rust read them alike."
    )
    captures: tuple[str, ...] = Field(
        description="Names of the groups from the second on, over all expressions."
    )


class SignatureShape(ConditionShape):
    """A message of an entry."""

    id: str = Field(description="Permanent: the entry's slug, a slash, and a word.")
    entry: str
    role: Role
    printed_by: PrintedBy
    needs: tuple[ConditionShape, ...] = Field(
        description="What must stand near it, in the same rank's output."
    )
    unless: tuple[ConditionShape, ...] = Field(description="What must not.")


class LineShape(ConditionShape):
    """A line that belongs to no failure."""

    id: str
    role: str
    reading: str = Field(description="What the line says and what it doesn't.")


class DoNowShape(Shape):
    steps: tuple[str, ...]
    restart: Restart
    restart_why: str


class FirstCheckShape(Shape):
    """The check that separates the entry from its look-alikes."""

    step: str
    command: str | None
    yes: str
    no: str


class EntryShape(Shape):
    """What a verdict says of an entry; plain text."""

    title: str
    url: str = Field(description="From the site's root.")
    family: str
    phase: str
    summary: str
    do_now: DoNowShape
    first_check: FirstCheckShape
    verify: str = Field(description="What a repaired run shows.")


class WordsShape(Shape):
    """How much each word tells of each entry."""

    rarest: int = Field(description="The weight of a word that one entry alone has in its title.")
    entries: tuple[str, ...] = Field(description="Slugs, in the order in which the weights count them.")
    index: dict[str, tuple[int, ...]] = Field(
        description="Word to how rare it is, and a number for each entry that has it: four times the entry's "
        "place in ``entries``, less the place of the one before, plus how telling its field is, from 0 to 3. The "
        "word tells rarity * (field + 1) / 4, rounded down, at least 1."
    )


class BundleShape(Shape):
    """Every signature and known line, ready to be matched, and what a verdict says of each entry."""

    schema_: int = Field(alias="schema", description="Rises when a reader of the former one would break.")
    version: str = Field(description="Changes with the content of the bundle, and only then.")
    signatures: tuple[SignatureShape, ...]
    lines: tuple[LineShape, ...]
    entries: dict[str, EntryShape]
    words: WordsShape


Bundle = Mapping[str, Any]
"""A bundle as JSON has it, of BundleShape; readers of a file need no models."""


def bundle(catalogue: Catalogue, searched: bool = True) -> dict[str, Any]:
    """The bundle of the entries that aren't withdrawn. Raises TemplateError for content that wasn't checked.

    The engine that diagnoses needs no words: without them, where no text is ``searched``, it is made sooner.
    """
    loaded = sorted(catalogue.current, key=lambda loaded: loaded.slug)
    content = {
        "schema": SCHEMA,
        "signatures": [_signature(one.slug, item) for one in loaded for item in one.entry.signatures],
        "lines": [_line(line) for line in sorted(catalogue.content.lines, key=lambda line: line.id)],
        "entries": {one.slug: _entry(one) for one in loaded},
        "words": _words(loaded if searched else [], catalogue),
    }
    version = hashlib.sha256(to_bytes(content)).hexdigest()[:16]
    return BundleShape.model_validate({**content, "version": version}).model_dump(mode="json")


def to_bytes(content: Bundle) -> bytes:
    """Canonical JSON: sorted keys, no blanks, UTF-8."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the bundle."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **BundleShape.model_json_schema(mode="serialization"),
    }


def bundle_files(catalogue: Catalogue) -> Iterator[File]:
    """The bundle and its schema as files of the site."""
    yield File(PATH, to_bytes(bundle(catalogue)), "the signature bundle")
    schema = json.dumps(json_schema(), indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"
    yield File(SCHEMA_PATH, schema, "the schema of the signature bundle")


def _compiled(compiled: Compiled) -> dict[str, Any]:
    return {
        "literal": compiled.literal,
        "key_line": compiled.key_line,
        "expressions": compiled.expressions,
        "captures": compiled.captures,
    }


def _signature(slug: str, signature: Signature) -> dict[str, Any]:
    condition = partial(compile_template, minimum=CONDITION_BYTES)
    return {
        **_compiled(compile_template(signature.text)),
        "id": f"{slug}/{signature.id}",
        "entry": slug,
        "role": signature.role,
        "printed_by": signature.printed_by,
        "needs": [_compiled(condition(template)) for template in signature.needs],
        "unless": [_compiled(condition(template)) for template in signature.unless],
    }


def _line(line: LinePattern) -> dict[str, Any]:
    compiled = _compiled(compile_template(line.text))
    return {**compiled, "id": line.id, "role": line.role, "reading": _plain(line.reading)}


def _entry(loaded: LoadedEntry) -> dict[str, Any]:
    entry = loaded.entry
    check = entry.confirm[0]
    return {
        "title": entry.title,
        "url": f"failures/{loaded.slug}/",
        "family": entry.family,
        "phase": entry.phase,
        "summary": _plain(entry.summary),
        "do_now": {
            "steps": [_plain(step) for step in entry.do_now.steps],
            "restart": entry.do_now.restart,
            "restart_why": _plain(entry.do_now.restart_why),
        },
        "first_check": {
            "step": _plain(check.step),
            "command": check.command,
            "yes": _plain(check.yes),
            "no": _plain(check.no),
        },
        "verify": _plain(entry.fixes[0].verify),
    }


def _plain(text: str) -> str:
    """The text without its Markdown."""
    return str(_MARKDOWN.inline(text).striptags())


def _words(loaded: list[LoadedEntry], catalogue: Catalogue) -> dict[str, Any]:
    """Of each entry the words that tell most: those that few entries have, in the fields that name it."""
    fields = [_word_fields(one, catalogue) for one in loaded]
    having = Counter(word for words in fields for word in words)
    rarity = {word: _rarity(len(loaded), count) for word, count in having.items()}
    kept = max(WORDS_PER_ENTRY[0], WORDS_PER_ENTRY[1] - len(loaded) // 8)
    places: dict[str, list[tuple[int, int]]] = {}
    for number, words in enumerate(fields):
        telling = sorted(words, key=lambda word: (-weight_of(rarity[word], words[word]), word))
        for word in telling[:kept]:
            places.setdefault(word, []).append((number, words[word]))
    return {
        "rarest": _rarity(len(loaded), 1),
        "entries": [one.slug for one in loaded],
        "index": {word: [rarity[word], *_packed(found)] for word, found in sorted(places.items())},
    }


def _packed(places: list[tuple[int, int]]) -> Iterator[int]:
    before = 0
    for number, field in places:
        yield 4 * (number - before) + field - 1
        before = number


def _rarity(entries: int, having: int) -> int:
    """Sixteen times the binary logarithm of how rare a word is, rounded up; whole numbers alone are exact."""
    return int(((entries + 1) ** 16 // having**16).bit_length())


def _word_fields(loaded: LoadedEntry, catalogue: Catalogue) -> dict[str, int]:
    """Each word of the entry with the weight of the best field that it stands in, from 4 (the title) to 1."""
    words: dict[str, int] = {}
    for weight, texts in _weighed_texts(loaded, catalogue):
        for text in texts:
            for line in text.splitlines():
                for word in words_of(clean(line), numbers=weight > 2):
                    words[word] = max(words.get(word, 0), weight)
    return words


def _weighed_texts(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[tuple[int, Iterable[str]]]:
    entry = loaded.entry
    yield 4, (entry.title, *(alias.replace("-", " ") for alias in (loaded.slug, *entry.aliases)))
    yield 3, (_literals(signature.text) for signature in entry.signatures)
    yield 3, _names(entry, catalogue)
    yield 2, (entry.summary, entry.look_instead or "", entry.quick_answer.symptom, entry.quick_answer.cause)
    yield 2, (symptom.sign for symptom in entry.symptoms)
    yield 2, (question.question for question in entry.faq)
    yield 1, (cause.title for cause in entry.causes)
    yield 1, (fix.title for fix in entry.fixes)
    yield 1, (template for signature in entry.signatures for template in map(_literals, signature.needs))


def _literals(template: str) -> str:
    return "".join(piece.text if isinstance(piece, Literal) else " " for piece in parse(template))


def _names(entry: Entry, catalogue: Catalogue) -> Iterator[str]:
    yield catalogue.families[entry.family].name if entry.family in catalogue.families else entry.family
    for tag in entry.tags:
        yield catalogue.tags[tag].name if tag in catalogue.tags else tag
    for system in entry.systems:
        yield catalogue.systems[system.id].name if system.id in catalogue.systems else system.id
