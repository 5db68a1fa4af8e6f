"""Who said a line: the prefixes that launchers, loggers and clusters put before it, taken off one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby, islice

from .clean import Raw, clean
from .knowledge import Knowledge, Tagged

MAX_PREFIXES = 8
LABEL_SAMPLE = 200
NARROWEST, WIDEST = 60, 400
BROKEN_LINES = 3


@dataclass(slots=True, eq=False)
class Line:
    """A line with its prefixes taken off.

    ``text`` is all of it, ``body`` what the program itself printed, indentation kept. ``rank`` is the
    global rank, ``local`` the number inside a node, ``said`` a rank that the message itself names as its
    speaker (inside a process group it may not be the global one). ``time`` is in milliseconds from the
    year's start; ``stream`` names whoever printed this, for telling interleaved texts apart.
    """

    file: int
    number: int
    order: int
    text: str
    body: str
    rank: int | None = None
    local: int | None = None
    said: int | None = None
    node: str | None = None
    pid: int | None = None
    level: str = ""
    time: int | None = None
    stamp: str = ""
    logged: bool = False
    bar: bool = False
    stream: str = ""


@dataclass(slots=True)
class _Taken:
    """What the prefixes of one line told."""

    values: dict[str, str] = field(default_factory=dict)
    logged: bool = False


def attribute(raws: list[Raw], names: list[str], knowledge: Knowledge) -> list[Line]:
    """The kept lines with who said them; ``names`` are the files' names, by number."""
    lines: list[Line] = []
    for file, members in groupby(raws, key=lambda raw: raw.file):
        own = list(members)
        numbers, texts = _rejoin([raw.number for raw in own], [clean(raw.content) for raw in own], knowledge)
        labels = _labels(texts, knowledge)
        rank = rank_of_name(names[file], knowledge)
        for number, text in zip(numbers, texts, strict=True):
            lines.append(_line(file, number, len(lines), text, labels, rank, knowledge))
    _ranks_of_pids(lines, knowledge)
    _ranks_of_locals(lines)
    for line in lines:
        line.stream = _stream(line)
    return lines


def _rejoin(numbers: list[int], texts: list[str], knowledge: Knowledge) -> tuple[list[int], list[str]]:
    """Puts together what a terminal had broken at its width."""
    width = _width(numbers, texts, knowledge)
    if not width:
        return numbers, texts
    kept: list[int] = []
    joined: list[str] = []
    full = False
    for at, text in enumerate(texts):
        if full and _follows(numbers, texts, at, knowledge):
            joined[-1] += text
        else:
            kept.append(numbers[at])
            joined.append(text)
        full = len(text) == width
    return kept, joined


def _width(numbers: list[int], texts: list[str], knowledge: Knowledge) -> int:
    """The width at which the lines were broken, or 0.

    No line is longer, and what follows the longest ones begins as no line of its own does.
    """
    lengths = [len(text) for text in texts]
    width = max(lengths, default=0)
    if not NARROWEST <= width <= WIDEST or lengths.count(width) < BROKEN_LINES:
        return 0
    longest = [at for at, length in enumerate(lengths) if length == width and at + 1 < len(texts)]
    followed = sum(1 for at in longest if _follows(numbers, texts, at + 1, knowledge))
    return width if followed >= BROKEN_LINES and 4 * (len(longest) - followed) <= len(longest) else 0


def _follows(numbers: list[int], texts: list[str], at: int, knowledge: Knowledge) -> bool:
    """Whether a line may be the rest of the one before: next to it, and with nothing that begins a line."""
    text = texts[at]
    if numbers[at] != numbers[at - 1] + 1 or not text.strip(" \t"):
        return False
    if text[:1] in " \t[" or knowledge.single["starter"].search(text):
        return False
    return not any(tagged.search(text) for tagged in knowledge.prefixes.by_first(text))


def _ranks_of_pids(lines: list[Line], knowledge: Knowledge) -> None:
    """NCCL says once which rank a pid is; its other lines bear the pid alone."""
    ranks: dict[tuple[str | None, int], int] = {}
    for line in lines:
        if line.pid is not None and "comm 0x" in line.text:
            match = knowledge.single["comm_rank"].search(line.text)
            if match:
                ranks.setdefault((line.node, line.pid), int(match.group(1)))
    for line in lines:
        if line.rank is None and line.pid is not None:
            line.rank = ranks.get((line.node, line.pid))


def _ranks_of_locals(lines: list[Line]) -> None:
    """On one node the number inside the node is the rank."""
    places = {(line.file, line.node) for line in lines if line.local is not None}
    if len(places) > 1:
        return
    for line in lines:
        if line.rank is None and line.local is not None:
            line.rank = line.local


def rank_of_name(name: str, knowledge: Knowledge) -> int | None:
    """The rank that a file's name or folder tells, such as ``attempt_0/3/stderr.log`` or ``x_rank3.log``."""
    for tagged in knowledge.files:
        found = [match.group(1) for match in tagged.pattern.finditer(name.replace("\\", "/"))]
        if found:
            return int(found[-1])
    return None


def _labels(texts: list[str], knowledge: Knowledge) -> list[Tagged]:
    """The labels that most lines of the file bear, so that they are labels and no part of the text."""
    sample = list(islice((text for text in texts if text.strip(" \t")), LABEL_SAMPLE))
    if len(sample) < 4:
        return []
    return [
        label
        for label in knowledge.labels
        if 2 * sum(1 for text in sample if label.search(text)) > len(sample)
    ]


def _line(
    file: int,
    number: int,
    order: int,
    text: str,
    labels: list[Tagged],
    file_rank: int | None,
    knowledge: Knowledge,
) -> Line:
    body, bar = _after_bar(text, knowledge)
    body, taken = _take_prefixes(body, labels, knowledge)
    if not bar:
        body, bar = _after_bar(body, knowledge)
        if bar:
            body, more = _take_prefixes(body, labels, knowledge)
            taken.values = {**more.values, **taken.values}
            taken.logged = taken.logged or more.logged
    values = taken.values
    line = Line(file, number, order, text, body, bar=bar, logged=taken.logged)
    line.rank = _number(values.get("rank"), file_rank)
    line.local = _number(values.get("local"))
    line.said = _number(values.get("said"))
    line.pid = _number(values.get("pid"))
    line.node = values.get("node")
    line.level = values.get("level", "")[:1]
    if "minute" in values:
        line.time, line.stamp = _time(values, knowledge)
    return line


def _after_bar(text: str, knowledge: Knowledge) -> tuple[str, bool]:
    """The text after the last progress bar in it, and whether there was one."""
    if ", " not in text or "]" not in text:
        return text, False
    last = None
    for match in knowledge.single["bar"].finditer(text):
        last = match
    if last is None:
        return text, False
    return text[last.end() :], True


def _take_prefixes(body: str, labels: list[Tagged], knowledge: Knowledge) -> tuple[str, _Taken]:
    taken = _Taken()
    for _ in range(MAX_PREFIXES):
        rest = _take_one(body, labels, knowledge, taken)
        if rest is None:
            break
        body = rest
    return body, taken


def _take_one(body: str, labels: list[Tagged], knowledge: Knowledge, taken: _Taken) -> str | None:
    for tagged in labels:
        match = tagged.search(body)
        if match:
            _note(tagged, match.groups(), taken)
            return body[match.end() :]
    for tagged in knowledge.prefixes.by_first(body):
        match = tagged.search(body)
        if match and match.end():
            _note(tagged, match.groups(), taken)
            taken.logged = taken.logged or "level" in tagged.fields or "minute" in tagged.fields
            return body[match.end() :]
    for tagged in knowledge.labels:
        match = tagged.search(body)
        if match and knowledge.single["starter"].search(body[match.end() :]):
            _note(tagged, match.groups(), taken)
            return body[match.end() :]
    return None


def _note(tagged: Tagged, groups: tuple[str | None, ...], taken: _Taken) -> None:
    for name, value in zip(tagged.fields, groups, strict=True):
        if value is not None and name not in taken.values:
            taken.values[name] = value


def _number(text: str | None, otherwise: int | None = None) -> int | None:
    return otherwise if text is None else int(text)


def _time(values: dict[str, str], knowledge: Knowledge) -> tuple[int, str]:
    """Milliseconds from the year's start, every month counted as 31 days, for order and distance; and shown."""
    month = int(values.get("month", "0")) or knowledge.months.get(values.get("monthname", ""), 0)
    day = int(values.get("day", "0"))
    hour, minute, second = int(values["hour"]), int(values["minute"]), int(values["second"])
    fraction = (values.get("fraction", "") + "000")[:3]
    milliseconds = (((month * 31 + day) * 24 + hour) * 3600 + minute * 60 + second) * 1000 + int(fraction)
    return milliseconds, f"{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{fraction}"


def _stream(line: Line) -> str:
    if line.rank is not None:
        who = f"r{line.rank}"
    elif line.pid is not None:
        who = f"p{line.pid}"
    elif line.local is not None:
        who = f"l{line.local}"
    else:
        who = ""
    return f"{line.file}|{line.node or ''}|{who}"
