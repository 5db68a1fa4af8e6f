"""The finder for those without an error line: every silent failure is reached, and no answer leads nowhere."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from generator.catalogue import Catalogue
from generator.load import load
from generator.symptoms import FEW, QUESTIONS, ROOT, nodes

CATALOGUE = Catalogue(load(Path(__file__).parents[1] / "content")[0])
NODES = {node.path: node for node in nodes(CATALOGUE)}


def test_every_answer_leads_to_a_page_with_what_is_left() -> None:
    assert NODES[ROOT].question is QUESTIONS[0]
    answers = [answer for node in NODES.values() for answer in node.answers]
    assert {answer.path for answer in answers} == NODES.keys() - {ROOT}
    for answer in answers:
        assert len(NODES[answer.path].entries) == answer.count > 0
        assert NODES[answer.path].given[-1][1] == answer.text


def test_every_failure_that_shows_without_an_error_ends_a_way() -> None:
    silent = {
        loaded.slug
        for loaded in CATALOGUE.current
        if loaded.entry.affected and set(loaded.entry.affected.effect) - {"crash"}
    }
    ends = {loaded.slug for node in NODES.values() if node.question is None for loaded in node.entries}
    assert silent <= ends
    assert "exit-code-minus-9" in ends


def test_a_question_is_asked_only_where_it_parts() -> None:
    for node in NODES.values():
        if node.question is not None and node.given:
            assert len(node.entries) > FEW
            assert any(answer.count < len(node.entries) for answer in node.answers)


def test_the_way_is_walked_without_javascript(browser: Browser, address: str) -> None:
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(address)
    page.get_by_role("link", name="Start from what you see").click()
    path = ROOT
    while (node := NODES[path]).question is not None:
        assert page.get_by_text(node.question.why).is_visible()
        path = max(node.answers, key=lambda answer: answer.count).path
        page.locator(f'.answers a[href$="{path}"]').click()
        assert page.url == address + path
    titles = page.locator(".left h3 .entry-link > :last-child").all_inner_texts()
    assert titles == [loaded.entry.title for loaded in NODES[path].entries]
    page.get_by_role("link", name="Change the answer to").last.click()
    assert page.url == address + NODES[path].given[-1][2]
    page.context.close()
