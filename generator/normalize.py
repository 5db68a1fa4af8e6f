"""A pasted line → what of it carries information: no escapes, no prefix, no numbers, paths or addresses.

The JavaScript twin is ``static/engine/normalize.js``; ``tests/vectors/normalize.json`` holds what both must
answer. Every expression here is of bounded length, so every function is linear in its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

HEAD = 60_000
TAIL = 180_000
"""Of a longer text its first and last characters: where a run fails, and what it was when it began."""
MAX_LENGTH = 4_000
"""Longer lines are cut to so many characters."""

_ESCAPE = re.compile(
    "\x1b\\[[0-9;:<=>?]{0,64}[ -/]{0,8}[@-~]|\x1b\\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\\\)?|\x1b[ -/]?[0-~]?"
)
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile("[ \t\u00a0]+")

_DATE = "[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?"
_LEVEL = "(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)"
PREFIXES = (
    # Who speaks: torch, torchrun, mpirun, srun -l, Ray, pdsh.
    r"\[[A-Za-z_-]{1,30} ?[0-9]{1,6}\]:?",
    r"\[[0-9]{1,6},[0-9]{1,6}\]<std(?:out|err)>:?",
    r"[0-9]{1,6}: ",
    r"\([A-Za-z_. ]{0,60}pid=[0-9]{1,10}(?:, ip=[0-9a-fA-F.:]{3,45})?\)",
    r"[Rr]ank[ =:]{0,2}[0-9]{1,6} ?[:|]",
    r"[a-z][a-z-]{0,62}[.-]?[0-9]{1,9}(?:\.[a-z0-9.-]{1,60})?: ",
    r"[A-Za-z0-9._-]{1,64}:[0-9]{1,10}:[0-9]{1,10} \[[0-9]{1,3}\] (?:[0-9.]{1,20} )?NCCL (?:INFO|WARN)",
    # When: ISO 8601, a clock, syslog, glog, the kernel.
    rf"\[?{_DATE}[T _]{_TIME}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?\]?",
    rf"\[?{_TIME}\]?",
    rf"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{{1,2}} {_TIME}(?: [A-Za-z0-9._-]{{1,64}} kernel:)?",
    r"[EWIF][0-9]{4} [0-9:.]{8,20} [0-9]{1,10} [A-Za-z0-9_./-]{1,200}:[0-9]{1,6}\]",
    r"\[ ?[0-9]{1,10}\.[0-9]{1,9}\]",
    # What a logger adds: level, file and line.
    rf"\[{_LEVEL}\]",
    rf"{_LEVEL} ?[:|-]",
    rf"{_LEVEL} ",
    r"\[[A-Za-z0-9_./-]{1,120}:[0-9]{1,6}(?::[A-Za-z0-9_<>]{1,80})?\]",
)
"""What loggers and launchers put before a line; in the subset that both languages read alike."""

_PREFIX = re.compile(f"(?:{'|'.join(PREFIXES)})[ |:-]{{0,4}}")
_ADDRESS = re.compile("https?://[^ ]{0,2000}|0x[0-9a-fA-F]{1,128}")
_CHUNK = re.compile(r"""[^ '"`<>()\[\]{},;=]+""")
_SLASH = re.compile(r"[/\\]")
_WORD = re.compile(r"-?[0-9]+(?:\.[0-9]+){0,8}(?![0-9A-Za-z_])|[0-9]*[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]")
_NUMBER = re.compile(r"-?[0-9.]+")
_HEX = re.compile("[0-9a-f]*[0-9][0-9a-f]*")

_STOP = """
    a about after all also an and any are as at be been before but by call called can cannot could did do does
    each error exception file following for from get given got had has have how if in info instead into is it its
    just last like line may me more most my no not now of off on one only or other our out over please raise
    raised return see self should so some such than that the their them then there these they this those to
    traceback use used using was we were what when where which while who why will with within without would
    you your kib mib gib kb mb gb tb
"""
STOP = frozenset(_STOP.split())
"""Words that tell nothing about a failure, or stand in every traceback."""

SHORT = {
    "oom": "memory",
    "mem": "memory",
    "vram": "memory",
    "ckpt": "checkpoint",
    "grad": "gradient",
    "grads": "gradient",
    "param": "parameter",
    "params": "parameter",
    "config": "configuration",
    "cfg": "configuration",
    "optim": "optimizer",
    "hung": "hang",
    "freeze": "hang",
    "stuck": "hang",
    "crash": "fail",
    "sigkill": "kill",
    "comm": "communication",
    "init": "initialize",
    "initialization": "initialize",
    "dataloader": "loader",
}
"""What people type for short, or instead, and the word that stands for it."""


def lines_of(text: str) -> list[str]:
    """The lines that a terminal would have shown, in order, empty ones left out.

    Of a progress bar only what it drew last remains. Runs of blanks become one.
    """
    return [line for line in map(clean, _ends(text).split("\n")) if line]


def clean(line: str) -> str:
    """A line without escapes, control and direction marks; blanks are single, none stands at its ends."""
    if len(line) <= MAX_LENGTH and line.isprintable():
        return (_BLANKS.sub(" ", line) if "  " in line else line).strip(" ")
    line = _ESCAPE.sub("", _SURROGATE.sub("\ufffd", line[: 4 * MAX_LENGTH]))
    drawn = [part for part in line.split("\r") if part.strip(" \t")]
    line = _UNSEEN.sub("", drawn[-1] if drawn else "")
    return _BLANKS.sub(" ", line[:MAX_LENGTH]).strip(" ")


def without_prefix(line: str) -> str:
    """A clean line without what loggers and launchers put before it."""
    for _ in range(8):
        match = _PREFIX.match(line)
        if match is None or not match.end():
            break
        line = line[match.end() :]
    return line.strip(" ")


def _ends(text: str) -> str:
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def words_of(line: str, *, numbers: bool = False) -> list[str]:
    """The words of a clean line that carry information, stemmed, each once, sorted.

    An identifier counts whole and in its parts. With ``numbers`` small ones count too, as in 'code -9'.
    """
    return sorted(set(_words(line, numbers)))


def all_words(texts: Iterable[str], *, numbers: bool = False) -> set[str]:
    """The words of all lines of the texts, as ``words_of`` has them."""
    found: set[str] = set()
    for text in texts:
        for line in text.split("\n"):
            found.update(_words(clean(line), numbers))
    return found


def _words(line: str, numbers: bool) -> list[str]:
    found: list[str] = []
    for chunk in _CHUNK.findall(_ADDRESS.sub(" ", line) if "://" in line or "0x" in line else line):
        readings = _chunk_readings(chunk)
        if readings is not None:
            found.extend(readings)
            continue
        for word in _tokens(chunk):
            if _NUMBER.fullmatch(word):
                _add_number(found, word, numbers)
            else:
                found.extend(_readings(word))
    return found


@lru_cache(50_000)
def _chunk_readings(chunk: str) -> tuple[str, ...] | None:
    """What the words of a chunk are read as; None where a number is among them, which is read by what is before it."""
    word = chunk.rstrip(".:")
    if word.isascii() and word.isalpha():  # as most are: one word, and no path or number
        return tuple(_readings(word))
    words = _tokens(chunk)
    if any(map(_NUMBER.fullmatch, words)):
        return None
    return tuple(reading for word in words for reading in _readings(word))


def _tokens(chunk: str) -> list[str]:
    return _WORD.findall(_last_of_path(chunk))


def _last_of_path(chunk: str) -> str:
    """Of a path its last part: where things lie differs between machines, a file's name doesn't."""
    parts = [part for part in _SLASH.split(chunk) if part]
    is_path = len(parts) > 2 or (parts and chunk[0] in "/\\~.")
    return parts[-1] if is_path else chunk


def _add_number(found: list[str], word: str, numbers: bool) -> None:
    """A number that names a ZeRO stage always counts."""
    digits = word.lstrip("-")
    before = found[-1] if found else ""
    if before in ("zero", "stag", "zero_stage") and digits in ("0", "1", "2", "3"):
        found.append(f"zero{digits}")
    elif numbers and len(digits) <= 3 and "." not in digits:
        found.append(word)


def _readings(word: str) -> list[str]:
    """The word whole and its parts: ``DeepSpeedCPUAdam`` is also deep, speed, cpu, adam."""
    lower = word.lower().strip("_")
    if len(lower) < 2 or lower in STOP or (len(lower) >= 6 and _HEX.fullmatch(lower)):
        return []
    if word == lower and word.isalpha():
        return [stem(word)]  # of small letters alone, which have no parts
    parts = (part.lower() for part in _PART.findall(word) if 2 < len(part) < len(lower))
    return [*(stem(part) for part in parts if part not in STOP), stem(lower)]


def stem(word: str) -> str:
    """The word without its ending, so that 'resuming', 'resumed' and 'resume' are one."""
    if len(word) == 6 and word.startswith("stage") and word[5] in "0123":
        return f"zero{word[5]}"
    word = SHORT.get(word, word)
    if not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, rest in (("ing", 4), ("ed", 4), ("e", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= rest:
            word = word[: -len(ending)]
            break
    return word
