"""The site in a real browser: accessibility, widths, no JavaScript, the search, the keyboard, the views."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .tools.npm import MODULES

ROOT = Path(__file__).parents[1]
AXE = (MODULES / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
ENTRY = "failures/batch-size-triangle/"
KINDS = (
    "",
    "failures/",
    ENTRY,
    "failures/nccl-watchdog-timeout/",
    "deepspeed/",
    "phases/step/",
    "families/zero/",
    "systems/deepspeed/",
    "tags/zero-3/",
    "signatures/",
    "diagnose/",
    "compare/",
    "symptoms/",
    "changes/",
    "symptoms/silent-wrong-result/",
    "compare/?with=zero3-weight-must-be-2d,zero3-param-not-available,batch-size-triangle",
    "contribute/",
    "about/",
    "privacy/",
    "verify/",
    "404.html",
)

BUSY = "[aria-busy]"
"""What has not yet shown what it fetches."""

# Lines as people paste them: from other runs than the entries' own logs, with other numbers,
# prefixes and paths.
PASTED = (
    (
        "[rank3]: AssertionError: Check batch related parameters. train_batch_size is not equal to "
        "micro_batch_per_gpu * gradient_acc_step * world_size 256 != 8 * 4 * 6",
        "batch-size-triangle",
    ),
    (
        "Error invalid configuration argument at line 218 in file /home/runner/work/bitsandbytes/csrc/ops.cu",
        "bitsandbytes-invalid-configuration-argument",
    ),
    ("5: RuntimeError: 'weight' must be 2-D", "zero3-weight-must-be-2d"),
    (
        "[default1]:AssertionError: The parameter 447 has already been reduced. Gradient computed twice for this "
        "partition. Multiple gradient reduction is currently not supported",
        "gradient-computed-twice",
    ),
    (
        "deepspeed.runtime.zero.utils.ZeRORuntimeException: You are using ZeRO-Offload with a client provided "
        "optimizer (<class 'torch.optim.adamw.AdamW'>) which in most cases will yield poor performance.",
        "offload-client-optimizer",
    ),
    (
        "[2026-03-02 11:40:09,518] [ERROR] [launch.py:325:sigkill_handler] ['/opt/conda/bin/python3.10', '-u', "
        "'train.py', '--local_rank=7'] exits with return code = -9",
        "exit-code-minus-9",
    ),
    (
        "Exception ignored in: <function DeepSpeedCPUAdam.__del__ at 0x7f1c2a> "
        "AttributeError: 'DeepSpeedCPUAdam' object has no attribute 'ds_opt_adam'",
        "cpuadam-no-ds-opt-adam",
    ),
    (
        "(RayTrainWorker pid=8812) deepspeed.runtime.zero.utils.ZeRORuntimeException: The checkpoint being loaded "
        "used a DP world size of 16 but the current world size is 12. Automatic adjustment of ZeRO's optimizer "
        "state partitioning with a new world size is not currently supported.",
        "checkpoint-dp-world-size",
    ),
    (
        "Exception: Expected 16 of '*_optim_states.pt' under 'out/run7/global_step900' but found 8 files. "
        "Possibly due to an overwrite of an old checkpoint, or a checkpoint didn't get saved by one or more "
        "processes.",
        "zero-to-fp32-missing-optim-states",
    ),
    (
        "[rank6]:[E1104 02:17:40.882911 ProcessGroupNCCL.cpp:632] [Rank 6] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=90211, OpType=_ALLGATHER_BASE, NumelIn=1024, NumelOut=8192, "
        "Timeout(ms)=1800000) ran for 1800041 milliseconds before timing out.",
        "nccl-watchdog-timeout",
    ),
    (
        "0: AssertionError: ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism",
        "pipeline-with-zero2-or-zero3",
    ),
)


OPTIONS = "{resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}"
"""All rules that axe has for a page, with the one of WCAG 2.2 that it leaves out unless it is asked."""


def violations(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate(f"async () => (await axe.run(document, {OPTIONS})).violations")
    return [f"{v['id']}: {node['html'][:160]}" for v in found for node in v["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", KINDS)
def test_axe_finds_nothing(page: Page, address: str, path: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address + path)
    expect(page.locator(BUSY)).to_have_count(0)
    assert violations(page) == []


def test_a_finger_hits_what_it_means(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    for path in KINDS:
        page.goto(address + path)
        expect(page.locator(BUSY)).to_have_count(0)
        page.evaluate(AXE)
        found = page.evaluate("async () => (await axe.run(document, {runOnly: ['target-size']})).violations")
        assert [node["html"][:160] for each in found for node in each["nodes"]] == [], path


@pytest.mark.parametrize("width", [320, 390, 640, 820, 1440])
def test_no_page_scrolls_sideways(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for path in KINDS:
        page.goto(address + path)
        expect(page.locator(BUSY)).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path


def test_no_entry_is_wider_than_a_small_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 320, "height": 900})
    for folder in sorted((ROOT / "content" / "failures").iterdir()):
        page.goto(f"{address}failures/{folder.name}/", wait_until="domcontentloaded")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, folder.name


def test_entry_reads_whole_without_javascript(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + ENTRY)
    for heading in page.locator("main h2").all():
        expect(heading).to_be_visible()
    for link in page.locator("nav a").all():
        assert link.get_attribute("href")
    context.close()


@pytest.mark.parametrize(("line", "slug"), PASTED, ids=[slug for _, slug in PASTED])
def test_pasted_line_finds_its_entry_first(page: Page, address: str, line: str, slug: str) -> None:
    page.goto(address)
    page.keyboard.press("/")
    page.keyboard.insert_text(line)
    first = page.locator("#search-results [role=option]").first
    expect(first).to_contain_text("matches", ignore_case=True)
    assert slug in (first.get_attribute("href") or first.locator("a").first.get_attribute("href") or "")


def test_search_by_keyboard_alone(page: Page, address: str) -> None:
    page.goto(address + "deepspeed/")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.insert_text("return code = -9")
    expect(page.locator("#search-results [role=option]").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/failures/exit-code-minus-9/**")


def test_pagefind_answers_words_that_no_message_holds(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#q").fill("flattened partition eight-bit optimizer")
    expect(page.locator("#search-results [role=option]").first).to_be_visible()


def test_nothing_found_says_what_to_do(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#q").fill("zzqqxx wwvvkk")
    expect(page.locator("#search-results")).to_contain_text("Nothing")
