"""What the page's scripts do in a real browser: views, colors, copying, sorting, contents, printing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from generator.catalogue import Catalogue
from generator.load import load

ENTRY = "failures/batch-size-triangle/"


def visible_headings(page: Page) -> list[str]:
    return [heading.inner_text() for heading in page.locator("main h2").all() if heading.is_visible()]


def test_views_hide_and_are_remembered_and_linkable(page: Page, address: str) -> None:
    page.goto(address + ENTRY)
    whole = visible_headings(page)
    assert {"Do now", "Root cause", "FAQ", "Evidence"} <= set(whole)
    page.get_by_label("On call").check()
    on_call = visible_headings(page)
    assert on_call == [
        "Quick answer",
        "Do now",
        "Is it this one?",
        "How to confirm",
        "The fix",
        "Related failures",
    ]
    assert page.url.endswith("?view=on-call")
    page.goto(address + "failures/gradient-computed-twice/")
    assert visible_headings(page) == on_call
    page.goto(address + ENTRY + "?view=executive")
    assert visible_headings(page) == ["What this failure is"]
    expect(page.get_by_text("At risk")).to_be_visible()
    page.get_by_label("Engineer").check()
    assert visible_headings(page) == whole
    assert page.evaluate("localStorage.length") == 0


def test_views_by_keyboard(page: Page, address: str) -> None:
    page.goto(address + ENTRY)
    page.locator("input[value=engineer]").focus()
    page.keyboard.press("ArrowRight")
    assert "FAQ" not in visible_headings(page)


def test_link_into_a_hidden_part_shows_the_whole_page(page: Page, address: str) -> None:
    page.goto(address + ENTRY + "?view=on-call#faq")
    expect(page.locator("#faq")).to_be_in_viewport()
    assert page.locator("input[value=engineer]").is_checked()


def test_unknown_view_shows_all(page: Page, address: str) -> None:
    page.goto(address + ENTRY + "?view=nonsense")
    assert "FAQ" in visible_headings(page)


def test_copy_gives_the_signature_itself(page: Page, address: str) -> None:
    page.goto(address + ENTRY)
    button = page.get_by_role("button", name="Copy the message").first
    button.click()
    expect(button).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Check batch related parameters. train_batch_size is not equal to ")
    assert copied.endswith("}")


def test_copy_gives_the_code_beside_it(page: Page, address: str) -> None:
    content, _ = load(Path(__file__).parents[1] / "content")
    entry = Catalogue(content).by_slug["batch-size-triangle"].entry
    page.goto(address + ENTRY)
    told = [part.code for example in entry.examples for part in (example.failing, example.repaired)]
    buttons = page.get_by_role("button", name=re.compile("Copy the (failing|repaired) code"))
    expect(buttons).to_have_count(len(told))
    for button, code in zip(buttons.all(), told, strict=True):
        button.click()
        expect(button).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()").rstrip() == code.rstrip()
    page.get_by_role("button", name="Copy the command").first.click()
    assert page.evaluate("navigator.clipboard.readText()") == entry.confirm[0].command


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colors_follow_the_system_until_chosen(page: Page, address: str, scheme: str) -> None:
    def paper() -> str:
        color: str = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return color

    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address)
    of_system = paper()
    button = page.get_by_role("button", name="Colors")
    seen = {}
    for name in ("light", "dark"):
        button.click()
        expect(button).to_have_accessible_name(f"Colors: {name}")
        seen[name] = paper()
    assert seen["light"] != seen["dark"]
    assert of_system == seen[scheme]
    page.reload()
    assert paper() == seen["dark"]
    button.click()
    assert (paper(), page.evaluate("localStorage.length")) == (of_system, 0)


def test_listing_sorts_by_column(page: Page, address: str) -> None:
    page.goto(address + "failures/")

    def phases() -> list[int]:
        return [
            int(cell.get_attribute("data-sort") or "") for cell in page.locator("td[data-label=Phase]").all()
        ]

    page.get_by_role("button", name="Phase").click()
    assert phases() == sorted(phases())
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Phase").click()
    assert phases() == sorted(phases(), reverse=True)


def test_contents_mark_the_part_that_is_read(page: Page, address: str) -> None:
    page.goto(address + ENTRY + "#root-cause")
    expect(page.locator(".contents [aria-current]")).to_have_text("Root cause")


def test_print_is_the_sheet_for_on_call(page: Page, address: str) -> None:
    page.goto(address + ENTRY + "?view=executive")
    page.emulate_media(media="print")
    assert "Do now" in visible_headings(page)
    assert "FAQ" not in visible_headings(page)
    assert not page.locator(".masthead").is_visible()


def test_storage_switched_off_breaks_nothing(page: Page, address: str) -> None:
    page.add_init_script("Object.defineProperty(window, 'localStorage', {get() { throw new Error('off') }})")
    page.goto(address + ENTRY)
    page.get_by_label("On call").check()
    assert "FAQ" not in visible_headings(page)
    page.get_by_role("button", name="Colors").click()


def test_without_javascript_nothing_is_offered_that_needs_it(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + ENTRY)
    for part in ("#search", "#theme", ".views", ".copy"):
        assert not any(found.is_visible() for found in page.locator(part).all()), part
    context.close()
