"""``/api/v1/``: the encyclopedia as static JSON and Markdown, described by OpenAPI 3.1.

What a release of the site adds, a reader of version 1 can ignore; nothing is renamed or removed under v1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from .. import __version__
from ..bundle import PATH as SIGNATURES
from ..bundle import BundleShape
from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..find_index import PATH as SEARCH
from ..find_index import SearchShape
from ..model import Day, Entry, Family, Phase, Restart, Slug, Status, System, Tag
from ..packing import whole
from ..write import File
from .address import address
from .entry_markdown import entry_markdown

ROOT = "api/v1/"
DOCUMENT = ROOT + "openapi.json"
ENTRIES = ROOT + "entries/"


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EntryInList(Shape):
    """An entry's first facts, and where the rest is."""

    slug: Slug
    title: str
    summary: str
    url: str
    json_url: str
    markdown_url: str
    status: Status
    family: Slug
    phase: Slug
    systems: tuple[Slug, ...]
    tags: tuple[Slug, ...]
    effect: tuple[str, ...]
    restart: Restart
    signatures: tuple[str, ...]
    added: Day
    reviewed: Day


class EntryList(Shape):
    """All entries that aren't withdrawn, by slug."""

    version: Literal[1] = 1
    entries: tuple[EntryInList, ...]


class EntryDocument(Shape):
    """One entry, whole. ``url`` is its page."""

    version: Literal[1] = 1
    slug: Slug
    url: str
    entry: Entry


class Taxonomy(Shape):
    """Every name that an entry uses, with its definition; phases in the order in which a run meets them."""

    version: Literal[1] = 1
    phases: tuple[Phase, ...]
    families: tuple[Family, ...]
    systems: tuple[System, ...]
    tags: tuple[Tag, ...]


def list_files(catalogue: Catalogue, base_url: str = "") -> Iterator[File]:
    """What is under ``api/v1/`` of all entries, but the signature bundle and the index of ``find``."""
    yield File(DOCUMENT, _json(openapi(base_url)), "the description of the API")
    entries = sorted(catalogue.current, key=lambda loaded: loaded.slug)
    listed = EntryList(entries=tuple(_in_list(loaded, base_url) for loaded in entries))
    yield File(ROOT + "entries.json", _dumped(listed), "the list of entries")
    content = catalogue.content
    names = Taxonomy(
        phases=content.phases, families=content.families, systems=content.systems, tags=content.tags
    )
    yield File(ROOT + "taxonomy.json", _dumped(names), "the taxonomy")


def entry_document(loaded: LoadedEntry, base_url: str = "") -> File:
    """An entry as JSON."""
    page = address(base_url, f"failures/{loaded.slug}/")
    document = EntryDocument(slug=loaded.slug, url=page, entry=whole(loaded.entry))
    return File(f"{ENTRIES}{loaded.slug}.json", _dumped(document), f"the entry {loaded.slug}")


def entry_text(loaded: LoadedEntry, catalogue: Catalogue, base_url: str = "") -> File:
    """An entry as Markdown."""
    text = entry_markdown(loaded, catalogue, base_url)
    return File(f"{ENTRIES}{loaded.slug}.md", text.encode(), f"the entry {loaded.slug}")


def _in_list(loaded: LoadedEntry, base_url: str) -> EntryInList:
    entry = loaded.entry
    return EntryInList(
        slug=loaded.slug,
        title=entry.title,
        summary=entry.summary,
        url=address(base_url, f"failures/{loaded.slug}/"),
        json_url=address(base_url, f"{ROOT}entries/{loaded.slug}.json"),
        markdown_url=address(base_url, f"{ROOT}entries/{loaded.slug}.md"),
        status=entry.status,
        family=entry.family,
        phase=entry.phase,
        systems=tuple(known.id for known in entry.systems),
        tags=entry.tags,
        effect=entry.affected.effect if entry.affected else (),
        restart=entry.do_now.restart,
        signatures=tuple(signature.text for signature in entry.signatures),
        added=entry.added,
        reviewed=entry.reviewed,
    )


_OPERATIONS: tuple[tuple[str, str, str, type[BaseModel] | None], ...] = (
    ("entries.json", "listEntries", "All entries: their first facts, and where the rest is.", EntryList),
    ("entries/{slug}.json", "getEntry", "One entry, whole.", EntryDocument),
    ("entries/{slug}.md", "getEntryText", "One entry as Markdown.", None),
    ("taxonomy.json", "getTaxonomy", "Phases, families, systems and tags.", Taxonomy),
    (
        SIGNATURES.removeprefix(ROOT),
        "getSignatures",
        "Every message as an expression, with its role: what `diagnose` matches with.",
        BundleShape,
    ),
    (
        SEARCH.removeprefix(ROOT),
        "getSearchIndex",
        "Every message as a template, and how much each word tells of each entry: what `find` ranks by.",
        SearchShape,
    ),
)


def openapi(base_url: str = "") -> dict[str, Any]:
    """The OpenAPI 3.1 document of all files under ``api/v1/``."""
    models = [model for *_, model in _OPERATIONS if model is not None]
    _, schemas = TypeAdapter.json_schemas(
        [(model, "serialization", TypeAdapter(model)) for model in models],
        ref_template="#/components/schemas/{model}",
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "First Fault",
            "version": __version__,
            "summary": "The open encyclopedia of distributed-training failures, as static files.",
            "license": {"name": "CC BY 4.0", "url": "https://creativecommons.org/licenses/by/4.0/"},
        },
        "servers": [{"url": address(base_url, ROOT).rstrip("/") if base_url else "."}],
        "paths": {
            f"/{path}": _operation(path, name, summary, model) for path, name, summary, model in _OPERATIONS
        },
        "components": {"schemas": schemas["$defs"]},
    }


def _operation(path: str, name: str, summary: str, model: type[BaseModel] | None) -> dict[str, Any]:
    body: dict[str, Any] = (
        {"text/markdown": {"schema": {"type": "string"}}}
        if model is None
        else {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
    )
    slug = {
        "name": "slug",
        "in": "path",
        "required": True,
        "description": "An entry's name, as in `entries.json`.",
        "schema": {"type": "string", "pattern": "^[a-z0-9]+(?:-[a-z0-9]+)*$"},
    }
    operation: dict[str, Any] = {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": summary, "content": body}},
    }
    if "{slug}" in path:
        operation["parameters"] = [slug]
        operation["responses"]["404"] = {"description": "No entry has this name."}
    return {"get": operation}


def _dumped(model: BaseModel) -> bytes:
    return model.model_dump_json(by_alias=True, exclude_none=True).encode()


def _json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
