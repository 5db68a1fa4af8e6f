"""The search box in a real browser: pasting lines, the keyboard, what is said to those who can't see, failures."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from .test_reading import violations

WRAPPED = """[rank0]: Traceback (most recent call last):
[rank0]: AssertionError: Check batch related parameters. train_batch_size is not
[rank0]: equal to micro_batch_per_gpu * gradient_acc_step
[rank0]: * world_size 32 != 4 * 1 * 3
"""


def options(page: Page) -> Locator:
    return page.locator("#search-results [role=option]")


def box(page: Page) -> Locator:
    return page.get_by_role("combobox")


def ask(page: Page, text: str) -> None:
    page.keyboard.press("/")
    page.keyboard.insert_text(text)
    expect(page.get_by_role("status")).not_to_be_empty()


def test_pasted_lines_are_searched_as_lines(page: Page, address: str) -> None:
    page.goto(address + "deepspeed/")
    page.evaluate("text => navigator.clipboard.writeText(text)", WRAPPED)
    page.keyboard.press("/")
    page.keyboard.press("Control+V")
    expect(options(page).first).to_contain_text("matches the message")
    expect(options(page).first).to_have_attribute("href", re.compile("/failures/batch-size-triangle/$"))
    expect(box(page)).to_have_value(re.compile("last\\): \\[rank0\\]: AssertionError"))


def test_arrows_choose_and_escape_closes(page: Page, address: str) -> None:
    page.goto(address + "about/")
    ask(page, "gradient")
    expect(box(page)).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    first = options(page).first
    expect(first).to_have_attribute("aria-selected", "true")
    expect(box(page)).to_have_attribute("aria-activedescendant", first.get_attribute("id") or "")
    page.keyboard.press("ArrowUp")
    expect(box(page)).not_to_have_attribute("aria-activedescendant", re.compile(""))
    page.keyboard.press("ArrowUp")
    expect(options(page).last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(box(page)).to_have_attribute("aria-expanded", "false")
    expect(options(page).first).to_be_hidden()
    expect(box(page)).to_have_value("gradient")
    page.keyboard.press("ArrowDown")
    expect(options(page).first).to_be_visible()


def test_enter_before_the_answer_opens_the_first_hit(page: Page, address: str) -> None:
    page.goto(address + "about/")
    page.keyboard.press("/")
    page.keyboard.type("return code = -9")
    page.keyboard.press("Enter")
    page.wait_for_url("**/failures/exit-code-minus-9/")


def test_a_slash_in_a_field_is_a_slash(page: Page, address: str) -> None:
    page.goto(address + "about/")
    page.keyboard.press("/")
    page.keyboard.type("a/b")
    expect(page.locator("#q")).to_have_value("a/b")


def test_the_number_of_results_is_said(page: Page, address: str) -> None:
    page.goto(address + "about/")
    ask(page, "zero3 weight gathered")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ results?$"))
    page.locator("#q").fill("zzqqxx")
    expect(page.get_by_role("status")).to_have_text("Nothing found.")
    expect(page.locator("#search-results").get_by_role("link", name="all failures")).to_be_visible()


def test_a_message_that_is_not_known_is_told_from_one_that_is(page: Page, address: str) -> None:
    page.goto(address + "about/")
    ask(page, "[rank2]: RuntimeError: CUDA error: the checkpoint gradient was watched by a dragon")
    expect(options(page).first).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("No known message stands in this text.")
    expect(page.locator("#search-results")).to_contain_text("may be about another failure")
    page.locator("#q").fill("[rank2]: launch.py: python train.py exits with return code = -9")
    expect(options(page).first).to_contain_text("matches the message")
    expect(page.locator("#search-results")).not_to_contain_text("another failure")


def test_leaving_the_box_closes_the_list_and_a_click_opens_a_hit(page: Page, address: str) -> None:
    page.goto(address + "about/")
    ask(page, "return code = -9")
    page.keyboard.press("Tab")
    expect(options(page).first).to_be_hidden()
    page.locator("#q").click()
    options(page).first.click()
    page.wait_for_url("**/failures/exit-code-minus-9/")


def test_markup_in_a_text_stays_text(page: Page, address: str) -> None:
    page.goto(address + "about/")
    ask(page, "<img src=x onerror=alert(1)> watchdog <b>timeout</b> gradient")
    assert page.locator("#search-results img, #search-results b").count() == 0


def test_what_is_no_word_finds_nothing(page: Page, address: str) -> None:
    page.goto(address + "about/")
    ask(page, "a" * 5000)
    expect(page.get_by_role("status")).to_have_text("Nothing found.")


def test_a_words_first_letters_are_no_hit(page: Page, address: str) -> None:
    """Of a word that no page has, Pagefind finds what begins like it: here the qwZ of quantized weights."""
    page.goto(address)
    ask(page, "qwxyz flurble")
    expect(page.get_by_role("status")).to_have_text("Nothing found.")
    expect(options(page)).to_have_count(0)


def test_a_search_that_cannot_load_says_so(page: Page, address: str) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=204)

    page.route("**/search.json", refuse)
    page.goto(address + "about/")
    ask(page, "gradient")
    expect(page.locator("#search-results")).to_contain_text("The search could not be loaded.")


def test_without_pagefind_the_engine_still_answers(page: Page, address: str) -> None:
    page.route(
        "**/pagefind/pagefind.js", lambda route: route.fulfill(body="", content_type="text/javascript")
    )
    page.goto(address + "about/")
    ask(page, "return code = -9")
    expect(options(page).first).to_have_attribute("href", re.compile("/failures/exit-code-minus-9/$"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_open_list(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address + "about/")
    ask(page, "return code = -9 gradient")
    page.keyboard.press("ArrowDown")
    assert violations(page) == []
    page.locator("#q").fill("zzqqxx")
    expect(page.get_by_role("status")).to_have_text("Nothing found.")
    assert violations(page) == []


def test_the_list_fits_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    for path in ("", "about/"):
        page.goto(address + path)
        ask(page, "return code = -9 gradient")
        list_box = page.get_by_role("listbox").bounding_box()
        assert list_box is not None
        assert list_box["x"] >= 0
        assert list_box["x"] + list_box["width"] <= 320
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
