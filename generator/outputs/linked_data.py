"""JSON-LD of a page in schema.org's terms: what search engines read of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..markdown import MARKDOWN
from ..pages import Page
from .address import address, permanent_id
from .feeds import changed_on

LICENSE = "https://creativecommons.org/licenses/by/4.0/"
Thing = dict[str, Any]


def linked_data(page: Page, catalogue: Catalogue, base_url: str = "") -> Markup:
    """The page's things as JSON for a script element of type application/ld+json; empty where it has none."""
    graph: list[Thing] = []
    if page.kind == "home":
        graph = [_site(base_url)]
    elif page.kind == "entry":
        loaded: LoadedEntry = page.data["loaded"]
        graph = [_article(loaded, catalogue, base_url), _trail(loaded, catalogue, base_url)]
        if loaded.entry.faq:
            graph.append(_questions(loaded, base_url))
    if not graph:
        return Markup()
    text = json.dumps({"@context": "https://schema.org", "@graph": graph}, ensure_ascii=False)
    # Nothing in the data may end the script element or start a comment in it.
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _site(base_url: str) -> Thing:
    return {
        "@type": "WebSite",
        "@id": permanent_id("site"),
        "name": "First Fault",
        "description": "The open encyclopedia of distributed-training failures.",
        "license": LICENSE,
        "inLanguage": "en",
        **_url(base_url, ""),
    }


def _article(loaded: LoadedEntry, catalogue: Catalogue, base_url: str) -> Thing:
    entry = loaded.entry
    return {
        "@type": "TechArticle",
        "@id": permanent_id(f"failures/{loaded.slug}"),
        "headline": entry.title,
        "description": MARKDOWN.unmarked(entry.summary),
        "datePublished": entry.added.isoformat(),
        "dateModified": max(changed_on(entry), entry.reviewed).isoformat(),
        "inLanguage": "en",
        "license": LICENSE,
        "isAccessibleForFree": True,
        "articleSection": catalogue.phases[entry.phase].name,
        "keywords": [
            catalogue.families[entry.family].name,
            *(catalogue.tags[tag].name for tag in entry.tags),
        ],
        "about": [
            {"@type": "SoftwareApplication", "name": catalogue.systems[known.id].name}
            for known in entry.systems
        ],
        "citation": [reference.url for reference in entry.references],
        "isPartOf": {"@type": "WebSite", "@id": permanent_id("site"), "name": "First Fault"},
        **_url(base_url, f"failures/{loaded.slug}/"),
    }


def _trail(loaded: LoadedEntry, catalogue: Catalogue, base_url: str) -> Thing:
    phase = catalogue.phases[loaded.entry.phase]
    steps = [
        ("Failures", "failures/"),
        (phase.name, f"phases/{phase.id}/"),
        (loaded.entry.title, f"failures/{loaded.slug}/"),
    ]
    return {"@type": "BreadcrumbList", "itemListElement": list(_steps(steps, base_url))}


def _steps(steps: Iterable[tuple[str, str]], base_url: str) -> Iterable[Thing]:
    for position, (name, path) in enumerate(steps, 1):
        # A step without an address is still a step; a relative one would be taken for another page's.
        item = {"item": address(base_url, path)} if base_url else {}
        yield {"@type": "ListItem", "position": position, "name": name, **item}


def _questions(loaded: LoadedEntry, base_url: str) -> Thing:
    return {
        "@type": "FAQPage",
        **_url(base_url, f"failures/{loaded.slug}/#faq"),
        "mainEntity": [
            {
                "@type": "Question",
                "name": each.question,
                "acceptedAnswer": {"@type": "Answer", "text": str(MARKDOWN.blocks(each.answer))},
            }
            for each in loaded.entry.faq
        ],
    }


def _url(base_url: str, path: str) -> Thing:
    return {"url": address(base_url, path)} if base_url else {}
