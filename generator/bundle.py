"""The signature bundle: what both engines that diagnose, and other people's programs, read of the catalogue.

``api/v1/signatures.json`` holds every signature and known line ready to be matched, and of each entry what a
verdict says. ``api/v1/signatures.schema.json`` describes it. ``find`` has a smaller index, see ``find_index``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .catalogue import Catalogue
from .content import LoadedEntry
from .markdown import MARKDOWN
from .model import LinePattern, PrintedBy, Restart, Role, Signature
from .signature import CONDITION_BYTES, Compiled, compile_template
from .write import File

SCHEMA = 1
PATH = "api/v1/signatures.json"
SCHEMA_PATH = "api/v1/signatures.schema.json"


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


class BundleShape(Shape):
    """Every signature and known line, ready to be matched, and what a verdict says of each entry."""

    schema_: int = Field(alias="schema", description="Rises when a reader of the former one would break.")
    version: str = Field(description="Changes with the content of the bundle, and only then.")
    signatures: tuple[SignatureShape, ...]
    lines: tuple[LineShape, ...]
    entries: dict[str, EntryShape]


def bundle(catalogue: Catalogue) -> dict[str, Any]:
    """The bundle of the entries that aren't withdrawn. Raises TemplateError for content that wasn't checked."""
    content: dict[str, Any] = json.loads(bundle_bytes(catalogue))
    return content


def bundle_bytes(catalogue: Catalogue) -> bytes:
    """The bundle as ``to_bytes`` writes it, put together entry by entry: of many, the whole is large in memory."""
    signatures: list[bytes] = []
    entries: list[bytes] = []
    for one in sorted(catalogue.current, key=lambda loaded: loaded.slug):
        signatures += (to_bytes(signature(one.slug, item)) for item in one.entry.signatures)
        entries.append(to_bytes(one.slug) + b":" + to_bytes(_entry(one)))
    lines = [_line(line) for line in sorted(catalogue.content.lines, key=lambda line: line.id)]
    content = b'{"entries":{%s},"lines":%s,"schema":%d,"signatures":[%s]' % (
        b",".join(entries),
        to_bytes(lines),
        SCHEMA,
        b",".join(signatures),
    )
    told = hashlib.sha256(content)
    told.update(b"}")
    return b'%s,"version":"%s"}' % (content, told.hexdigest()[:16].encode())


def to_bytes(content: Any) -> bytes:
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
    yield File(PATH, bundle_bytes(catalogue), "the signature bundle")
    schema = json.dumps(json_schema(), indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"
    yield File(SCHEMA_PATH, schema, "the schema of the signature bundle")


def _compiled(compiled: Compiled) -> dict[str, Any]:
    return {
        "literal": compiled.literal,
        "key_line": compiled.key_line,
        "expressions": list(compiled.expressions),
        "captures": list(compiled.captures),
    }


def signature(slug: str, item: Signature) -> dict[str, Any]:
    """A message of the entry, ready to be matched: of SignatureShape."""
    condition = partial(compile_template, minimum=CONDITION_BYTES)
    return {
        **_compiled(compile_template(item.text)),
        "id": f"{slug}/{item.id}",
        "entry": slug,
        "role": item.role,
        "printed_by": item.printed_by,
        "needs": [_compiled(condition(template)) for template in item.needs],
        "unless": [_compiled(condition(template)) for template in item.unless],
    }


def _line(line: LinePattern) -> dict[str, Any]:
    compiled = _compiled(compile_template(line.text))
    return {**compiled, "id": line.id, "role": line.role, "reading": MARKDOWN.unmarked(line.reading)}


def _entry(loaded: LoadedEntry) -> dict[str, Any]:
    entry = loaded.entry
    check = entry.confirm[0]
    return {
        "title": entry.title,
        "url": f"failures/{loaded.slug}/",
        "family": entry.family,
        "phase": entry.phase,
        "summary": MARKDOWN.unmarked(entry.summary),
        "do_now": {
            "steps": [MARKDOWN.unmarked(step) for step in entry.do_now.steps],
            "restart": entry.do_now.restart,
            "restart_why": MARKDOWN.unmarked(entry.do_now.restart_why),
        },
        "first_check": {
            "step": MARKDOWN.unmarked(check.step),
            "command": check.command,
            "yes": MARKDOWN.unmarked(check.yes),
            "no": MARKDOWN.unmarked(check.no),
        },
        "verify": MARKDOWN.unmarked(entry.fixes[0].verify),
    }
