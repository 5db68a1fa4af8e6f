"""What is done to the folder ``content``, and the finding that must come of it.

In a ``Change``, ``new`` replaces ``old`` (which stands in the file once, or is taken at its first place);
the mark ▶ in ``new`` shows where the finding points, and is removed. A ``Whole`` file is given with its
line and column, because its bytes are no text. A ``Tree`` is changed by a function.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from os import mkdir
from pathlib import Path
from shutil import copy

ENTRY = "failures/disk-full/entry.yaml"
SHORT = "failures/port-taken/entry.yaml"
HUB = "hubs/pytorch.yaml"
LINES = "lines/torchrun.yaml"
LOG = "failures/port-taken/run.log"
REPRO = "failures/port-taken/repro.py"
PAGE = "pages/about.md"
MESSAGES = "evidence/deepspeed-messages.json"
CORPORA = "evidence/corpora.json"
COVERAGE = "evidence/coverage.json"
PACKAGES = "taxonomy/packages.yaml"
TAGS = "taxonomy/tags.yaml"
PHASES = "taxonomy/phases.yaml"
MARK = "▶"
FOLDER = Path(__file__).parent / "content"


@dataclass(frozen=True)
class Change:
    name: str
    file: str
    old: str
    new: str
    code: str


@dataclass(frozen=True)
class Whole:
    name: str
    file: str
    data: bytes
    code: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True)
class Tree:
    name: str
    change: Callable[[Path], object]
    path: str
    code: str
    line: int = 1
    column: int = 1


LANES = """figures:
  - caption: x
    lanes:
      - who: rank 0
        spans:
          - {{start: 0, end: 4, does: runs}}
          - {}
causes:
"""
BARS = """figures:
  - caption: x
    bars:
      - name: y
        parts:
          - what: buffers
            gib: {}
causes:
"""
NO_SPACE = (FOLDER / ENTRY).read_text().partition("signatures:\n")[2].partition("causes:\n")[0]
EVIDENCE = b"""{"checked": "2026-01-31", "signatures": {"gone": {
    "of": "0123456789abcdef", "package": "torch", "matched": "text", "found": [["2.0.0", "2.1.0"]],
    "looked": {"first": "2.0.0", "last": "2.1.0", "count": 2, "which": "every release"}, "file": "torch/a.py", "line": 1}}}"""
TITLE = 'title: "No space left on device while a checkpoint is saved"'
BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n"
BLOCK = b'# /// script\n# requires-python = ">=3.11"\n# dependencies = []\n# ///\n'
PARTS = b'"""\npython repro.py fail\npython repro.py fix\n"""\n'


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def _reverse(path: Path) -> None:
    """Turn the order of a list of three lines an item."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[3:] + lines[:3]))


def _name_part(content: Path, part: str, captured: bool = False, twice: bool = False) -> None:
    """Add a repro.py, and name a part of it under the entry's log, and under a second one."""
    (content / REPRO).write_bytes(BLOCK + PARTS)
    text = (content / SHORT).read_text() + f"    part: {part}\n"
    log = text[text.index("  - file: run.log") :]
    text += log if twice else ""
    (content / SHORT).write_text(text.replace("made: composed", "made: captured") if captured else text)


def _quote(content: Path, quoted: str) -> None:
    """Let the captured log quote a line of repro.py."""
    _name_part(content, "fail", captured=True)
    _append(content, f'[rank0]:   File "/data/run/repro.py", line 1, in <module>\n[rank0]:     {quoted}\n')


def _supersede(content: Path) -> None:
    """Let two entries be withdrawn in favor of each other."""
    for file, status, other in ((SHORT, "short", "disk-full"), (ENTRY, "complete", "port-taken")):
        text = (content / file).read_text()
        new = f"status: withdrawn\nsuperseded_by: {other}"
        (content / file).write_text(text.replace(f"status: {status}", new))


def _twin_logs(content: Path) -> None:
    """Name a second log as the first, in capitals."""
    text = (content / SHORT).read_text()
    log = text[text.index("  - file: run.log") :]
    (content / SHORT).write_text(text + log.replace("run.log", "RUN.log"))
    copy(content / LOG, (content / LOG).with_name("RUN.log"))


def _append(content: Path, text: str) -> None:
    with (content / LOG).open("a") as log:
        log.write(text)


def _gone(content: Path) -> None:
    """Use a name of which the record says that the release lacks it."""
    entry = content / ENTRY
    used = "code: |\n        import torch\n\n        torch.store(state, path)"
    entry.write_text(entry.read_text().replace("code: torch.save(state, path)", used, 1))
    names = {"torch==2.13.0": {"torch": "module", "torch.store": "missing"}}
    (content / "failures/disk-full/snippets.json").write_text(json.dumps({"names": names}))


CHANGES = (
    # YAML that isn't YAML, or more than we take of it
    Change("tab as indent", ENTRY, "  steps:\n    - Look at", "  steps:\n▶\t- Look at", "tab"),
    Change("tab after spaces", ENTRY, "    - Set the limit", "  ▶\t  - Set the limit", "tab"),
    Change("unclosed double quote", ENTRY, TITLE, 'title: ▶"No space', "syntax"),
    Change("unclosed single quote", SHORT, "title: Address", "title: ▶'Address", "syntax"),
    Change(
        "quote inside quotes", SHORT, "title: Address already in use at launch", "title: 'it'▶s'", "syntax"
    ),
    Change(
        "colon in plain text", SHORT, "summary: The rendezvous", "summary: Error▶: The rendezvous", "syntax"
    ),
    Change("at sign", SHORT, "summary: The rendezvous", "summary: ▶@The", "syntax"),
    Change("backtick first", SHORT, "summary: The rendezvous", "summary: ▶`The`", "syntax"),
    Change("percent first", SHORT, "summary: The rendezvous", "summary: ▶%The", "syntax"),
    Change(
        "unclosed bracket",
        SHORT,
        "steps: [Send it SIGTERM.]",
        "steps: [Send it SIGTERM.\n    cost▶: {}",
        "syntax",
    ),
    Change("unclosed brace", SHORT, "cost: {}", "cost: {speed: x\n    verify▶: x", "syntax"),
    Change("key without a colon", SHORT, "status: short", "▶status short", "syntax"),
    Change("key indented too far", SHORT, "status: short", "   status▶: short", "syntax"),
    Change("item among keys", SHORT, "status: short", "▶- status: short", "syntax"),
    Change(
        "key among items",
        SHORT,
        "  - id: former-run\n",
        "  - id: former-run\n ▶ x: 1\n".replace("▶ ", " ▶"),
        "syntax",
    ),
    Change("unknown escape", SHORT, "title: Address", 'title: "▶\\q" #', "syntax"),
    Change("surrogate escape", SHORT, "title: Address", 'title: "\\u▶d800" #', "syntax"),
    Change("list on the key's line", SHORT, "steps: [Send it SIGTERM.]", "steps: ▶- Send it", "syntax"),
    Change("bare bracket", SHORT, "summary: The rendezvous", "summary: ▶]", "syntax"),
    Change("bare asterisk", SHORT, "summary: The rendezvous", "summary: *▶ text", "syntax"),
    Change("alias", SHORT, "summary: The rendezvous", "summary: ▶*text\nx: y #", "alias"),
    Change("anchor", SHORT, "summary: The", "summary: ▶&x The", "anchor"),
    Change("object tag", SHORT, "summary: The", "summary: ▶!!python/object/apply:os.system The", "tag"),
    Change("local tag", SHORT, "summary: The", "summary: ▶!x The", "tag"),
    Change("verbatim tag", SHORT, "summary: The", "summary: ▶!<tag:yaml.org,2002:str> The", "tag"),
    Change("tag on a list", SHORT, "causes:\n", "causes: ▶!!set\n", "tag"),
    Change("second document", SHORT, "status: short", "▶---\nstatus: short", "several-documents"),
    Change("document end", SHORT, "status: short", "...\n▶status: short", "syntax"),
    Change("duplicate key", SHORT, "status: short", "status: short\n▶title: Another", "duplicate-key"),
    Change(
        "duplicate key deep", SHORT, "    grade: inferred", "    grade: inferred\n    ▶id: x", "duplicate-key"
    ),
    Change("duplicate key in braces", SHORT, "cost: {}", "cost: {speed: a, ▶speed: b}", "duplicate-key"),
    Change("complex key", SHORT, "status: short", "? ▶[status]\n: short", "bad-key"),
    Change("NUL", SHORT, "summary: The", "summary: ▶\0The", "character"),
    Change("escape character", SHORT, "summary: The", "summary: ▶\x1b[31mThe", "character"),
    Change("delete character", SHORT, "summary: The", "summary: ▶\x7fThe", "character"),
    Change("line separator", SHORT, "summary: The", "summary: ▶\u2028The", "character"),
    Change("next line", SHORT, "summary: The", "summary: ▶\x85The", "character"),
    Change("lone carriage return", SHORT, "summary: The", "summary: ▶\rThe", "character"),
    Change("bidi override", SHORT, "summary: The", "summary: ▶\u202eThe", "character"),
    Change("bidi in a comment", SHORT, "status: short", "status: short  # ▶\u2066", "character"),
    Change("zero width space", SHORT, "summary: The", "summary: ▶\u200bThe", "character"),
    Change("soft hyphen", SHORT, "summary: The", "summary: Th▶\xade", "character"),
    Change("bidi as an escape", SHORT, "title: Address", 'title: "A▶\\u202eB" #', "character"),
    Change("control character as an escape", LINES, '"Sending', '"▶\\x07Sending', "character"),
    Change("Arabic letter mark", SHORT, "summary: The", "summary: ▶\u061cThe", "character"),
    Change("invisible tag", SHORT, "summary: The", "summary: ▶\U000e0041The", "character"),
    Change("filler that can't be seen", SHORT, "summary: The", "summary: ▶\u3164The", "character"),
    Change("invisible tag as an escape", SHORT, "title: Address", 'title: "A▶\\U000E0041B" #', "character"),
    Change("noncharacter", SHORT, "summary: The", "summary: ▶\uffffThe", "character"),
    # values that don't fit the model
    Change("unknown key", SHORT, "summary: The", "▶sumary: x\nsummary: The", "unknown-key"),
    Change("unknown key deep", SHORT, "    yes: A", "    ▶whatever: x\n    yes: A", "unknown-key"),
    Change(
        "python's name of a key",
        SHORT,
        "    from: Python's",
        "    ▶origin: x\n    from: Python's",
        "unknown-key",
    ),
    Change("merge key", SHORT, "summary: The", "▶<<: x\nsummary: The", "unknown-key"),
    Change("missing key", SHORT, "status: short\n", "", "missing-key"),
    Change("missing key in a part", SHORT, "do_now:\n  steps: [", "▶do_now:\n  x: [", "missing-key"),
    Change(
        "missing key in an item", SHORT, "  - step: List listeners.\n    yes:", "  - ▶yes:", "missing-key"
    ),
    Change("no value", SHORT, "family: launch", "family:▶", "no-value"),
    Change("null", SHORT, "family: launch", "family: ▶null", "no-value"),
    Change("tilde", SHORT, "family: launch", "family: ▶~", "no-value"),
    Change("no value for a list", ENTRY, "tags: [resume]", "tags:▶", "no-value"),
    Change("text for a list", ENTRY, "tags: [resume]", "tags: ▶resume", "wrong-type"),
    Change("list for a text", SHORT, "status: short", "status: ▶[short]", "wrong-type"),
    Change("mapping for a text", SHORT, "family: launch", "family: ▶{id: launch}", "wrong-type"),
    Change("text for a mapping", SHORT, "cost: {}", "cost: ▶none", "wrong-type"),
    Change("list for a mapping", SHORT, "quick_answer:\n", "▶quick_answer:\n  - x\nx:\n", "wrong-type"),
    Change("mapping for a list", SHORT, "steps: [Send it SIGTERM.]", "steps: ▶{a: b}", "wrong-type"),
    Change("no date", SHORT, "added: 2026-01-11", "added: ▶yesterday", "wrong-type"),
    Change("no such day", SHORT, "added: 2026-01-11", "added: ▶2026-02-30", "wrong-type"),
    Change("a time stamp", SHORT, "added: 2026-01-11", "added: ▶1768089600", "wrong-type"),
    Change("a date otherwise spelled", SHORT, "added: 2026-01-11", "added: ▶11.01.2026", "wrong-type"),
    Change("no number", SHORT, "    line: 1", "    line: ▶first", "wrong-type"),
    Change("fraction", SHORT, "    line: 1", "    line: ▶1.5", "wrong-type"),
    Change("number of a thousand digits", SHORT, "    line: 1", "    line: ▶" + "9" * 5000, "wrong-type"),
    Change("line zero", SHORT, "    line: 1", "    line: ▶0", "too-small"),
    Change("number with an underscore", SHORT, "    line: 1", "    line: ▶1_0", "wrong-type"),
    Change("number in blanks", SHORT, "    line: 1", '    line: ▶" 1"', "wrong-type"),
    Change("rank below zero", SHORT, "    line: 1", "    ranks: [0, ▶-1]", "too-small"),
    Change("no boolean", ENTRY, "causes:\n", "no_message: ▶perhaps\ncauses:\n", "wrong-type"),
    Change("wrong status", SHORT, "status: short", "status: ▶brief", "wrong-choice"),
    Change("wrong restart", SHORT, "restart: no\n", "restart: ▶never\n", "wrong-choice"),
    Change("wrong role", SHORT, "role: cause", "role: ▶reason", "wrong-choice"),
    Change("wrong stage", ENTRY, "zero_stages: [none]", "zero_stages: [none, ▶4]", "wrong-choice"),
    Change("slug with capitals", SHORT, "  - id: former-run", "  - id: ▶Former_Run", "bad-slug"),
    Change("javascript reference", ENTRY, "url: https", "url: ▶javascript:alert(1)//https", "bad-url"),
    Change("data address", ENTRY, "url: https", "url: ▶data:text/html,https", "bad-url"),
    Change("file address", ENTRY, "url: https", "url: ▶file:///etc/passwd?https", "bad-url"),
    Change("address without a host", ENTRY, "url: https://", "url: ▶https:///", "bad-url"),
    Change("address of half a host", ENTRY, "url: https://", 'url: ▶"https://[::1/" #', "bad-url"),
    Change("host as a user name", ENTRY, "url: https://", "url: ▶https://github.com@", "bad-url"),
    Change("mail to nobody", ENTRY, "url: https://", "url: ▶mailto:? #", "bad-url"),
    Change("address with a quote", ENTRY, "url: https://", 'url: ▶https://x"onclick=', "bad-url"),
    Change("file outside", SHORT, "file: run.log", "file: ▶../run.log", "bad-file-name"),
    Change(
        "title of two lines",
        SHORT,
        "title: Address already in use at launch",
        "title: ▶|\n  A\n  B",
        "line-break",
    ),
    Change("huge title", SHORT, "title: Address", "title: ▶" + "x" * 5000 + " #", "too-long"),
    Change("huge text", SHORT, "text: The listener", "text: ▶" + "word " * 10000, "too-long"),
    Change(
        "four steps", SHORT, 'steps: ["Find the owner with `ss -ltnp`."]', "steps: ▶[a, b, c, d]", "too-long"
    ),
    Change("no steps", SHORT, "steps: [Send it SIGTERM.]", "steps: ▶[]", "too-short"),
    Change("empty text", SHORT, "    title: End the former run", '    title: ▶""', "too-short"),
    Change("blank text", SHORT, "    title: End the former run", '    title: ▶"   "', "too-short"),
    # names
    Change("unknown family", SHORT, "family: launch", "family: ▶lunch", "unknown-name"),
    Change("unknown phase", SHORT, "phase: launch", "phase: ▶lift-off", "unknown-name"),
    Change("unknown tag", ENTRY, "tags: [resume]", "tags: [resume, ▶resum]", "unknown-name"),
    Change("unknown system", SHORT, "  - id: pytorch", "  - id: ▶pytorhc", "unknown-name"),
    Change("unknown project", ENTRY, "project: linux", "project: ▶minix", "unknown-name"),
    Change(
        "unknown stack",
        ENTRY,
        "    - system: pytorch\n      how",
        "    - system: ▶jax\n      how",
        "unknown-name",
    ),
    Change("unknown stack of an example", ENTRY, "  - stack: pytorch", "  - stack: ▶jax", "unknown-name"),
    Change(
        "unknown system of a fix", ENTRY, "      - system: pytorch", "      - system: ▶jax", "unknown-name"
    ),
    Change("unknown project of a line", LINES, "project: pytorch", "project: ▶jax", "unknown-name"),
    Change("unknown system of a hub", HUB, "system: pytorch", "system: ▶jax", "unknown-name"),
    Change(
        "unknown cause", SHORT, "causes: [former-run]", "causes: [former-run, ▶former-ran]", "unknown-cause"
    ),
    Change("unknown reference", ENTRY, "evidence: [errno]", "evidence: [▶errn]", "unknown-reference"),
    Change(
        "unknown thread of a question", ENTRY, "asked_in: errno", "asked_in: ▶thread", "unknown-reference"
    ),
    Change("unknown release", ENTRY, "reference: errno", "reference: ▶notes", "unknown-reference"),
    Change(
        "unused reference",
        ENTRY,
        "references:\n",
        "references:\n  - id: ▶spare\n    title: x\n    url: https://example.org/\n    kind: paper\n    supports: x\n",
        "unused-reference",
    ),
    Change(
        "cause without a fix",
        SHORT,
        "causes:\n",
        "causes:\n  - id: ▶spare\n    title: x\n    text: y\n    grade: inferred\n",
        "unfixed-cause",
    ),
    Change(
        "unknown look-alike",
        ENTRY,
        "  - entry: port-taken\n    name",
        "  - entry: ▶port-take\n    name",
        "unknown-entry",
    ),
    Change(
        "look-alike of itself",
        ENTRY,
        "  - entry: port-taken\n    name",
        "  - entry: ▶disk-full\n    name",
        "self-reference",
    ),
    Change(
        "log of an unknown entry", ENTRY, "    entry: port-taken", "    entry: ▶port-tak", "unknown-entry"
    ),
    Change(
        "superseded by nobody",
        SHORT,
        "status: short",
        "status: withdrawn\nsuperseded_by: ▶gone",
        "unknown-entry",
    ),
    Change(
        "alias of today's entry", ENTRY, "aliases: [enospc]", "aliases: [enospc, ▶port-taken]", "alias-taken"
    ),
    Change("alias claimed twice", SHORT, "status: short", "status: short\naliases: [▶enospc]", "alias-taken"),
    Change(
        "alias of oneself", SHORT, "status: short", "status: short\naliases: [▶port-taken]", "alias-taken"
    ),
    Change("alias listed twice", ENTRY, "aliases: [enospc]", "aliases: [enospc, ▶enospc]", "duplicate-id"),
    Change("duplicate tag", ENTRY, "tags: [resume]", "tags: [resume, ▶resume]", "duplicate-id"),
    Change(
        "duplicate system",
        SHORT,
        '    versions: "*"\n',
        '    versions: "*"\n  - id: ▶pytorch\n    versions: "*"\n',
        "duplicate-id",
    ),
    Change(
        "duplicate id in the taxonomy",
        TAGS,
        "- id: resume",
        "- {id: resume, name: x, definition: y}\n- id: ▶resume",
        "duplicate-id",
    ),
    Change(
        "duplicate line",
        LINES,
        "lines:\n",
        "lines:\n  - {id: sending-sigterm, text: another text here, role: advice, reading: x, "
        'source: {project: pytorch, file: a, versions: "*"}}\n',
        "duplicate-id",
    ),
    # versions, dates, files
    Change("no range", SHORT, 'versions: "*"', "versions: ▶since 2.0", "versions"),
    Change("number for a range", SHORT, 'versions: "*"', "versions: ▶2.0", "versions"),
    Change("range of nothing", SHORT, 'versions: "*"', 'versions: ▶","', "versions"),
    Change("range with a gap", SHORT, 'versions: "*"', 'versions: ▶">=1,,<2"', "versions"),
    Change("range by letters", SHORT, 'versions: "*"', 'versions: ▶"===nightly"', "versions"),
    Change("no range of a source", ENTRY, '      versions: "*"', "      versions: ▶v6", "versions"),
    Change("no range of a line", LINES, 'versions: "*"', "versions: ▶all", "versions"),
    Change("range that ends before it begins", SHORT, 'versions: "*"', 'versions: ▶">=1,<0.5"', "versions"),
    Change("range that takes away all", SHORT, 'versions: "*"', 'versions: ▶"==1.*,!=1.*"', "versions"),
    Change("no release", ENTRY, "version: 2.9.0", "version: ▶next", "versions"),
    Change("year one", SHORT, "added: 2026-01-11", "added: ▶0001-01-01", "wrong-type"),
    Change("year 9999", SHORT, "reviewed: 2026-01-11", "reviewed: ▶9999-12-31", "wrong-type"),
    Change("reviewed before added", SHORT, "reviewed: 2026-01-11", "reviewed: ▶2025-01-11", "date-order"),
    Change("changed before added", ENTRY, "  - date: 2026-02-20", "  - date: ▶2025-02-20", "date-order"),
    Change(
        "changes out of order",
        ENTRY,
        "changes:\n",
        "changes:\n  - date: 2026-01-15\n    what: x\n",
        "date-order",
    ),
    Change("log that isn't there", SHORT, "file: run.log", "file: ▶ran.log", "unknown-file"),
    Change(
        "log that isn't named", SHORT, "logs:\n  - file: run.log", "▶logs:\n  - file: ran.log", "unnamed-file"
    ),
    Change("line past the end", SHORT, "    line: 1", "    line: ▶2", "log-line"),
    Change("empty line", ENTRY, "    line: 2", "    line: ▶3", "log-line"),
    # completeness
    Change("complete without parts", SHORT, "status: short", "status: ▶complete", "incomplete"),
    Change(
        "two symptoms",
        ENTRY,
        "symptoms:\n  - sign: OSError 28\n    meaning: No block or inode is free.\n",
        "▶symptoms:\n",
        "incomplete",
    ),
    Change(
        "no near miss", ENTRY, "    says: other\n    entry: port-taken", "    says: initiating", "incomplete"
    ),
    Change("figure of nothing", SHORT, "causes:\n", "figures:\n  - ▶caption: x\ncauses:\n", "bad-figure"),
    Change(
        "spans that overlap",
        SHORT,
        "causes:\n",
        LANES.format("▶{start: 2, end: 9, does: waits}"),
        "bad-figure",
    ),
    Change(
        "span that ends before it begins",
        SHORT,
        "causes:\n",
        LANES.format("▶{start: 7, end: 6, does: waits}"),
        "bad-figure",
    ),
    Change(
        "text that doesn't fit",
        SHORT,
        "causes:\n",
        LANES.format(
            '{start: 5, end: 6, does: waits, text: ▶"for the rest of the node, and longer than that, as it seems"}'
        ),
        "bad-figure",
    ),
    Change(
        "lane whose name doesn't fit",
        SHORT,
        "causes:\n",
        LANES.replace("rank 0", "▶every rank but the first").format("{start: 4, end: 9, does: waits}"),
        "bad-figure",
    ),
    Change("memory of nothing", SHORT, "causes:\n", BARS.format("▶0"), "too-small"),
    Change("memory without end", SHORT, "causes:\n", BARS.format("▶inf"), "wrong-type"),
    Change("memory that no drawing shows", SHORT, "causes:\n", BARS.format("▶0.001"), "too-small"),
    Change("memory of no machine", SHORT, "causes:\n", BARS.format("▶9999999"), "too-great"),
    Change(
        "span of four thousand digits",
        SHORT,
        "causes:\n",
        LANES.format("{start: 5, end: ▶" + "9" * 4000 + ", does: waits, text: x}"),
        "wrong-type",
    ),
    Change(
        "span without an end in sight",
        SHORT,
        "causes:\n",
        LANES.format("{start: 5, end: ▶999999999, does: waits, text: x}"),
        "too-great",
    ),
    Change("memory that is no number", SHORT, "causes:\n", BARS.format("▶much"), "wrong-type"),
    Change("short, graded without evidence", SHORT, "grade: inferred", "grade: ▶source", "incomplete"),
    Change("reproduced by nothing", SHORT, "grade: inferred", "grade: ▶reproduced", "no-repro"),
    Change(
        "part of nothing", SHORT, "    says: initiating", "    says: initiating\n    part: ▶fail", "no-repro"
    ),
    Change("short without a log", SHORT, "says: initiating", "says: other", "incomplete"),
    Change(
        "graded without evidence",
        ENTRY,
        "    grade: source\n    evidence: [errno]",
        "    grade: ▶source",
        "incomplete",
    ),
    Change(
        "signature without a source",
        ENTRY,
        "signatures:\n",
        'signatures:\n  - {id: ▶bare, text: "OSError: [Errno 28]", role: cause, printed_by: tool, usually: x}\n',
        "incomplete",
    ),
    Change(
        "superseded and not withdrawn",
        SHORT,
        "status: short",
        "status: short\nsuperseded_by: ▶disk-full",
        "withdrawn",
    ),
    Change("withdrawn without a word", SHORT, "status: short", "status: ▶withdrawn", "withdrawn"),
    # signatures
    Change(
        "an exception's kind alone",
        SHORT,
        'text: "OSError: [Errno 98] Address already in use"',
        'text: ▶"OSError: {int}"',
        "too-general",
    ),
    Change(
        "a path of one machine",
        SHORT,
        '98] Address already in use"',
        '98] Address already in use at ▶/home/user/run.py"',
        "path-in-signature",
    ),
    Change("unclosed hole", SHORT, "[Errno 98]", "[Errno ▶{int]", "template"),
    Change("unknown hole", SHORT, "[Errno 98]", "[Errno ▶{digits}]", "template"),
    Change("lone brace", SHORT, 'in use"', 'in use▶}"', "template"),
    Change(
        "unclosed hole in a condition", ENTRY, '"shared memory segment"', '"shared memory ▶{int"', "template"
    ),
    Change("unclosed hole in a consequence", ENTRY, 'failure):"', 'failure): ▶{any"', "template"),
    Change("unclosed hole in a line", LINES, "process {int} closing", "process ▶{int closing", "template"),
    Change("no cause among the signatures", SHORT, "role: cause", "role: advice", "no-signature"),
    Change(
        "no message and nothing to look at",
        SHORT,
        "status: short",
        "status: short\nno_message: ▶true",
        "no-signature",
    ),
    Change(
        "look_instead of a message", SHORT, "status: short", "status: short\nlook_instead: ▶x", "no-signature"
    ),
    Change(
        "one message, two owners",
        LINES,
        '"Sending process {int} closing signal SIGTERM"',
        '▶"OSError: [Errno 98] Address already in use"',
        "duplicate-signature",
    ),
    # Markdown and code
    Change("HTML in a paragraph", ENTRY, "The kernel reports", "The ▶<b>kernel</b> reports", "html"),
    Change(
        "HTML in a sentence", SHORT, "title: End the former run", "title: End ▶<script>x</script>", "html"
    ),
    Change("HTML block", ENTRY, "  A save streams", "  ▶<div onclick=x>\n\n  A save streams", "html"),
    Change("HTML comment", ENTRY, "The kernel reports", "The ▶<!-- kernel --> reports", "html"),
    Change("HTML after the same as code", ENTRY, "The kernel reports", "The `<b>` is ▶<b> too", "html"),
    Change("HTML in a table", ENTRY, "| write | ENOSPC |", "| write | ▶<br> |", "html"),
    Change(
        "HTML in a folded text",
        SHORT,
        "summary: The rendezvous",
        "summary: >-\n  The\n  ▶<i>rendezvous</i>\n ",
        "html",
    ),
    Change(
        "HTML in an escaped text", SHORT, "title: End the former run", 'title: "\\"x\\" \\x41 ▶<i>"', "html"
    ),
    Change("HTML in a quoted text", SHORT, "title: End the former run", "title: 'it''s ▶<i>'", "html"),
    Change("HTML on a page", PAGE, "A page", "A ▶<form> page", "html"),
    Change("HTML in the taxonomy", TAGS, "definition: Training", "definition: ▶<i>Training</i>", "html"),
    Change("HTML in a reading", LINES, "reading: The agent", "reading: The ▶<i>agent</i>", "html"),
    Change("HTML in a hub", HUB, "offload: None.", "offload: None ▶<br>.", "html"),
    Change("javascript link", ENTRY, "The kernel reports", "▶[x](javascript:alert) reports", "bad-link"),
    Change(
        "javascript link in capitals",
        ENTRY,
        "The kernel reports",
        "▶[x](JaVaScRiPt:alert) reports",
        "bad-link",
    ),
    Change(
        "javascript link with an entity",
        ENTRY,
        "The kernel reports",
        "▶[x](java&#115;cript:alert) reports",
        "bad-link",
    ),
    Change("javascript autolink", ENTRY, "The kernel reports", "▶<javascript:alert> reports", "bad-link"),
    Change("data link", ENTRY, "The kernel reports", "▶[x](data:text/html,x) reports", "bad-link"),
    Change("link without a scheme", ENTRY, "The kernel reports", "▶[x](//example.org) reports", "bad-link"),
    Change(
        "javascript link by reference",
        ENTRY,
        "The kernel reports",
        "▶[x] reports.\n\n  [x]: javascript:alert(1)\n\n  The kernel reports",
        "bad-link",
    ),
    Change("vbscript link", ENTRY, "The kernel reports", "▶[x](vbscript:x) reports", "bad-link"),
    Change("link without a host", ENTRY, "The kernel reports", "▶[x](https:///y) reports", "bad-link"),
    Change(
        "host of a link as a user name",
        ENTRY,
        "The kernel reports",
        "▶[x](https://github.com@example.org/) reports",
        "bad-link",
    ),
    Change("javascript link on a page", PAGE, "[link](../failures/)", "▶[link](javascript:x)", "bad-link"),
    Change("link to no entry", ENTRY, "The kernel reports", "[x](▶../port-takne/) reports", "dead-link"),
    Change(
        "link from the root", ENTRY, "The kernel reports", "[x](▶/failures/port-taken/) reports", "dead-link"
    ),
    Change("link to no tag", ENTRY, "The kernel reports", "[x](▶../../tags/nowhere/) reports", "dead-link"),
    Change("link of a page to no page", PAGE, "[link](../failures/)", "[link](▶../nowhere/)", "dead-link"),
    Change("image", ENTRY, "The kernel reports", "▶![x](https://example.org/x.png) reports", "image"),
    Change(
        "two paragraphs in a sentence",
        SHORT,
        "summary: The rendezvous",
        "summary: |\n  A b.\n\n  ▶The",
        "paragraph",
    ),
    Change(
        "broken python",
        ENTRY,
        '          print(shutil.disk_usage("/data").free)',
        "          ▶print(shutil.",
        "snippet",
    ),
    Change(
        "import of an unlisted package",
        ENTRY,
        "          import shutil",
        "          ▶import shutils",
        "unlisted-package",
    ),
    Change(
        "release of an unlisted package",
        ENTRY,
        "        code: |\n          import shutil",
        '        packages: [▶"jax==0.4.1"]\n        code: |\n          import shutil',
        "unlisted-package",
    ),
    Change(
        "name that is missing and not used",
        ENTRY,
        "      code: torch.save",
        "      missing: [▶torch.load]\n      code: torch.save",
        "not-missing",
    ),
    Change(
        "name that was not looked up",
        ENTRY,
        "      code: torch.save(state, path)",
        "      code: |\n        import torch\n\n        ▶torch.save(state, path)",
        "unrecorded",
    ),
    Change(
        "configuration that was not tried",
        ENTRY,
        "      language: bash\n      code: fallocate -l 10G /data/probe && rm /data/probe",
        "      language: json\n      code: '▶{\"train_batch_size\": 1}'",
        "unrecorded",
    ),
    Change(
        "refusal without a configuration",
        ENTRY,
        "      language: bash\n      code: fallocate",
        "      language: bash\n      refused: too large\n      code: ▶fallocate",
        "configuration",
    ),
    Change(
        "broken json",
        ENTRY,
        "      language: bash\n      code: fallocate",
        "      language: json\n      code: ▶fallocate",
        "snippet",
    ),
    Change(
        "json with an endless number",
        ENTRY,
        "      language: bash\n      code: fallocate",
        f"      language: json\n      code: ▶{'9' * 6000} #",
        "snippet",
    ),
    Change(
        "broken yaml",
        ENTRY,
        "      language: bash\n      code: fallocate -l",
        '      language: yaml\n      code: "▶a: b: c" #',
        "snippet",
    ),
    Change(
        "sentence twice",
        SHORT,
        "text: The listener",
        "text: ▶A save streams its tensors through the page cache. #",
        "repeated-sentence",
    ),
    Change("filler", SHORT, "text: The", "text: ▶It is important to note that the", "filler"),
    Change("text cut at a number sign", ENTRY, "The number 28 is", "The number ▶#28 is", "cut-text"),
    Change(
        "filler over a line's end", ENTRY, "  A save streams", "  A save ▶in\n  order to stream", "filler"
    ),
    # hubs and pages
    Change(
        "phase missing from a hub",
        HUB,
        "phases:\n  - phase: launch",
        "▶phases:\n  - phase: checkpoint-save",
        "hub-phases",
    ),
    Change("phase twice in a hub", HUB, "  - phase: checkpoint-save", "  - phase: ▶launch", "hub-phases"),
    Change(
        "unknown phase of a hub", HUB, "  - phase: checkpoint-save", "  - phase: ▶checkpoint", "hub-phases"
    ),
    Change(
        "message that nobody can fetch, without a word",
        ENTRY,
        '    source:\n      project: linux\n      file: include/uapi/asm-generic/errno-base.h\n      literal: "#define ENOSPC 28"\n'
        '      versions: "*"\n      note: Read in the header of Linux 6.1.\n',
        '    ▶source:\n      project: linux\n      file: include/uapi/asm-generic/errno-base.h\n      versions: "*"\n',
        "no-evidence",
    ),
    Change(
        "message of a package that was never looked for",
        ENTRY,
        NO_SPACE,
        NO_SPACE.replace("no-space", "▶no-space").replace("project: linux", "project: pytorch"),
        "no-evidence",
    ),
    Change("page without a description", PAGE, "description", "▶subtitle", "unknown-key"),
    Change("front matter that isn't YAML", PAGE, "title: About", "title: ▶@About", "syntax"),
)

WHOLES = (
    Whole("empty entry", SHORT, b"", "empty"),
    Whole("only a comment", SHORT, b"# nothing\n", "empty"),
    Whole("text for an entry", SHORT, b"hello\n", "wrong-type"),
    Whole("list for an entry", SHORT, b"- a\n- b\n", "wrong-type"),
    Whole("null for an entry", SHORT, b"~\n", "no-value"),
    Whole("mapping for a list of the taxonomy", TAGS, b"a: b\n", "wrong-type"),
    Whole("bomb of aliases", SHORT, BOMB, "alias", 2, 8),
    Whole("alias of itself", SHORT, b"a: &a [*a]\n", "alias", 1, 8),
    Whole("nested lists", SHORT, b"[" * 40 + b"\n", "nesting", 1, 33),
    Whole("nested items", SHORT, b"- " * 40 + b"x\n", "nesting", 1, 65),
    Whole("a hundred thousand brackets", SHORT, b"[" * 100_000, "nesting", 1, 1001),
    Whole("a hundred thousand braces", SHORT, b"{a: " * 100_000, "nesting", 1, 129),
    Whole("over a megabyte", SHORT, b"title: " + b"x" * 1_100_000, "too-large"),
    Whole("byte order mark", SHORT, b"\xef\xbb\xbftitle: x\n", "encoding"),
    Whole("UTF-16 with a mark", SHORT, "title: x\n".encode("utf-16"), "encoding"),
    Whole("UTF-16 without a mark", SHORT, "title: x\n".encode("utf-16-be"), "encoding"),
    Whole("UTF-32", SHORT, "title: x\n".encode("utf-32-le"), "encoding"),
    Whole("Latin-1", SHORT, "title: x\nsummary: \xe4\n".encode("latin-1"), "encoding", 2, 10),
    Whole("overlong UTF-8", SHORT, b"title: \xc0\xaf\n", "encoding", 1, 8),
    Whole("surrogate in UTF-8", SHORT, b"title: \xed\xa0\x80\n", "encoding", 1, 8),
    Whole("cut UTF-8", SHORT, b"title: \xe2\x82", "encoding", 1, 8),
    Whole("YAML directive", SHORT, b"%YAML 1.1\n---\ntitle: x\n", "directive"),
    Whole("TAG directive", SHORT, b"%TAG ! tag:example.org,2000:\n---\ntitle: x\n", "directive"),
    Whole("a picture", SHORT, b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "encoding"),
    Whole("page without front matter", PAGE, b"# About\n", "front-matter"),
    Whole("page with open front matter", PAGE, b"---\ntitle: About\n", "front-matter"),
    Whole("page that isn't UTF-8", PAGE, b"---\ntitle: \xff\n---\n", "encoding", 2, 8),
    Whole("huge log", "failures/port-taken/run.log", b"x" * 4_100_000, "too-large"),
    Whole("evidence that isn't JSON", "failures/port-taken/evidence.json", b"[", "bad-evidence"),
    Whole("evidence of no known shape", "failures/port-taken/evidence.json", b"{}", "bad-evidence"),
    Whole("evidence of another signature", "failures/port-taken/evidence.json", EVIDENCE, "stale-evidence"),
    Whole("repro that doesn't parse", "failures/port-taken/repro.py", b"def f(:\n", "snippet"),
    Whole("repro without a block", REPRO, b'"""No block."""\n', "repro-block"),
    Whole("repro with two blocks", REPRO, BLOCK + b"\n" + BLOCK, "repro-block"),
    Whole("repro whose block is no TOML", REPRO, BLOCK.replace(b"[]", b"["), "repro-block"),
    Whole("repro for any Python", REPRO, BLOCK.replace(b"requires-python", b"python"), "repro-block"),
    Whole("repro for Python three", REPRO, BLOCK.replace(b">=3.11", b"three"), "repro-block"),
    Whole("repro without dependencies", REPRO, BLOCK.replace(b"dependencies", b"needs"), "repro-block"),
    Whole("repro that isn't pinned", REPRO, BLOCK.replace(b"[]", b'["torch>=2"]'), "repro-block"),
    Whole("repro pinned to a family", REPRO, BLOCK.replace(b"[]", b'["torch==2.*"]'), "repro-block"),
    Whole("repro from an address", REPRO, BLOCK.replace(b"[]", b'["a @ https://a.org"]'), "repro-block"),
    Whole("repro without fix", REPRO, BLOCK + b'"""\npython repro.py fail\n"""\n', "repro-part", 5),
    Whole(
        "record of what is not used",
        "failures/disk-full/snippets.json",
        b'{"names": {"torch==2.13.0": {"torch": "module"}}}',
        "stale-record",
    ),
    Whole("record that is none", "failures/disk-full/snippets.json", b"{}}", "unrecorded"),
    Whole("repro with NUL", "failures/port-taken/repro.py", b"x = 1\0\n", "snippet"),
)

TREES = (
    Tree("two that supersede each other", _supersede, SHORT, "self-reference", 4, 16),
    Tree("logs that differ in capitals", _twin_logs, SHORT, "twin-files", 48, 11),
    Tree(
        "package twice",
        lambda c: _write(c / PACKAGES, (c / PACKAGES).read_bytes() * 2),
        PACKAGES,
        "duplicate-id",
        3,
        12,
    ),
    Tree("corpora of no known shape", lambda c: _write(c / CORPORA, b"["), CORPORA, "bad-evidence"),
    Tree("coverage of no known shape", lambda c: _write(c / COVERAGE, b"[]"), COVERAGE, "bad-evidence"),
    Tree(
        "messages of no known shape",
        lambda c: _write(c / MESSAGES, b"{}"),
        MESSAGES,
        "bad-evidence",
    ),
    Tree("name that is gone", _gone, ENTRY, "unknown-name", 147, 9),
    Tree("log with a key", lambda c: _append(c, "HF_TOKEN=hf_abcdefghijklmnop0123\n"), LOG, "secret", 2, 10),
    Tree("log with a password", lambda c: _append(c, "http://me:pa55@192.0.2.1/\n"), LOG, "secret", 2, 8),
    Tree("log with a machine", lambda c: _append(c, "peer db3.acme.internal left\n"), LOG, "private", 2, 6),
    Tree("log with an address", lambda c: _append(c, "\nat 10.1.2.3<4>\n"), LOG, "private", 3, 4),
    Tree("log with a person", lambda c: _append(c, "cd /home/jane/run\n"), LOG, "private", 2, 10),
    Tree("folder without entry.yaml", lambda c: (c / SHORT).unlink(), SHORT, "missing-file"),
    Tree("folder for entry.yaml", lambda c: ((c / SHORT).unlink(), (c / SHORT).mkdir()), SHORT, "stray-file"),
    Tree(
        "folder with a bad name",
        lambda c: (c / "failures/Port_Taken").mkdir(),
        "failures/Port_Taken",
        "bad-slug",
    ),
    Tree(
        "file among the entries", lambda c: (c / "failures/a.yaml").touch(), "failures/a.yaml", "stray-file"
    ),
    Tree("taxonomy without tags", lambda c: (c / TAGS).unlink(), TAGS, "missing-file"),
    Tree("unknown taxonomy", lambda c: (c / "taxonomy/tag.yaml").touch(), "taxonomy/tag.yaml", "stray-file"),
    Tree("unknown folder", lambda c: (c / "failure").mkdir(), "failure", "stray-file"),
    Tree("text among the lines", lambda c: (c / "lines/a.txt").touch(), "lines/a.txt", "stray-file"),
    Tree("page with a bad name", lambda c: (c / "pages/A b.md").touch(), "pages/A b.md", "bad-slug"),
    Tree(
        "two hubs of one system",
        lambda c: copy(c / HUB, c / "hubs/torch.yaml"),
        "hubs/torch.yaml",
        "duplicate-id",
        1,
        9,
    ),
    Tree(
        "folder whose name isn't UTF-8",
        lambda c: mkdir(bytes(c / "failures") + b"/\xff"),
        "failures/\\udcff",
        "bad-slug",
    ),
    Tree(
        "log whose name isn't UTF-8",
        lambda c: mkdir(bytes(c / "healthy") + b"/\xff.log"),
        "healthy/\\udcff.log",
        "stray-file",
    ),
    Tree(
        "link to nowhere", lambda c: (c / "healthy/a.log").symlink_to("nowhere"), "healthy/a.log", "link-out"
    ),
    Tree("link to itself", lambda c: (c / "healthy/a.log").symlink_to("a.log"), "healthy/a.log", "link-out"),
    Tree(
        "link out", lambda c: (c / "healthy/a.log").symlink_to("/etc/hostname"), "healthy/a.log", "link-out"
    ),
    Tree("entry that links out", lambda c: (c / "failures/a").symlink_to("/"), "failures/a", "link-out"),
    Tree(
        "folder whose name a terminal obeys",
        lambda c: (c / "failures/a\x1b[31m").mkdir(),
        "failures/a\\x1b[31m",
        "bad-slug",
    ),
    Tree(
        "folder whose name has two lines",
        lambda c: (c / "failures/a\n::error::b").mkdir(),
        "failures/a\\n::error::b",
        "bad-slug",
    ),
    Tree(
        "page in a folder of the site",
        lambda c: copy(c / PAGE, c / "pages/css.md"),
        "pages/css.md",
        "name-taken",
        2,
    ),
    Tree(
        "page in the hub's folder",
        lambda c: copy(c / PAGE, c / "pages/pytorch.md"),
        "pages/pytorch.md",
        "name-taken",
        2,
    ),
    Tree("part of a composed log", lambda c: _name_part(c, "fail"), SHORT, "repro-part", 48, 11),
    Tree(
        "part that isn't told",
        lambda c: _name_part(c, "fial", captured=True),
        SHORT,
        "repro-part",
        48,
        11,
    ),
    Tree(
        "part of two logs",
        lambda c: _name_part(c, "fail", captured=True, twice=True),
        SHORT,
        "repro-part",
        54,
        11,
    ),
    Tree(
        "log of a script that has changed", lambda c: _quote(c, "raise OSError(98)"), LOG, "stale-log", 2, 12
    ),
    Tree("folder for a log", lambda c: (c / "healthy/a.log").mkdir(), "healthy/a.log", "stray-file"),
)
