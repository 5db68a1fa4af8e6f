"""Failures beside one another, in a real browser: the hub's filters, picking, and the columns."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from generator.catalogue import Catalogue
from generator.load import load
from generator.views import facets, hub_filters, hub_rows

ROOT = Path(__file__).parents[1]
CATALOGUE = Catalogue(load(ROOT / "content")[0])
ROWS = hub_rows(CATALOGUE, CATALOGUE.hubs["deepspeed"])
ENTRIES = [loaded for row in ROWS for loaded in row.entries]
PAIR = ("zero3-weight-must-be-2d", "zero3-embedding-resize")


def having(**chosen: str) -> set[str]:
    """The slugs of the hub's entries that have all of these."""
    return {
        loaded.slug
        for loaded in ENTRIES
        if all(value in facets(loaded.entry)[name] for name, value in chosen.items())
    }


def shown(page: Page) -> set[str]:
    rows = page.locator("#failures-table tbody tr:not([hidden])").all()
    return {str(row.get_attribute("data-slug")) for row in rows}


def test_every_filter_has_an_option_that_leaves_something_out() -> None:
    filters = hub_filters(CATALOGUE, ROWS)
    assert {each.id for each in filters} == {"stage", "offload", "family", "effect", "system", "evidence"}
    for each in filters:
        assert any(0 < option.count < len(ENTRIES) for option in each.options), each.id
        assert all(option.count == len(having(**{each.id: option.value})) for option in each.options)


def test_a_filter_is_a_link_that_can_be_shared(page: Page, address: str) -> None:
    page.goto(address + "deepspeed/")
    assert shown(page) == having()
    page.locator("#filters summary").click()
    page.locator('a[data-filter="stage"][data-value="3"]').click()
    page.locator('a[data-filter="family"][data-value="zero"]').click()
    assert page.url == f"{address}deepspeed/?stage=3&family=zero"
    both = having(stage="3", family="zero")
    assert shown(page) == both
    assert 0 < len(both) < len(ENTRIES)
    expect(page.locator("#filters-said")).to_have_text(f"{len(both)} of {len(ENTRIES)} failures")
    on_map = {
        str(link.get_attribute("href")).split("/")[-2]
        for link in page.locator(".map li:not(.left-out) a").all()
    }
    assert on_map == both
    page.goto(page.url)
    assert shown(page) == both
    page.locator('a[data-filter="family"][data-value="zero"]').click()
    assert shown(page) == having(stage="3")
    page.go_back()
    assert shown(page) == both
    page.get_by_role("link", name="Show all").first.click()
    assert shown(page) == having()
    assert page.url == f"{address}deepspeed/"


def test_nothing_left_says_so(page: Page, address: str) -> None:
    page.goto(address + "deepspeed/?family=zero&effect=slowdown&system=slurm&stage=1")
    assert shown(page) == set()
    expect(page.locator("#none-left")).to_be_visible()
    page.locator("#none-left a").click()
    expect(page.locator("#none-left")).to_be_hidden()
    assert shown(page) == having()


def test_two_to_four_are_picked_into_columns(page: Page, address: str) -> None:
    page.goto(address + "deepspeed/")
    boxes = page.locator("#failures-table input[type=checkbox]")
    boxes.nth(0).check()
    expect(page.locator("#picked a")).to_have_count(0)
    for number in (1, 2, 3):
        boxes.nth(number).check()
    assert boxes.nth(4).is_disabled()
    slugs = [str(boxes.nth(number).get_attribute("value")) for number in range(4)]
    page.locator("#picked a").click()
    page.wait_for_url(f"{address}compare/?with={','.join(slugs)}")
    heads = page.locator("table.columns thead th > a:not(.drop)")
    expect(heads).to_have_text([CATALOGUE.by_slug[slug].entry.title for slug in slugs])
    expect(page.locator("#picker")).to_be_hidden()


def test_columns_say_what_the_entries_say(page: Page, address: str) -> None:
    page.goto(f"{address}compare/?with={','.join(PAIR)}")
    table = page.locator("table.columns")
    expect(table.locator("thead th")).to_have_count(2)
    for number, slug in enumerate(PAIR):
        entry = CATALOGUE.by_slug[slug].entry
        column = table.locator(f"tbody td:nth-child({number + 2})")
        text = " ".join(column.all_inner_texts())
        assert entry.do_now.restart_why.replace("`", "") in text
        assert all(grade in text for grade in {cause.grade for cause in entry.causes})
    assert page.locator("table.columns [id], table.columns button").count() == 0
    for link in page.locator("table.columns td a").all():
        target = str(link.get_attribute("href"))
        assert target.startswith(("http://", "https://")), target
        if target.startswith(address):
            assert page.request.get(target).ok, target
    (told,) = (
        other.difference for other in CATALOGUE.by_slug[PAIR[0]].entry.look_alikes if other.entry == PAIR[1]
    )
    assert told.replace("`", "") in page.locator(".apart").inner_text()


def test_a_failure_is_added_and_removed(page: Page, address: str) -> None:
    page.goto(f"{address}compare/?with={PAIR[0]}")
    expect(page.locator("#columns")).to_contain_text("Add another one")
    page.locator("#other").select_option(PAIR[1])
    page.get_by_role("button", name="Add").click()
    page.wait_for_url(f"{address}compare/?with={','.join(PAIR)}")
    page.locator("a.drop").first.click()
    page.wait_for_url(f"{address}compare/?with={PAIR[1]}")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("no-such-failure", "no-such-failure"),
        (f"{PAIR[0]},no-such-failure", "no-such-failure"),
        ("../../api,%3Cimg%20src=x%3E,//example.org/x", ""),
        ("", ""),
    ],
)
def test_what_is_no_failure_is_not_shown(browser: Browser, address: str, asked: str, said: str) -> None:
    opened = browser.new_context().new_page()
    requests: list[str] = []
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(f"{address}compare/?with={asked}")
    expect(opened.locator("[aria-busy]")).to_have_count(0)
    text = opened.locator("#columns").inner_text()
    assert (f"There is no failure named {said} here." in text) == bool(said)
    assert opened.locator("#columns img").count() == 0
    assert all(url.startswith(address) for url in requests)
    opened.context.close()


def test_the_entry_leads_to_the_comparison_with_its_look_alikes(page: Page, address: str) -> None:
    page.goto(f"{address}failures/{PAIR[0]}/")
    page.get_by_role("link", name="Compare them in columns").click()
    page.wait_for_url(re.compile(rf"{re.escape(address)}compare/\?with={PAIR[0]},"))
    expect(page.locator("table.columns thead th")).to_have_count(4)


def test_without_javascript_all_stand_in_one_table(browser: Browser, address: str) -> None:
    opened = browser.new_context(java_script_enabled=False).new_page()
    opened.goto(address + "deepspeed/?family=zero")
    assert opened.locator("#failures-table tbody tr").count() == len(ENTRIES)
    expect(opened.locator("#filters")).to_be_hidden()
    opened.goto(address + "compare/")
    opened.locator("noscript a").first.click()
    assert opened.url == f"{address}deepspeed/#side-by-side"
    opened.context.close()


def test_columns_print(page: Page, address: str) -> None:
    page.goto(f"{address}compare/?with={','.join(PAIR)}")
    expect(page.locator("table.columns thead th")).to_have_count(2)
    page.emulate_media(media="print")
    expect(page.locator("#picker")).to_be_hidden()
    expect(page.locator("table.columns")).to_be_visible()
    expect(page.locator(".masthead")).to_be_hidden()
