"""Every kind of page for readers who enlarge, who choose their own colors, who want no motion, who have no mouse."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from .test_reading import BUSY, ENTRY, KINDS
from .tools import browser as chromium

CONTRAST = 3
"""Of a sign to what is around it: https://www.w3.org/TR/WCAG22/#non-text-contrast"""


def opened(page: Page, address: str, path: str) -> Page:
    page.goto(address + path)
    expect(page.locator(BUSY)).to_have_count(0)
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_text_of_twice_the_size_is_read_whole(browser: Browser, address: str, width: int) -> None:
    """Twice the size of text alone, as a browser's settings give; a zoom of 200 % is the width halved."""
    large = [*chromium.flags(), "--blink-settings=defaultFontSize=32"]
    enlarged = browser.browser_type.launch(executable_path=chromium.find(), args=large)
    page = enlarged.new_page(viewport={"width": width, "height": 900})
    for path in KINDS:
        opened(page, address, path)
        assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        assert page.evaluate(CUT_OFF) == [], path
    enlarged.close()


CUT_OFF = """() => [...document.querySelectorAll('body *')].filter(element => {
  const style = getComputedStyle(element);
  if (element.closest('.vh, svg') || element.clientWidth === 0 || style.webkitLineClamp !== 'none') return false;
  const text = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '');
  const hidden = side => ['hidden', 'clip'].includes(style[side]);
  return text && ((hidden('overflowX') && style.textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1)
    || (hidden('overflowY') && element.scrollHeight > element.clientHeight + 1));
}).map(element => element.outerHTML.slice(0, 160))"""
"""Elements whose own text is cut off and can't be scrolled to; where lists show a message's beginning is meant."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colors_hide_no_sign(browser: Browser, address: str, scheme: Any) -> None:
    context = browser.new_context(forced_colors="active", color_scheme=scheme)
    page = context.new_page()
    for path in KINDS:
        opened(page, address, path)
        assert page.evaluate(INVISIBLE, CONTRAST) == [], path
    opened(page, address, ENTRY)
    ground = "element => getComputedStyle(element).backgroundColor"
    chosen = page.locator(".views input:checked + span")
    assert chosen.evaluate(ground) != page.locator("html").evaluate(ground)
    context.close()


INVISIBLE = """least => {
  const parsed = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const lightness = ([r, g, b]) => [r, g, b].map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const paper = lightness(parsed(getComputedStyle(document.documentElement).backgroundColor));
  const seen = color => { const [r, g, b, a = 1] = parsed(color); return a > 0.2 && contrast(lightness([r, g, b]), paper) >= least; };
  const told = shape => {
    const style = getComputedStyle(shape);
    return (style.fill !== 'none' && seen(style.fill)) || (style.stroke !== 'none' && seen(style.stroke));
  };
  const kinds = ':is(path, rect, circle, line, polyline)';
  const parts = element => element.tagName === 'use'
    ? [...document.querySelectorAll(`${element.getAttribute('href')} ${kinds}, ${element.getAttribute('href')}${kinds}`)]
    : [element];
  return [...document.querySelectorAll(`svg ${kinds}, svg use`)].filter(element => !element.closest('defs, symbol')
    && element.getClientRects().length > 0 && !parts(element).some(told))
    .map(element => (element.closest('svg').getAttribute('class') ?? '') + ' ' + element.outerHTML.slice(0, 120));
}"""
"""Shapes of drawings that can't be told from the page."""


def test_reduced_motion_is_none(browser: Browser, address: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    for path in KINDS:
        opened(page, address, path)
        assert page.evaluate(MOVES) == [], path
    context.close()


MOVES = """() => [...document.querySelectorAll('*')].filter(element => {
  const style = getComputedStyle(element);
  return style.scrollBehavior !== 'auto' || style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0;
}).map(element => element.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("path", KINDS)
def test_tab_reaches_everything_that_can_be_used(page: Page, address: str, path: str) -> None:
    """Each in turn, in the order of the page, and one sees where one is."""
    opened(page, address, path)
    due = page.evaluate(WATCHED)
    for _ in range(due):
        page.keyboard.press("Tab")
    reached = page.evaluate("reached")
    assert [each["html"] for each in reached if not each["marked"]] == []
    at = [each["at"] for each in reached]
    assert at == list(range(due)), page.evaluate(MISSED, at)


WATCHED = """() => {
  const all = 'a[href], button, input, select, textarea, summary, [tabindex]';
  // Of a group of radio buttons Tab reaches the chosen one; arrows go on from there.
  window.usable = [...document.querySelectorAll(all)].filter(element => element.checkVisibility({visibilityProperty: true})
    && !element.disabled && element.tabIndex >= 0 && !(element.type === 'radio' && !element.checked));
  window.reached = [];
  document.addEventListener('focusin', ({target}) => {
    const shown = ['radio', 'checkbox', 'file'].includes(target.type) ? target.nextElementSibling : null;
    const marked = [target, shown, target.parentElement].some(each => each !== null
      && getComputedStyle(each).outlineStyle !== 'none' && parseFloat(getComputedStyle(each).outlineWidth) >= 1);
    reached.push({at: usable.indexOf(target), marked, html: target.outerHTML.slice(0, 160)});
  });
  return usable.length;
}"""
MISSED = """at => window.usable.filter((_, i) => !at.includes(i)).slice(0, 5).map(e => e.outerHTML.slice(0, 160))"""
