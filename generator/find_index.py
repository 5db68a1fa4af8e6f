"""What ``find`` reads of the catalogue, in Python and in the search box: ``api/v1/search.json``.

It is small, since a reader's first search waits for it, and tells nothing twice. A signature is its template, from
which its expression follows; words that stand in titles and templates are not listed again. Where there are so many
entries that the whole would be large, a long literal is told by its first characters and a number, with which the
rest is found in the text that is asked for; and of each entry fewer words are listed. ``api/v1/search.schema.json``
describes it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .bundle import to_bytes
from .catalogue import Catalogue
from .content import LoadedEntry
from .find import check_of, field_words, own_words, rarity_of, weight_of, without_holes
from .model import Entry, Role
from .signature import KEY_BYTES, compile_template
from .write import File

SCHEMA = 1
PATH = "api/v1/search.json"
SCHEMA_PATH = "api/v1/search.schema.json"
TEMPLATE_CHARACTERS = 100_000
"""Where all templates together have more, only the heads of their long literals stand in the index."""
HEAD, HEAD_OF_CONDITION = 14, 10
TELLING = 32
"""Where templates are cut, a key as long as this stands for all of its message."""
LISTED_WORDS = 6_000
"""So many words are listed, in equal shares of the entries."""
COMMON = 100
"""Where not all words can be listed, those go first that at least one entry in so many has."""


class Shape(BaseModel):
    """What all parts share."""

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True, populate_by_name=True)


class SignaturesShape(Shape):
    """The messages, column by column: in each, a list for each entry, in which each signature has its place."""

    ids: tuple[tuple[str, ...], ...] = Field(description="Without the slug and the slash before it.")
    roles: tuple[tuple[Role, ...], ...]
    templates: tuple[tuple[str, ...], ...] = Field(
        description="In the language of signatures, without the names of captures. Where there are many, the rest "
        "of a literal may be {~NUMBER}, in base 36: 256 times a sum of the whole literal's "
        "characters, plus how many they are. The sum begins with 0; for each character it is 31 times itself plus the "
        "character's code, modulo 4093. Of a message of which more is left out, this is its longest literal."
    )
    needs: tuple[tuple[tuple[str, ...], ...], ...] = Field(
        description="Templates of what must stand near it, where it is a cause on that condition."
    )
    unless: tuple[tuple[tuple[str, ...], ...], ...] = Field(description="Templates of what must not.")


class SearchShape(Shape):
    """Every message, and how much each word tells of each entry."""

    schema_: int = Field(alias="schema", description="Rises when a reader of the former one would break.")
    version: str = Field(description="Changes with the content of the index, and only then.")
    slugs: tuple[str, ...] = Field(description="The entries, sorted; an entry's page is failures/SLUG/.")
    titles: tuple[str, ...] = Field(description="In the order of the slugs.")
    signatures: SignaturesShape
    words: dict[str, tuple[int, ...]] = Field(
        description="Words of the entries beside those of their titles, slugs and templates: how rare the word is, "
        "and a number for each entry that has it: four times the entry's place in ``slugs``, less the place of the "
        "one before, plus how telling its field is, from 0 to 3. The word tells rarity * (field + 1) / 4, rounded "
        "down, at least 1. Title and slug are field 3, the messages field 2, what they need field 0."
    )


def find_index(catalogue: Catalogue) -> dict[str, Any]:
    """The index of the entries that aren't withdrawn. Raises TemplateError for content that wasn't checked."""
    loaded = sorted(catalogue.current, key=lambda loaded: loaded.slug)
    content = {
        "schema": SCHEMA,
        "slugs": [one.slug for one in loaded],
        "titles": [one.entry.title for one in loaded],
        "signatures": _signatures([one.entry for one in loaded]),
    }
    content["words"] = _words(loaded, content, catalogue)
    return {**content, "version": hashlib.sha256(to_bytes(content)).hexdigest()[:16]}


def find_index_files(catalogue: Catalogue) -> Iterator[File]:
    """The index and its schema as files of the site."""
    yield File(PATH, to_bytes(find_index(catalogue)), "the index of find")
    schema = json.dumps(json_schema(), indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"
    yield File(SCHEMA_PATH, schema, "the schema of find's index")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the index."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **SearchShape.model_json_schema(mode="serialization"),
    }


# --- messages


def _signatures(entries: Sequence[Entry]) -> dict[str, Any]:
    signatures = [entry.signatures for entry in entries]
    texts = [text for own in signatures for one in own for text in (one.text, *one.needs, *one.unless)]
    are_long = sum(map(len, texts)) > TEMPLATE_CHARACTERS
    message, condition = (_short_message, _short_condition) if are_long else (_without_names, _without_names)
    return {
        "ids": [[one.id for one in own] for own in signatures],
        "roles": [[one.role for one in own] for own in signatures],
        "templates": [[message(one.text) for one in own] for own in signatures],
        "needs": [[list(map(condition, one.needs)) for one in own] for own in signatures],
        "unless": [[list(map(condition, one.unless)) for one in own] for own in signatures],
    }


_HOLE = re.compile(r"\{\{|\}\}|\{([a-z]+)(?::[a-z0-9_]+)?\}")


def _without_names(template: str) -> str:
    """The template without the names of its captures, which nobody reads here."""
    return _HOLE.sub(lambda match: f"{{{match[1]}}}" if match[1] else match[0], template)


def _short_message(template: str) -> str:
    """The template with its long literals cut to their first words, which may be asked for; a telling key alone."""
    whole = _without_names(template)
    key = compile_template(whole, KEY_BYTES).literal
    if len(key) >= TELLING:
        whole = key.replace("{", "{{").replace("}", "}}")
    return _cut(whole, lambda literal: literal.rfind(" ", KEY_BYTES, HEAD) + 1 or literal.find(" ", HEAD) + 1)


def _short_condition(template: str) -> str:
    """The template with its long literals cut."""
    return _cut(_without_names(template), lambda literal: HEAD_OF_CONDITION)


_WIDE = re.compile("  |\t")
_LITERAL = re.compile(r"(?<![^{}\n])[^{}\n]{18,255}(?![^{}\n])(?!\})")


def _cut(template: str, end_of: Callable[[str], int]) -> str:
    """The template with its literals cut at an end, with a number to know each by, where that is shorter."""

    def short(match: re.Match[str]) -> str:
        literal = match[0]
        end = end_of(literal)
        cut = f"{literal[:end]}{{~{_in_base_36(check_of(literal))}}}"
        # The text that is asked for has single blanks.
        is_told = end and len(cut) < len(literal) and literal.isascii() and not _WIDE.search(literal)
        return cut if is_told else literal

    return _LITERAL.sub(short, "\n".join(line.strip(" \t\r") for line in template.split("\n")))


def _in_base_36(number: int) -> str:
    """As JavaScript writes it."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


# --- words


def _words(loaded: Sequence[LoadedEntry], content: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Words by what they tell of entries, without what a reader finds in the rest of the index.

    Where not all can be listed, those that few entries have come last: a list of them is long, and who knows such a
    word has it from a title or a message.
    """
    names: dict[str, str] = {}
    every = [_small(field_words(_weighed_texts(one, catalogue)), names) for one in loaded]
    having = Counter(chain.from_iterable(words for words, _ in every))
    rarity = {count: rarity_of(len(loaded), count) for count in set(having.values())}
    merits = {
        (count, field): (count * COMMON < len(loaded), -weight_of(found, field))
        for count, found in rarity.items()
        for field in (1, 2, 3, 4)
    }
    """By how many entries have a word, and its field: the least goes first."""
    share = max(1, LISTED_WORDS // max(1, len(loaded)))
    places: dict[str, list[tuple[int, int]]] = {}
    for number, ((words, fields), known) in enumerate(zip(every, own_words(content), strict=True)):
        rest = {word: field for word, field in zip(words, fields, strict=True) if field > known.get(word, 0)}
        if len(rest) > share:
            listed = sorted((merits[having[word], field], word) for word, field in rest.items())[:share]
            rest = {word: rest[word] for _, word in listed}
        for word, field in rest.items():
            places.setdefault(word, []).append((number, field))
    return {word: [rarity[having[word]], *_packed(found)] for word, found in sorted(places.items())}


def _small(words: Mapping[str, int], names: dict[str, str]) -> tuple[tuple[str, ...], bytes]:
    """The words and their fields, each word held once, in ``names``: those of all entries are looked at together."""
    return tuple(names.setdefault(word, word) for word in words), bytes(words.values())


def _packed(places: Iterable[tuple[int, int]]) -> Iterator[int]:
    before = 0
    for number, field in places:
        yield 4 * (number - before) + field - 1
        before = number


def _weighed_texts(loaded: LoadedEntry, catalogue: Catalogue) -> Iterator[tuple[int, Iterable[str]]]:
    """The texts by which an entry is found, the most telling first, with what their words weigh."""
    entry = loaded.entry
    yield 4, (entry.title, *(alias.replace("-", " ") for alias in (loaded.slug, *entry.aliases)))
    yield 3, map(without_holes, (signature.text for signature in entry.signatures))
    yield 3, _names(entry, catalogue)
    yield 2, (entry.summary, entry.look_instead or "", entry.quick_answer.symptom, entry.quick_answer.cause)
    yield 2, (symptom.sign for symptom in entry.symptoms)
    yield 2, (question.question for question in entry.faq)
    yield 1, (cause.title for cause in entry.causes)
    yield 1, (fix.title for fix in entry.fixes)
    yield 1, (without_holes(template) for signature in entry.signatures for template in signature.needs)


def _names(entry: Entry, catalogue: Catalogue) -> Iterator[str]:
    yield catalogue.families[entry.family].name if entry.family in catalogue.families else entry.family
    for tag in entry.tags:
        yield catalogue.tags[tag].name if tag in catalogue.tags else tag
    for system in entry.systems:
        yield catalogue.systems[system.id].name if system.id in catalogue.systems else system.id
