"""The page /diagnose/ and the box of an entry, in a real browser, with the real engine."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect

from .test_reading import violations

DIAGNOSE = "diagnose/"
ENTRY = "failures/batch-size-triangle/"
TRIANGLE = (
    "[rank0]: AssertionError: Check batch related parameters. train_batch_size is not equal to "
    "micro_batch_per_gpu * gradient_acc_step * world_size 256 != 8 * 4 * 6\n"
)
WATCHDOG = (
    "[rank{rank}]:[E1130 10:50:{second:02}.822000 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=412, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, "
    "Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n"
)
UNKNOWN = (
    "[rank2]: Traceback (most recent call last):\n"
    '[rank2]:   File "/home/alice/run/data.py", line 12, in load\n'
    '[rank2]:     raise ValueError(f"shard {name} holds no samples")\n'
    "[rank2]: ValueError: shard part-0412.tar on gpu-17.cluster.local (10.12.0.7) holds no samples\n"
)


def told(page: Page) -> Locator:
    return page.locator("#told")


def verdict(page: Page) -> Locator:
    return page.locator("#verdict")


def diagnose(page: Page, text: str) -> None:
    page.locator("#log").fill(text)
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(verdict(page)).to_be_visible()


def run_of_eight(folder: Path) -> Path:
    """Logs of eight ranks, of which the fifth fails and the others wait ten minutes for it."""
    folder.mkdir(parents=True)
    for rank in range(8):
        steps = [f"2026-11-30 10:{minute:02}:{rank:02} step {minute} loss 2.5\n" for minute in range(40)]
        last = WATCHDOG.format(rank=rank, second=20 + rank)
        if rank == 5:
            last = (
                "2026-11-30 10:40:00 ERROR uncaught\nTraceback (most recent call last):\n"
                '  File "train.py", line 88, in <module>\n    main()\n'
                "ValueError: shard part-0412.tar holds no samples\n"
            )
        (folder / f"rank_{rank}.log").write_text("".join(steps) + last)
    (folder / "model.safetensors").write_bytes(b"\x00" * 100)
    (folder / "config.json").write_text('{"ValueError: not a log": 1}')
    return folder


@pytest.fixture
def sent(page: Page) -> Iterator[list[Request]]:
    """What the page requests; none of it may hold anything of a log."""
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))
    yield requests
    for request in requests:
        assert request.method == "GET", request.url
        assert request.post_data is None, request.url


# --- what goes in ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "headline", "entry"),
    [
        (0, "The log states what started it: rank 1.", "cpuadam-no-ds-opt-adam"),
        (1, "A launcher's or the system's word tells what started it: rank 0.", "exit-code-minus-9"),
        (2, "The log states what started it: all of ranks 0-1 alike.", "batch-size-triangle"),
    ],
)
def test_samples_lead_to_their_entries(
    page: Page, address: str, sample: int, headline: str, entry: str
) -> None:
    page.goto(address + DIAGNOSE)
    page.locator("[data-sample]").nth(sample).click()
    expect(verdict(page)).to_have_text(headline)
    expect(page.locator(".told-card .entry-link")).to_have_attribute(
        "href", re.compile(f"/failures/{entry}/$")
    )
    expect(page.get_by_role("status").first).to_have_text(headline)


def test_pasted_lines_are_diagnosed_by_keyboard(page: Page, address: str) -> None:
    page.goto(address + DIAGNOSE)
    page.locator("#log").focus()
    page.keyboard.insert_text(TRIANGLE)
    page.keyboard.press("Control+Enter")
    expect(verdict(page)).to_contain_text("rank 0")
    expect(told(page)).to_be_focused()
    page.get_by_role("button", name="Another log").press("Enter")
    expect(page.locator("#log")).to_be_focused()
    expect(page.locator("#log")).to_have_value(TRIANGLE)


def test_nothing_pasted_says_so(page: Page, address: str) -> None:
    page.goto(address + DIAGNOSE)
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(page.locator("#notices")).to_contain_text("There is nothing to read yet.")
    expect(page.locator("#log")).to_be_focused()


def test_a_folder_of_eight_ranks_is_dropped(page: Page, address: str, tmp_path: Path) -> None:
    folder = run_of_eight(tmp_path / "logs")
    page.goto(address + DIAGNOSE)
    page.locator("#folder").set_input_files(folder)
    expect(verdict(page)).to_have_text("The log states what started it: rank 5.")
    expect(page.locator(".lanes tbody tr")).to_have_count(8)
    expect(page.locator(".lanes tr.began th")).to_have_text("rank 5")
    fault = page.locator(".began .lane-mark:has(.sign-initiating)").bounding_box()
    waiting = page.locator(".lane-mark:has(.sign-witness)").first.bounding_box()
    assert fault is not None
    assert waiting is not None
    assert fault["x"] < waiting["x"]
    expect(told(page)).to_contain_text("Left to right by time")
    expect(page.locator("details.inputs summary")).to_contain_text("8 files")
    expect(told(page)).not_to_contain_text("config.json")


def test_dropped_files_are_read(page: Page, address: str) -> None:
    page.goto(address + DIAGNOSE)
    page.evaluate(
        """texts => {
            const transfer = new DataTransfer();
            for (const [name, text] of texts) transfer.items.add(new File([text], name));
            for (const type of ["dragover", "drop"]) {
                const event = new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true});
                document.getElementById("drop").dispatchEvent(event);
            }
        }""",
        [["rank_0.log", TRIANGLE], ["rank_1.log", TRIANGLE.replace("rank0", "rank1")]],
    )
    expect(verdict(page)).to_have_text("The log states what started it: all of ranks 0-1 alike.")


def test_gzip_is_unpacked_and_zstd_is_named(page: Page, address: str, tmp_path: Path) -> None:
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(TRIANGLE.encode()))
    (tmp_path / "b.log.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    page.goto(address + DIAGNOSE)
    page.locator("#files").set_input_files([tmp_path / "a.log.gz", tmp_path / "b.log.zst"])
    expect(verdict(page)).to_contain_text("rank 0")
    expect(page.locator(".notice")).to_contain_text("b.log.zst is compressed with zstd")
    expect(page.locator(".notice")).to_contain_text("command line")


def test_what_is_no_log_is_refused(page: Page, address: str, tmp_path: Path) -> None:
    (tmp_path / "model.log").write_bytes(b"PK\x03\x04" + bytes(500))
    (tmp_path / "empty.log").write_bytes(b"")
    page.goto(address + DIAGNOSE)
    page.locator("#files").set_input_files(tmp_path / "model.log")
    expect(page.locator("#notices")).to_contain_text("Nothing of this could be read.")
    expect(page.locator("#notices")).to_contain_text("model.log is no text")
    page.locator("#files").set_input_files(tmp_path / "empty.log")
    expect(verdict(page)).to_have_text("The log is empty.")


def test_an_engine_that_cannot_load_says_so(page: Page, address: str) -> None:
    page.route("**/engine/diagnose/knowledge.json", lambda route: route.fulfill(status=204))
    page.goto(address + DIAGNOSE)
    page.locator("#log").fill(TRIANGLE)
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(page.locator("#notices")).to_contain_text("The engine could not answer.")


def test_a_big_file_shows_its_progress_and_stops(page: Page, address: str, tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    with path.open("wb") as file:
        file.write(TRIANGLE.encode())
        file.truncate(8_000_000_000)  # a hole: it takes seconds to read and no room on the disk
    page.goto(address + DIAGNOSE)
    page.locator("#files").set_input_files(path)
    expect(page.locator("#running-text")).to_have_text(re.compile(r"Read .+ of 8\.0 GB"))
    assert float(page.locator("#running-bar").get_attribute("value") or 0) < 1
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#log")).to_be_focused()
    expect(page.get_by_role("status").first).to_have_text("Stopped.")
    expect(page.locator("#running")).to_be_hidden()
    diagnose(page, TRIANGLE)
    expect(verdict(page)).to_contain_text("rank 0")


# --- what comes out ----------------------------------------------------------------------------------


def test_a_healthy_log_is_clean(page: Page, address: str) -> None:
    page.goto(address + DIAGNOSE)
    diagnose(page, "".join(f"[rank{step % 2}]: step {step} loss 2.31\n" for step in range(50)))
    expect(verdict(page)).to_have_text("No failure found.")
    expect(page.locator(".verdict-name")).to_have_text("clean")
    expect(page.locator(".lanes")).to_have_count(0)


def test_every_claim_leads_to_its_line(page: Page, address: str) -> None:
    page.goto(address + DIAGNOSE)
    page.locator("[data-sample]").first.click()
    page.get_by_role("button", name="link-fails-two-ranks.log:45").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".chosen .line-number")).to_have_text("45")
    expect(dialog.locator(".chosen")).to_contain_text("Error building extension 'cpu_adam'")
    expect(dialog.locator(".line").first).to_contain_text("25")
    dialog.get_by_role("button", name="Earlier lines").click()
    expect(dialog.locator(".line-number").first).to_have_text("1")
    expect(dialog.get_by_role("button", name="Earlier lines")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("heading", name="Not what started it").click()
    for link in page.locator(".reports .line-link").all():
        if not link.is_visible():
            continue
        number = (link.text_content() or "").rpartition(" ")[2]
        link.click()
        expect(dialog.locator(".chosen .line-number").first).to_have_text(number)
        page.keyboard.press("Escape")
    mark = page.locator(".began .lane-mark").first
    mark.click()
    expect(dialog.locator(".chosen .line-number")).to_have_text("45")


def test_512_ranks_are_a_few_lanes(page: Page, address: str) -> None:
    text = "".join(f"[rank{rank}]: step 12 loss 2.3\n" for rank in range(512))
    text += UNKNOWN.replace("rank2", "rank137")
    text += "".join(WATCHDOG.format(rank=rank, second=rank % 60) for rank in range(512) if rank != 137)
    page.goto(address + DIAGNOSE)
    diagnose(page, text)
    expect(verdict(page)).to_have_text("The log states what started it: rank 137.")
    rows = page.locator(".lanes tbody tr")
    assert rows.count() <= 4
    expect(rows.first.locator("th")).to_have_text("rank 137")
    expect(rows.nth(1)).to_contain_text("511 ranks")
    assert (page.locator(".lanes-box").bounding_box() or {"height": 9999})["height"] < 500
    page.get_by_role("button", name="Show all 512 lanes").click()
    expect(rows).to_have_count(512)
    expect(page.get_by_role("button", name="Fold lanes that are alike")).to_be_focused()


def test_a_silent_rank_is_marked_where_no_line_is(page: Page, address: str) -> None:
    text = "".join(f"[rank{rank}]: step 12 loss 2.3\n" for rank in range(8))
    text += "".join(WATCHDOG.format(rank=rank, second=rank) for rank in range(8) if rank != 3)
    page.goto(address + DIAGNOSE)
    diagnose(page, text)
    expect(page.locator(".verdict-name")).to_have_text("suspected")
    expect(page.locator(".began")).to_contain_text("absent while others waited")
    expect(told(page)).to_contain_text("The log of rank 3, from its start to its last line.")


def test_copies_are_redacted_and_the_reader_sees_what(page: Page, address: str) -> None:
    page.goto(address + DIAGNOSE)
    diagnose(page, UNKNOWN)
    listed = page.locator(".share .redactions")
    expect(listed).to_contain_text("gpu-17.cluster.local becomes host-1")
    expect(listed).to_contain_text("10.12.0.7 becomes 192.0.2.1")
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.locator(".copied")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("**The log states what started it: rank 2.**")
    assert "shard part-0412.tar on host-1 (192.0.2.1) holds no samples" in copied
    assert "gpu-17" not in copied
    page.get_by_role("button", name="Copy as JSON").click()
    answer = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert answer["schema"] == 1
    assert answer["initiating"]["rank"] == 2
    assert "10.12.0.7" not in json.dumps(answer)
    listed.get_by_label(re.compile("gpu-17")).uncheck()
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.locator(".share pre")).to_contain_text("gpu-17.cluster.local (192.0.2.1)")


def test_an_unknown_error_becomes_a_draft(page: Page, address: str) -> None:
    page.goto(address + DIAGNOSE)
    diagnose(page, UNKNOWN)
    expect(told(page)).to_contain_text("No entry explains it yet.")
    page.get_by_role("button", name="Draft an entry for it").click()
    files = {}
    for name in ("entry.yaml", "run.log"):
        with page.expect_download() as download:
            page.get_by_role("link", name=f"Download {name}").click()
        assert download.value.suggested_filename == name
        files[name] = download.value.path().read_text(encoding="utf-8")
    assert files["run.log"].splitlines()[3].endswith("on host-1 (192.0.2.1) holds no samples")
    assert "/home/user-1/run/data.py" in files["run.log"]
    assert "    line: 4\n    ranks: [2]\n" in files["entry.yaml"]
    assert "gpu-17" not in files["entry.yaml"]


def test_a_hostile_log_is_text(page: Page, address: str) -> None:
    hostile = (
        "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">\n"
        '[rank1]: Traceback (most recent call last):\n[rank1]:   File "<b>x</b>.py", line 1, in f\n'
        "[rank1]: ValueError: <img src=x onerror=alert(1)> \x1b[31m\u202egnp.exe\u202c [link](javascript:alert(1))\n"
    )
    page.goto(address + DIAGNOSE)
    title = page.title()
    page.evaluate("text => document.getElementById('log').value = text", "constructor: __proto__\n" + hostile)
    page.get_by_role("button", name="Diagnose", exact=True).click()
    expect(verdict(page)).to_contain_text("rank 1")
    page.get_by_role("button", name=re.compile(":5$")).click()
    expect(page.get_by_role("dialog").locator(".chosen")).to_contain_text("gnp.exe")
    assert page.locator("#told img, #told script, #told b").count() == 0
    text = page.evaluate("document.getElementById('told').textContent")
    assert "\u202e" not in page.evaluate("document.querySelector('dialog').textContent")
    assert "\x1b" not in text
    assert page.title() == title


# --- from page to page -------------------------------------------------------------------------------


def test_a_log_pasted_on_the_home_page_is_diagnosed(page: Page, address: str, sent: list[Request]) -> None:
    page.goto(address)
    page.evaluate("text => navigator.clipboard.writeText(text)", UNKNOWN + TRIANGLE)
    page.keyboard.press("/")
    page.keyboard.press("Control+V")
    page.wait_for_url("**/diagnose/")
    expect(verdict(page)).to_be_visible()
    expect(page.locator("#log")).to_have_value(UNKNOWN + TRIANGLE)
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    assert not [request.url for request in sent if "part-0412" in request.url or "triangle" in request.url]
    page.reload()
    expect(told(page)).to_be_hidden()


def test_lines_in_the_search_box_lead_to_the_diagnosis(page: Page, address: str) -> None:
    page.goto(address + "about/")
    page.evaluate("text => navigator.clipboard.writeText(text)", "[rank0]: Traceback\n" + TRIANGLE)
    page.keyboard.press("/")
    page.keyboard.press("Control+V")
    page.locator("#search-results").get_by_role("link", name="Diagnose these lines").click()
    page.wait_for_url("**/diagnose/")
    expect(verdict(page)).to_contain_text("rank 0")


def ask(page: Page, text: str) -> Locator:
    if not page.locator("#ask textarea").is_visible():
        page.get_by_text("Is this what broke your run?").click()
    page.locator("#ask textarea").fill(text)
    page.get_by_role("button", name="Compare").click()
    return page.locator("#ask [role=status]")


def test_the_box_of_an_entry_answers_in_place(page: Page, address: str) -> None:
    page.goto(address + ENTRY)
    expect(ask(page, TRIANGLE)).to_contain_text("It fits: this entry explains line 1.")
    answer = ask(page, "3: RuntimeError: 'weight' must be 2-D\n")
    expect(answer).to_contain_text("Not this one: line 1 is explained by")
    expect(answer.get_by_role("link")).to_have_attribute("href", re.compile("/zero3-weight-must-be-2d/$"))
    expect(ask(page, UNKNOWN)).to_contain_text("Not this one: no entry explains line 4 yet.")
    expect(ask(page, "step 1 loss 2\nstep 2 loss 2\n")).to_contain_text("No failure found.")
    expect(ask(page, " ")).to_contain_text("Paste some lines first.")
    assert page.url == address + ENTRY


def test_the_box_hands_over_within_the_tab(page: Page, address: str, sent: list[Request]) -> None:
    page.goto(address + ENTRY)
    ask(page, UNKNOWN)
    page.get_by_role("button", name="Diagnose it in full").click()
    page.wait_for_url("**/diagnose/")
    expect(verdict(page)).to_contain_text("rank 2")
    assert page.evaluate("sessionStorage.length") == 0


def test_the_box_loads_nothing_before_it_is_opened(page: Page, address: str, sent: list[Request]) -> None:
    page.goto(address + ENTRY, wait_until="networkidle")
    loaded = {request.url.rpartition("/")[2] for request in sent}
    assert {name for name in loaded if name.endswith((".js", ".json"))} == {
        "preferences.js",
        "search.js",
        "page.js",
    }


# --- for everyone ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_answer(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address + DIAGNOSE)
    page.locator("[data-sample]").nth(1).click()
    expect(verdict(page)).to_be_visible()
    page.evaluate("for (const part of document.querySelectorAll('#told details')) part.open = true")
    assert violations(page) == []
    page.get_by_role("button", name=re.compile(r":\d+$")).first.click()
    expect(page.get_by_role("dialog").locator(".chosen")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Another log").click()
    diagnose(page, UNKNOWN)
    page.get_by_role("button", name="Draft an entry for it").click()
    expect(page.get_by_role("link", name="Download run.log")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("width", [320, 390, 820, 1440])
def test_answers_fit_the_screen(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address + DIAGNOSE)
    for text in (TRIANGLE, UNKNOWN + "x" * 2000 + "\n", ""):
        if text:
            diagnose(page, text)
        else:
            page.locator("[data-sample]").first.click()
            expect(verdict(page)).to_contain_text("rank 1")
        page.evaluate("for (const part of document.querySelectorAll('#told details')) part.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("button", name="Another log").click()


def test_without_javascript_the_command_line_is_named(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + DIAGNOSE)
    expect(page.locator("noscript pre")).to_contain_text("firstfault diagnose train.log logs/")
    assert page.locator("noscript pre").is_visible()
    assert not page.locator("#intake").is_visible()
    context.close()
