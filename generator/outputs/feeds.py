"""Atom feeds (RFC 4287): what is new and changed, of everything, of each system and of each family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from xml.etree import ElementTree as XML

from ..catalogue import Catalogue
from ..content import LoadedEntry
from ..markdown import MARKDOWN
from ..model import Entry
from ..write import File
from .address import address, permanent_id

ATOM = "http://www.w3.org/2005/Atom"
MOST = 100
"""Entries that a feed holds, the newest first."""
PATH = "feed.xml"


def feed_files(catalogue: Catalogue, base_url: str = "") -> Iterator[File]:
    """``feed.xml`` at the root and beside the page of each system and family that has entries."""
    feeds = [(PATH, "First Fault: all failures", "", catalogue.current)]
    for folder, groups, members in (
        ("systems", catalogue.content.systems, catalogue.in_system),
        ("families", catalogue.content.families, catalogue.in_family),
    ):
        for group in groups:
            if entries := members(group.id):
                page = f"{folder}/{group.id}/"
                feeds.append((page + PATH, f"First Fault: {group.name}", page, entries))
    for path, title, page, entries in feeds:
        yield File(path, _feed(path, title, page, entries, base_url), f"the feed {path}")


def changed_on(entry: Entry) -> date:
    """The day of an entry's newest change."""
    return max([entry.added, *(change.date for change in entry.changes)])


def _feed(path: str, title: str, page: str, entries: Iterable[LoadedEntry], base_url: str) -> bytes:
    newest = sorted(entries, key=lambda loaded: (-changed_on(loaded.entry).toordinal(), loaded.slug))[:MOST]
    # Without the site's address, links are relative to the feed's own.
    root = "" if base_url else "../" * path.count("/") or "./"
    feed = XML.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _text(feed, "id", permanent_id(path))
    _text(feed, "title", title)
    _text(
        feed, "updated", _moment(max((changed_on(each.entry) for each in newest), default=date(1970, 1, 1)))
    )
    XML.SubElement(_text(feed, "author", ""), "name").text = "First Fault"
    XML.SubElement(feed, "link", rel="self", type="application/atom+xml", href=root + address(base_url, path))
    XML.SubElement(feed, "link", rel="alternate", type="text/html", href=root + address(base_url, page))
    for loaded in newest:
        _entry(feed, loaded, root + address(base_url, f"failures/{loaded.slug}/"))
    XML.indent(feed, " ")
    return bytes(XML.tostring(feed, encoding="utf-8", xml_declaration=True)) + b"\n"


def _entry(feed: XML.Element, loaded: LoadedEntry, link: str) -> None:
    entry = loaded.entry
    item = XML.SubElement(feed, "entry")
    _text(item, "id", permanent_id(f"failures/{loaded.slug}"))
    _text(item, "title", entry.title)
    _text(item, "published", _moment(entry.added))
    _text(item, "updated", _moment(changed_on(entry)))
    XML.SubElement(item, "link", rel="alternate", type="text/html", href=link)
    for term in (entry.family, entry.phase, *(known.id for known in entry.systems)):
        XML.SubElement(item, "category", term=term)
    said = [entry.quick_answer.symptom, entry.quick_answer.cause, entry.quick_answer.fix]
    if entry.changes:
        newest = max(entry.changes, key=lambda change: change.date)
        said.insert(0, f"{newest.date}: {newest.what}")
    text = _text(item, "summary", "".join(f"<p>{MARKDOWN.inline(each)}</p>" for each in said))
    text.set("type", "html")


def _text(parent: XML.Element, name: str, text: str) -> XML.Element:
    element = XML.SubElement(parent, name)
    if text:
        element.text = text
    return element


def _moment(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"
