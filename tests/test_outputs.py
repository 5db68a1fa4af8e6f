"""What the site holds for programs: the API against its OpenAPI document, feeds, sitemap, llms.txt, JSON-LD."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as XML

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from playwright.sync_api import Page
from referencing import Registry, Resource

from generator.build import ROOT, site_files
from generator.catalogue import Catalogue
from generator.load import load
from generator.markdown import Markdown
from generator.outputs.feeds import ATOM, changed_on

from .test_site import pages
from .tools.npm import MODULES, NODE

TSC = MODULES / "typescript" / "bin" / "tsc"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
JSON_LD = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.S)


def read(site: Path, path: str) -> Any:
    return json.loads((site / path).read_bytes())


# --- the API ------------------------------------------------------------------------------------------


def test_the_description_is_openapi(site: Path) -> None:
    validate(read(site, "api/v1/openapi.json"))


def described(site: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """Each path of the description, each file that it stands for, and its operation."""
    document = read(site, "api/v1/openapi.json")
    for path, item in document["paths"].items():
        for file in sorted((site / "api/v1").glob(path.lstrip("/").replace("{slug}", "*"))):
            yield path, file, item["get"]


def test_every_file_of_the_api_is_as_described(site: Path) -> None:
    document = read(site, "api/v1/openapi.json")
    registry: Registry[Any] = Registry().with_resource("urn:api", Resource.opaque(document))
    files = set()
    for path, file, operation in described(site):
        (kind, media) = next(iter(operation["responses"]["200"]["content"].items()))
        files.add(file)
        if kind == "application/json":
            schema = {"$ref": "urn:api" + media["schema"]["$ref"]}
            validator = Draft202012Validator(schema, registry=registry)
            assert list(validator.iter_errors(json.loads(file.read_bytes()))) == [], path
    others = {
        site / "api/v1" / name for name in ("openapi.json", "signatures.schema.json", "search.schema.json")
    }
    assert {file for file in (site / "api").rglob("*") if file.is_file()} - files == others


def test_a_wrong_file_would_be_noticed(site: Path) -> None:
    document = read(site, "api/v1/openapi.json")
    registry: Registry[Any] = Registry().with_resource("urn:api", Resource.opaque(document))
    validator = Draft202012Validator({"$ref": "urn:api#/components/schemas/EntryDocument"}, registry=registry)
    entry = read(site, "api/v1/entries/batch-size-triangle.json")
    entry["entry"]["do_now"]["restart"] = "perhaps"
    assert len(list(validator.iter_errors(entry))) == 1


def test_the_list_leads_to_every_entry(site: Path, address: str) -> None:
    content = load(ROOT / "content")[0]
    entries = read(site, "api/v1/entries.json")["entries"]
    assert [entry["slug"] for entry in entries] == [
        each.slug for each in content.entries if each.entry.status != "withdrawn"
    ]
    for entry in entries:
        for name in ("url", "json_url", "markdown_url"):
            target = site / entry[name].removeprefix(address)
            assert (target / "index.html" if name == "url" else target).is_file()


def test_an_entry_as_markdown_says_what_the_page_says(site: Path) -> None:
    text = (site / "api/v1/entries/batch-size-triangle.md").read_text()
    entry = next(
        each.entry for each in load(ROOT / "content")[0].entries if each.slug == "batch-size-triangle"
    )
    html = str(Markdown().blocks(text))
    assert f"# {entry.title}" in text
    assert all(step in text for step in entry.do_now.steps)
    assert all(snippet.code.rstrip() in text for fix in entry.fixes for snippet in fix.snippets)
    assert html.count("<pre") == text.count("```") // 2


def test_the_description_is_seen_at_its_place(page: Page, address: str) -> None:
    response = page.request.get(f"{address}api/v1/openapi.json")
    server = response.json()["servers"][0]["url"]
    assert page.request.get(f"{server}/entries.json").ok


# --- feeds, sitemap, llms.txt -------------------------------------------------------------------------


def test_feeds_are_atom(site: Path, address: str) -> None:
    feeds = list(site.rglob("feed.xml"))
    content = load(ROOT / "content")[0]
    catalogue = Catalogue(content)
    assert {path.parent.relative_to(site).as_posix() for path in feeds} == {
        ".",
        *(f"systems/{system.id}" for system in content.systems if catalogue.in_system(system.id)),
        *(f"families/{family.id}" for family in content.families if catalogue.in_family(family.id)),
    }
    for path in feeds:
        feed = XML.fromstring(path.read_bytes())
        assert feed.tag == f"{{{ATOM}}}feed"
        links = {link.get("rel"): str(link.get("href")) for link in feed.findall(f"{{{ATOM}}}link")}
        assert links["self"] == address + path.relative_to(site).as_posix()
        entries = feed.findall(f"{{{ATOM}}}entry")
        ids = [entry.findtext(f"{{{ATOM}}}id") for entry in entries]
        assert entries
        assert len(set(ids)) == len(ids)
        updated = [str(entry.findtext(f"{{{ATOM}}}updated")) for entry in entries]
        assert updated == sorted(updated, reverse=True)
        assert feed.findtext(f"{{{ATOM}}}updated") == updated[0]
        for entry in entries:
            assert all(entry.find(f"{{{ATOM}}}{name}") is not None for name in ("title", "link", "summary"))
            link = entry.find(f"{{{ATOM}}}link")
            assert link is not None
            assert (site / str(link.get("href")).removeprefix(address) / "index.html").is_file()


def test_an_entry_is_as_new_as_its_newest_change() -> None:
    content = load(ROOT / "content")[0]
    entry = content.entries[0].entry
    later = entry.model_copy(update={"changes": (_change(2030), _change(2029))})
    assert changed_on(later).year == 2030
    assert changed_on(entry.model_copy(update={"changes": ()})) == entry.added


def _change(year: int) -> Any:
    from generator.model import Change

    return Change(date=f"{year}-01-01", what="x")  # type: ignore[arg-type]


def test_the_sitemap_lists_every_page_once(site: Path, address: str) -> None:
    places = [
        str(url.findtext(f"{SITEMAP}loc"))
        for url in XML.fromstring((site / "sitemap.xml").read_bytes()).findall(f"{SITEMAP}url")
    ]
    redirects = {alias for each in load(ROOT / "content")[0].entries for alias in each.entry.aliases}
    expected = {
        address + path.relative_to(site).as_posix().removesuffix("index.html")
        for path in pages(site)
        if path.name != "404.html" and path.parent.name not in redirects
    }
    assert sorted(places) == sorted(expected)
    assert f"Sitemap: {address}sitemap.xml" in (site / "robots.txt").read_text()


def test_llms_txt_links_every_entry(site: Path, address: str) -> None:
    text = (site / "llms.txt").read_text()
    assert text.startswith("# First Fault\n\n> ")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all((site / link.removeprefix(address)).is_file() for link in links)
    assert sum("/entries/" in link for link in links) == len(read(site, "api/v1/entries.json")["entries"])


def test_without_an_address_nothing_claims_one() -> None:
    content = load(ROOT / "tests" / "golden" / "content")[0]
    files = {file.path: file.data.decode("utf-8", "replace") for file in site_files(content, ROOT)}
    assert not files.keys() & {"sitemap.xml", "robots.txt", "opensearch.xml"}
    feed = XML.fromstring(files["systems/pytorch/feed.xml"])
    link = feed.find(f"{{{ATOM}}}entry/{{{ATOM}}}link")
    assert link is not None
    assert str(link.get("href")).startswith("../../failures/")
    assert not any(urlsplit(url).netloc == "" and "/failures/" in url for url in _urls(files["index.html"]))


def _urls(html: str) -> list[str]:
    return [
        str(thing["url"])
        for data in JSON_LD.findall(html)
        for thing in json.loads(data)["@graph"]
        if "url" in thing
    ]


def test_a_browser_may_search_here(page: Page, site: Path, address: str) -> None:
    description = XML.fromstring((site / "opensearch.xml").read_bytes())
    url = description.find("{http://a9.com/-/spec/opensearch/1.1/}Url")
    assert url is not None
    # What is searched for stands behind the #, which a browser sends to nobody.
    place, _, asked = str(url.get("template")).partition("#")
    assert (place, asked) == (address, "q={searchTerms}")
    page.goto(
        f"{place}#{asked.replace('{searchTerms}', 'train_batch_size%20is%20not%20equal%20to%20micro_batch')}"
    )
    first = page.locator("#search-results [role=option]").first
    first.wait_for()
    assert "batch" in first.inner_text().lower()


# --- JSON-LD ------------------------------------------------------------------------------------------


def graphs(site: Path) -> Iterator[dict[str, Any]]:
    for path in pages(site):
        for data in JSON_LD.findall(path.read_text(encoding="utf-8")):
            yield json.loads(data)


def test_json_ld_is_typed_by_schema_org(site: Path, tmp_path: Path) -> None:
    """schema-dts holds schema.org's vocabulary as types: an unknown property or a wrong value doesn't compile."""
    found = list(graphs(site))
    kinds = {thing["@type"] for graph in found for thing in graph["@graph"]}
    assert kinds == {"WebSite", "TechArticle", "BreadcrumbList", "FAQPage"}
    (tmp_path / "node_modules").symlink_to(MODULES)
    assert _compiled(found, tmp_path) == ""
    broken = replace_first(found, "headline", "headlin")
    assert "headlin" in _compiled(broken, tmp_path)


def _compiled(found: list[dict[str, Any]], folder: Path) -> str:
    """What the type checker says of the graphs."""
    source = folder / "graphs.ts"
    things = "\n".join(f"check({json.dumps(graph)});" for graph in found)
    source.write_text(
        f'import type {{ Graph }} from "schema-dts";\nfunction check(graph: Graph): void {{}}\n{things}\n'
    )
    arguments = [
        "--noEmit",
        "--strict",
        "--skipLibCheck",
        "--module",
        "es2022",
        "--moduleResolution",
        "bundler",
    ]
    done = subprocess.run([NODE, TSC, *arguments, source], capture_output=True, text=True, cwd=folder)
    return done.stdout + done.stderr


def replace_first(found: list[dict[str, Any]], old: str, new: str) -> list[dict[str, Any]]:
    at = next(i for i, graph in enumerate(found) if old in json.dumps(graph))
    changed = json.loads(json.dumps(found[at]).replace(f'"{old}"', f'"{new}"', 1))
    return [*found[:at], changed]


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--", "a & b", "]]>"])
def test_nothing_in_json_ld_ends_its_element(text: str) -> None:
    from generator.outputs.linked_data import linked_data
    from generator.pages import all_pages

    content = load(ROOT / "tests" / "golden" / "content")[0]
    loaded = content.entries[0]
    changed = replace(loaded, entry=loaded.entry.model_copy(update={"title": text}))
    catalogue = Catalogue(replace(content, entries=(changed, *content.entries[1:])))
    page = next(page for page in all_pages(catalogue) if page.kind == "entry")
    data = str(linked_data(page, catalogue))
    assert not set("<>&") & set(data)
    assert text in [thing.get("headline") for thing in json.loads(data)["@graph"]]
