"""What crawlers, search boxes and language models look for at a site's root."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.etree import ElementTree as XML

from ..catalogue import Catalogue
from ..markdown import MARKDOWN, plain
from ..pages import Page
from ..write import File
from .address import address
from .feeds import changed_on

UNLISTED = frozenset({"redirect", "404"})
"""Kinds of page that lead nowhere of their own."""


def robot_files(catalogue: Catalogue, pages: Iterable[Page], base_url: str = "") -> Iterator[File]:
    """llms.txt; and where the site's address is known, what may hold absolute addresses only."""
    yield File("llms.txt", _llms(catalogue, base_url).encode(), "llms.txt")
    if base_url:
        yield File("sitemap.xml", _sitemap(catalogue, pages, base_url), "the sitemap")
        robots = f"User-agent: *\nAllow: /\nSitemap: {address(base_url, 'sitemap.xml')}\n"
        yield File("robots.txt", robots.encode(), "robots.txt")
        yield File("opensearch.xml", _opensearch(base_url), "the description of the search")


def _llms(catalogue: Catalogue, base_url: str) -> str:
    """https://llmstxt.org: a title, a summary, then links with a sentence each."""
    lines = [
        "# First Fault",
        "",
        "> The open encyclopedia of distributed-training failures: for an error line, what it is, which rank "
        "started it, one check to be sure, and the fix. Causes are graded by evidence.",
        "",
        f"An error text is matched by the templates of [signatures.json]({address(base_url, 'api/v1/signatures.json')}); "
        f"the files are described by [OpenAPI]({address(base_url, 'api/v1/openapi.json')}). A match is a lead: run "
        "the entry's first check before you apply a fix.",
    ]
    for phase in catalogue.content.phases:
        if entries := catalogue.in_phase(phase.id):
            lines += ["", f"## {phase.name}", ""]
            for loaded in entries:
                link = address(base_url, f"api/v1/entries/{loaded.slug}.md")
                symptom = MARKDOWN.unmarked(loaded.entry.quick_answer.symptom)
                title = plain(loaded.entry.title.replace("[", "(").replace("]", ")"))
                lines.append(f"- [{title}]({link}): {plain(symptom)}")
    return "\n".join(lines) + "\n"


def _sitemap(catalogue: Catalogue, pages: Iterable[Page], base_url: str) -> bytes:
    """https://www.sitemaps.org/protocol.html, with the day of its newest change for each entry
    that isn't withdrawn."""
    urlset = XML.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    days = {f"failures/{loaded.slug}/": changed_on(loaded.entry) for loaded in catalogue.current}
    for page in pages:
        if page.kind not in UNLISTED and (page.kind != "entry" or page.url in days):
            url = XML.SubElement(urlset, "url")
            XML.SubElement(url, "loc").text = address(base_url, page.url)
            if page.url in days:
                XML.SubElement(url, "lastmod").text = days[page.url].isoformat()
    return _xml(urlset)


def _opensearch(base_url: str) -> bytes:
    """OpenSearch 1.1: the browser's own search field asks this site.

    The terms stand behind the #, so that the browser keeps them to itself.
    """
    root = XML.Element("OpenSearchDescription", xmlns="http://a9.com/-/spec/opensearch/1.1/")
    XML.SubElement(root, "ShortName").text = "First Fault"
    XML.SubElement(root, "Description").text = "Distributed-training failures by error line"
    XML.SubElement(root, "InputEncoding").text = "UTF-8"
    XML.SubElement(root, "Url", type="text/html", template=address(base_url, "#q={searchTerms}"))
    return _xml(root)


def _xml(root: XML.Element) -> bytes:
    XML.indent(root, " ")
    return bytes(XML.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"
