"""How fast the Worker reads a file in Chromium, and in how much memory.

``python bench/worker.py [GIGABYTES]``: generates the log of ``bench/diagnose.py`` in a temporary folder, serves the
engine and the bundle on 127.0.0.1, has a page read the file through ``engine/worker.js`` three times, in turns with a
Worker that reads it and does nothing, and prints megabytes per second of both, the longest gap between two messages of
progress, and the peak of the renderer's memory beside what the empty page took.
"""

from __future__ import annotations

import functools
import json
import shutil
import statistics
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
ROUNDS = 3
PAGE = '<!doctype html><meta charset="utf-8"><title>bench</title><input type="file">'
READ = """addEventListener("message", async ({data}) => {
  const began = performance.now();
  const reader = data.stream().getReader();
  while (!(await reader.read()).done);
  postMessage(performance.now() - began);
});"""
RUN_READ = """() => new Promise((resolve) => {
  const worker = new Worker("/read.js");
  worker.onmessage = ({data}) => {
    worker.terminate();
    resolve(data);
  };
  worker.postMessage(document.querySelector("input").files[0]);
})"""
RUN = """() => new Promise((resolve) => {
  const worker = new Worker("/engine/worker.js", {type: "module"});
  const blob = document.querySelector("input").files[0];
  const began = performance.now();
  let [last, gap, told] = [began, 0, 0];
  worker.onmessage = ({data}) => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
    if (data.type === "progress") told += 1;
    if (data.type !== "answer" && data.type !== "error") return;
    worker.terminate();
    resolve({milliseconds: now - began, gap, told, answer: data.answer, message: data.message});
  };
  worker.postMessage({type: "start", root: location.origin + "/", items: [{name: blob.name, blob}]});
})"""


def main() -> None:
    """Prints a row a round and the median."""
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    with tempfile.TemporaryDirectory() as folder:
        site, log = Path(folder, "site"), Path(folder, "train.log")
        write_site(site)
        write_log(log, int(gigabytes * 1e9))
        server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            measure(f"http://127.0.0.1:{server.server_port}/", log)
        finally:
            server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    """A plain static host, silent."""

    def log_message(self, *args: object) -> None:
        pass


def write_site(site: Path) -> None:
    """What the Worker fetches, and an empty page."""
    from generator.bundle import bundle
    from generator.catalogue import Catalogue
    from generator.load import load

    shutil.copytree(ROOT / "static" / "engine", site / "engine")
    shutil.copy(ROOT / "generator" / "diagnose" / "knowledge.json", site / "engine" / "diagnose")
    (site / "api" / "v1").mkdir(parents=True)
    content = json.dumps(bundle(Catalogue(load(ROOT / "content")[0])))
    (site / "api" / "v1" / "signatures.json").write_text(content, encoding="utf-8")
    (site / "index.html").write_text(PAGE, encoding="utf-8")
    (site / "read.js").write_text(READ, encoding="utf-8")


def write_log(log: Path, size: int) -> None:
    from diagnose import generate

    generate(log, size)


def measure(address: str, log: Path) -> None:
    from tests.tools.browser import find, flags

    size = log.stat().st_size
    speeds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=flags())
        for _ in range(ROUNDS):
            page = browser.new_page()
            page.goto(address)
            page.set_input_files("input", log)
            before = _peak(browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo"))
            found = _run(page)
            after = _peak(browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo"))
            read = page.evaluate(RUN_READ)
            speeds.append(size / found["milliseconds"] / 1e3)
            answer = found["answer"]
            print(
                f"{speeds[-1]:6.0f} MB/s ({size / read / 1e3:.0f} for reading alone), {found['told']} messages, longest gap {found['gap']:.0f} ms, "
                f"peak {after} MB of {before} MB before, {answer['verdict']} {answer['initiating']['ranks']} "
                f"{answer['inputs'][0]['lines']} lines",
                flush=True,
            )
            page.close()
        browser.close()
    print(f"median {statistics.median(speeds):.0f} MB/s of {size / 1e9:.2f} GB")


def _run(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(RUN)
    if found["answer"] is None:
        raise SystemExit(f"the Worker gave no answer: {found['message']}")
    return found


def _peak(processes: dict[str, Any]) -> int:
    """Megabytes that the largest renderer has held at most."""
    peaks = [0]
    for process in processes["processInfo"]:
        if process["type"] == "renderer":
            status = Path(f"/proc/{process['id']}/status").read_text(encoding="utf-8")
            peaks.append(int(status.split("VmHWM:")[1].split()[0]) // 1024)
    return max(peaks)


if __name__ == "__main__":
    main()
