"""How fast a whole diagnosis is, beside ripgrep with the same literals on the same file in the same run.

``python bench/diagnose.py [GIGABYTES] [ENGINE]``: generates a log of 64 ranks in a temporary folder, runs
ripgrep on one thread and ``diagnose`` in turns, and prints megabytes per second, their ratio and the peak of
memory: once with the signatures of the content, once with as many made up beside them as make 10,000. ENGINE is
hyperscan, re2, or both by default. At last it times the whole command on a small log. Writes its section of
bench/RESULTS.md.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench.results import load, machine, put  # noqa: E402

MANY = 10_000
"""Signatures of an encyclopedia that has grown."""
SMALL = "content/failures/numpy-bufsize"
ROUNDS = 3
BLOCK = 8 << 20
RANKS = 64


def main() -> None:
    """Prints a row a round and the medians, and writes the medians down."""
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    engines = sys.argv[2:] or ["hyperscan", "re2"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        log, keys, bundle = (Path(folder, name) for name in ("train.log", "keys.txt", "bundle.json"))
        generate(log, int(gigabytes * 1e9))
        for least in (0, MANY):
            signatures = write_bundle(bundle, keys, least)
            print(f"{signatures} signatures", flush=True)
            results = rounds(log, keys, bundle, engines)
            rows += report(signatures, results, log.stat().st_size)
    start = start_up()
    print(f"start-up: {start:.2f} s")
    put(section(gigabytes, rows, start))


Results = dict[str, list[tuple[float, int]]]
"""Seconds and peak megabytes of each round."""


def rounds(log: Path, keys: Path, bundle: Path, engines: list[str]) -> Results:
    results: Results = {"ripgrep": []}
    for _ in range(ROUNDS):
        results["ripgrep"].append((ripgrep(log, keys), 0))
        for engine in engines:
            seconds, peak, verdict = diagnose(log, bundle, engine)
            results.setdefault(engine, []).append((seconds, peak))
            print(f"{engine}: {seconds:.2f} s, {peak} MB, {verdict}", flush=True)
    return results


def report(signatures: int, results: Results, size: int) -> list[str]:
    """A row of the table for each engine."""
    base = statistics.median(seconds for seconds, _ in results["ripgrep"])
    rows = []
    for name, measured in results.items():
        middle = statistics.median(seconds for seconds, _ in measured)
        peak = max(peak for _, peak in measured)
        shown = f"{size / middle / 1e6:.0f} | {base / middle:.2f} | {peak or ''}"
        print(f"{name}: {shown}", flush=True)
        rows.append(f"| {signatures:,} | {name} | {shown} |")
    return rows


def section(gigabytes: float, rows: list[str], start: float) -> str:
    return "\n".join(
        [
            "## Diagnosing a log",
            "",
            f"By `bench/diagnose.py`: a whole diagnosis of {gigabytes:g} GB from 64 ranks, start-up included, beside "
            "ripgrep on one thread with the same literals; median of three rounds in turns.",
            "",
            f"{date.today()}; {machine()}. {load()}.",
            "",
            "| signatures | | MB/s | times ripgrep | peak MB |",
            "|---|---|---|---|---|",
            *rows,
            "",
            f"`python build.py diagnose` on a small log: {start:.2f} s, the median of seven.",
            "",
        ]
    )


def start_up() -> float:
    """Seconds of the command on a log of a few lines, when it has run before."""
    log = next((ROOT / SMALL).glob("*.log"))
    command = [sys.executable, str(ROOT / "build.py"), "diagnose", str(log)]
    times = []
    for _ in range(8):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def generate(path: Path, size: int) -> None:
    """A log of 64 ranks: steps, bars, loggers' lines, warnings, now and then a caught error; at the end a crash."""
    random = Random(7)
    lines: list[bytes] = []
    length = 0
    while length < BLOCK:
        lines.append(_line(random))
        length += len(lines[-1])
    block = b"".join(lines)
    with path.open("wb") as file:
        written = 0
        while written < size:
            written += file.write(block)
        file.write(_crash())


def _line(random: Random) -> bytes:
    rank, step, kind = random.randrange(RANKS), random.randrange(100_000), random.randrange(1000)
    clock = f"2026-11-30 {random.randrange(24):02}:{random.randrange(60):02}:{random.randrange(60):02},123"
    if kind < 700:
        text = f"[rank{rank}]: {clock} INFO train: step {step}/100000 loss {random.random() * 4:.4f} lr 1.0e-04 tokens/s 15123"
    elif kind < 850:
        text = f"[{clock}] [INFO] [logging.py:107:log_dist] [Rank 0] step={step}, skipped=0, lr=[1e-4], mom=[(0.9, 0.95)]"
    elif kind < 950:
        text = f"node-{rank // 8}:{4000 + rank}:{5000 + rank} [{rank % 8}] NCCL INFO Channel {step % 32:02}/0 : {rank}[{rank}] -> {(rank + 1) % RANKS}[0] via P2P/IPC"
    elif kind < 990:
        text = f"[rank{rank}]: /opt/venv/lib/python3.11/site-packages/torch/x.py:{step}: UserWarning: something is slow\n[rank{rank}]:   warnings.warn("
    elif kind < 999:
        text = f"{clock} WARNING data: shard {step} was read at the second try"
    else:
        text = (
            f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "/data/run/data.py", line {step}, in read\n'
            f"[rank{rank}]: ValueError: sample {step} has no label\n[rank{rank}]: {clock} WARNING data: skipping this sample"
        )
    return text.encode() + b"\n"


def _crash() -> bytes:
    rows = [
        "[rank17]: Traceback (most recent call last):",
        '[rank17]:   File "/data/run/train.py", line 88, in <module>',
        "[rank17]:     loss.backward()",
        "[rank17]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 1 has a total capacity of 79.11 GiB",
    ]
    rows += [
        f"[rank{rank}]: RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [192.0.2.17]:4811."
        for rank in range(RANKS)
        if rank != 17
    ]
    return "\n".join(rows).encode() + b"\n"


def write_bundle(path: Path, keys: Path, least: int = 0) -> int:
    """The bundle of this checkout with made-up signatures until it has ``least``, and the literals of the scan, one a
    line; how many signatures it has."""
    from bench.entries import Generator
    from generator.bundle import bundle
    from generator.bundle import signature as ready
    from generator.catalogue import Catalogue
    from generator.diagnose.engine import keys_of
    from generator.diagnose.knowledge import Knowledge, load_data
    from generator.diagnose.match import items_of
    from generator.load import load as load_content

    loaded, _ = load_content(ROOT / "content")
    content = bundle(Catalogue(loaded))
    made, like = Generator(loaded, max(2, least)), next(iter(content["entries"].values()))
    number = 0
    while len(content["signatures"]) < least:
        slug = f"made-up-{number}"
        content["entries"][slug] = like
        content["signatures"] += [ready(slug, one) for one in made.signatures(number)]
        number += 1
    path.write_text(json.dumps(content), encoding="utf-8")
    literals = keys_of(items_of(content), Knowledge(load_data())).literals
    keys.write_bytes(b"".join(literal + b"\n" for literal in literals))
    print(f"{len(literals)} literals")
    return len(content["signatures"])


def ripgrep(log: Path, keys: Path) -> float:
    command = [
        "rg",
        "--threads",
        "1",
        "--no-unicode",
        "--fixed-strings",
        "--line-number",
        "--file",
        str(keys),
        str(log),
    ]
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def diagnose(log: Path, bundle: Path, engine: str) -> tuple[float, int, str]:
    """Seconds, peak megabytes and verdict of a process of its own, start-up included."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--worker", str(log), str(bundle), engine],
        capture_output=True,
        check=True,
        text=True,
    )
    seconds = time.perf_counter() - start
    peak, verdict = done.stdout.split(" ", 1)
    return seconds, int(peak), verdict.strip()


def worker(log: str, bundle: str, engine: str) -> None:
    from generator.diagnose.engine import Engine

    made = Engine(json.loads(Path(bundle).read_bytes()), engine)
    with open(log, "rb", buffering=0) as stream:
        answer = made.diagnose([(log, stream)])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(peak, answer["verdict"], answer["initiating"]["ranks"], answer["inputs"][0]["lines"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:5])
    else:
        main()
