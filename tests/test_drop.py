"""Files and folders dropped with the mouse, as a person drops them: the browser's own drag events."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bench.diagnose import generate

from .test_diagnose_page import DIAGNOSE, run_of_eight, told, verdict


def drop(page: Page, path: Path) -> None:
    """Drag a file or folder of this machine from outside the browser onto the field for the log."""
    box = page.locator("#log").bounding_box()
    assert box
    place = {"x": box["x"] + 40, "y": box["y"] + 40}
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    browser = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})


def test_a_folder_of_eight_ranks_is_dropped_with_the_mouse(page: Page, address: str, tmp_path: Path) -> None:
    page.goto(address + DIAGNOSE)
    drop(page, run_of_eight(tmp_path / "logs"))
    expect(verdict(page)).to_be_visible()
    expect(told(page)).to_contain_text("rank 5")
    expect(told(page)).to_contain_text("shard part-0412.tar holds no samples")


def test_a_file_is_dropped_with_the_mouse(page: Page, address: str, tmp_path: Path) -> None:
    page.goto(address + DIAGNOSE)
    drop(page, run_of_eight(tmp_path / "logs") / "rank_5.log")
    expect(verdict(page)).to_be_visible()
    expect(told(page)).to_contain_text("rank_5.log")


@pytest.mark.soak
def test_a_gigabyte_is_dropped_stopped_and_dropped_again(page: Page, address: str, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    generate(log, 1_000_000_000)
    page.goto(address + DIAGNOSE)
    drop(page, log)
    expect(page.locator("#running-text")).to_have_text(re.compile(r"Read .+ of 1\.0 GB"))
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#running")).to_be_hidden()
    page.reload()
    drop(page, log)
    expect(verdict(page)).to_be_visible(timeout=60_000)
    expect(told(page)).to_contain_text("1.0 GB")
