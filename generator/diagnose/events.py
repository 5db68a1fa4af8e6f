"""Lines → what happened: exceptions with their tracebacks, native errors, reports, progress."""

from __future__ import annotations

from dataclasses import dataclass, field

from .knowledge import Knowledge, Tagged
from .match import Hit
from .speaker import Line

MESSAGE_LINES = 14
CODE_LENGTH = 400
IGNORED_REACH = 4
OPEN_REACH = 400
HANDLED_REACH = 2
FINISHED = "-finished"
BLANKS = " \t"
OF_MESSAGES = ("peer", "witness")


@dataclass(slots=True, eq=False)
class Event:
    """Something that a line, or a traceback that ends in it, tells.

    ``kind`` is exception, cut (a traceback whose end is missing), error (a native or tool's line), logged
    (a logger's error) or report (a known line). ``grade`` is how telling an error line is. ``before`` is
    the exception that was being handled (link ``during``), from which this one was raised (``direct``), or
    that only carries this one (``caught``). ``code`` is the end of a cut traceback's lines of code.
    """

    kind: str
    line: Line
    grade: str = ""
    name: str = ""
    message: str = ""
    frames: list[tuple[str, str]] = field(default_factory=list)
    code: str = ""
    header: int = -1
    extra: list[Line] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    before: Event | None = None
    link: str = ""
    carried: bool = False
    ignored: bool = False
    quiet: bool = False
    thread: bool = False
    headless: bool = False
    grouped: bool = False
    role: str = ""
    rank: int | None = None

    @property
    def words(self) -> str:
        """The message with the lines that it goes on in, in one."""
        return " ".join([self.message, *(line.body for line in self.extra)])

    @property
    def whole(self) -> str:
        return f"{self.name}: {self.words}" if self.name else self.words


@dataclass(slots=True)
class _Open:
    """A traceback whose exception has not come yet."""

    line: Line
    end: Line
    frames: list[tuple[str, str]] = field(default_factory=list)
    code: str = ""
    link: str = ""
    before: Event | None = None
    ignored: bool = False
    quiet: bool = False
    thread: bool = False
    headless: bool = False
    grouped: bool = False
    foreign: int = 0


@dataclass(slots=True)
class _Stream:
    """What one speaker's text has told so far."""

    opens: list[_Open] = field(default_factory=list)
    last: Event | None = None
    last_at: int = -1
    tail: Event | None = None
    link: str = ""
    ignore_until: int = -1
    thread: bool = False
    grouped: bool = False
    spawned: int | None = None
    handled_at: int = -1
    seen: int = 0


@dataclass(slots=True)
class Told:
    """All that the lines told; ``progress`` is, by stream, the orders of its steps, ``finished``, by file, the last line that tells of a good end."""

    events: list[Event] = field(default_factory=list)
    progress: dict[str, list[int]] = field(default_factory=dict)
    finished: dict[int, int] = field(default_factory=dict)


class Reader:
    """Reads lines in order; one traceback state a stream."""

    def __init__(self, knowledge: Knowledge, hits: dict[int, list[Hit]]) -> None:
        self._knowledge = knowledge
        self._hits = hits
        self._streams: dict[str, _Stream] = {}
        self._told = Told()

    def read(self, lines: list[Line]) -> Told:
        for line in lines:
            self._line(line)
        for stream in self._streams.values():
            for left in stream.opens:
                if stream.last is None or stream.last.line.order < left.line.order:
                    self._cut(left)
        self._told.events.sort(key=lambda event: event.line.order)
        return self._told

    def _line(self, line: Line) -> None:
        stream = self._streams.setdefault(line.stream, _Stream())
        stream.seen += 1
        hits = self._hits.get(line.order, [])
        if self._goes_on(line, hits):
            self._told.progress.setdefault(line.stream, []).append(line.order)
            if any(hit.item.id.endswith(FINISHED) for hit in hits):
                self._told.finished[line.file] = line.order
        body = self._without_margin(line, stream)
        if self._python(line, body, stream, hits):
            return
        for opened in stream.opens:
            opened.foreign += 1
        event = self._other(line, body, hits)
        if event is None:
            self._go_on(line, body, stream, hits)
            return
        if event.name == "what" and stream.tail is not None and stream.tail.name == "terminate":
            event.before, event.link, stream.tail.carried = stream.tail, "caught", True
        if self._go_on(line, body, stream, hits) and event.kind == "report" and _belongs_to_message(hits):
            return
        self._told.events.append(event)
        if stream.tail is None and event.kind == "error" and event.grade == "strong":
            stream.tail = event

    def _goes_on(self, line: Line, hits: list[Hit]) -> bool:
        """Whether the line shows that a run goes on: a bar, a known report, a step with a number of its own."""
        if line.bar or any(hit.item.role == "progress" for hit in hits):
            return True
        return not hits and bool(self._knowledge.single["progress"].search(line.body))

    def _without_margin(self, line: Line, stream: _Stream) -> str:
        if self._knowledge.words["group"] in line.body:
            stream.grouped = True
        if not stream.grouped:
            return line.body
        match = self._knowledge.python["margin"].search(line.body)
        if match is None:
            stream.grouped = self._knowledge.words["group"] in line.body
            return line.body
        return line.body[match.end() :]

    def _python(self, line: Line, body: str, stream: _Stream, hits: list[Hit]) -> bool:
        """Whether the line belongs to a traceback or what stands around one."""
        words, python = self._knowledge.words, self._knowledge.python
        if words["header"] in body:
            self._open(line, body, stream)
            return True
        if words["during"] in body or words["direct"] in body:
            stream.link = "direct" if words["direct"] in body else "during"
            stream.tail = None
            return True
        if python["ignored"].search(body):
            stream.ignore_until = stream.seen + IGNORED_REACH
        if python["thread"].search(body):
            stream.thread = True
            return True
        spawned = python["spawned"].search(body)
        if spawned:
            stream.spawned = int(spawned.group(1))
            return True
        frame = python["frame"].search(body)
        if frame:
            self._frame(line, (frame.group(1), frame.group(3)), stream)
            return True
        if python["c10"].search(body):
            return True
        if stream.opens and not hits and body[:2] in ("  ", " \t") and not line.logged:
            self._source(line, body, stream)
            return True
        return self._exception(line, body, stream, hits)

    def _open(self, line: Line, body: str, stream: _Stream) -> None:
        opened = _Open(line, line, grouped=stream.grouped)
        opened.link, opened.before = stream.link, stream.last if stream.link else None
        if self._knowledge.words["original"] in body and stream.last is not None:
            opened.link, opened.before = "caught", stream.last
        opened.ignored = stream.seen <= stream.ignore_until
        opened.quiet = line.level == "W" or stream.handled_at == stream.seen - 1
        opened.thread = stream.thread
        stream.link, stream.thread, stream.tail = "", False, None
        stream.opens.append(opened)

    def _frame(self, line: Line, frame: tuple[str, str], stream: _Stream) -> None:
        if not stream.opens:
            opened = _Open(line, line, headless=True, grouped=stream.grouped)
            opened.link, opened.before = stream.link, stream.last if stream.link else None
            opened.ignored = stream.seen <= stream.ignore_until
            stream.link = ""
            stream.opens.append(opened)
        stream.tail = None
        stream.opens[-1].frames.append(frame)
        stream.opens[-1].end, stream.opens[-1].foreign = line, 0

    def _source(self, line: Line, body: str, stream: _Stream) -> None:
        """A line of source code under its frame, or marks under that."""
        opened = stream.opens[-1]
        if opened.frames and body.strip(" \t^~"):
            opened.end = line
            opened.code = f"{opened.code} {body.strip(BLANKS)}"[-CODE_LENGTH:]

    def _exception(self, line: Line, body: str, stream: _Stream, hits: list[Hit]) -> bool:
        python = self._knowledge.python
        owner = stream
        expected = bool(stream.opens) and stream.opens[-1].foreign == 0
        match = python["exception_after_frames"].search(body) if expected else None
        if match is None:
            match = python["exception_alone"].search(body)
            if match is not None and not stream.opens:
                owner = self._adopted(line, stream)
        if match is None or (line.level and line.level in "DIW" and not owner.opens):
            self._note_handling(line, body, stream)
            return False
        if stream.tail is not None and not owner.opens and stream.tail.kind == "exception":
            inside = stream.tail.extra
            if inside and not inside[-1].body.strip(BLANKS):
                inside.pop()
        self._close(line, match.group(1), match.group(2) or "", owner, stream, hits)
        return True

    def _note_handling(self, line: Line, body: str, stream: _Stream) -> None:
        """Words such as 'retrying' right before or after an exception: the program lived on."""
        if not self._knowledge.single["handled"].search(body):
            return
        stream.handled_at = stream.seen
        last = stream.last
        if last is not None and stream.seen - stream.last_at <= HANDLED_REACH:
            last.quiet = True

    def _adopted(self, line: Line, stream: _Stream) -> _Stream:
        """The stream whose open traceback a line without prefix ends: the only one that is open."""
        if line.rank is not None or line.pid is not None:
            return stream
        opened = [
            other for name, other in self._streams.items() if other.opens and name.startswith(f"{line.file}|")
        ]
        near = [other for other in opened if line.order - other.opens[-1].line.order <= OPEN_REACH]
        return near[0] if len(near) == 1 else stream

    def _close(
        self, line: Line, name: str, message: str, owner: _Stream, stream: _Stream, hits: list[Hit]
    ) -> None:
        event = Event("exception", line, "strong", name, message, hits=list(hits), rank=line.rank)
        if owner.opens:
            opened = owner.opens.pop(0)
            event.frames, event.header = opened.frames, opened.line.order
            event.before, event.link = opened.before, opened.link
            event.ignored, event.quiet = opened.ignored, opened.quiet
            event.thread, event.headless, event.grouped = opened.thread, opened.headless, opened.grouped
            event.rank = line.rank if line.rank is not None else opened.line.rank
        else:
            event.headless, event.header = True, line.order
            event.before, event.link = (owner.last, owner.link) if owner.link else (None, "")
            owner.link = ""
            event.ignored = stream.seen <= stream.ignore_until
        if event.frames and event.frames[-1][1] in ("__del__", "_run_finalizers"):
            event.ignored = True
        if event.rank is None and stream.spawned is not None:
            event.rank, stream.spawned = stream.spawned, None
        if event.before is not None:
            event.before.carried = True
        owner.last = stream.tail = event
        owner.last_at = owner.seen
        self._told.events.append(event)

    def _cut(self, left: _Open) -> None:
        """A traceback whose exception never came."""
        event = Event(
            "cut",
            left.end,
            "weak",
            message=left.end.body.strip(BLANKS),
            frames=left.frames,
            header=left.line.order,
            rank=left.line.rank,
        )
        event.ignored, event.quiet, event.code = left.ignored, left.quiet, left.code
        self._told.events.append(event)

    def _go_on(self, line: Line, body: str, stream: _Stream, hits: list[Hit]) -> bool:
        """Whether the line is one more of the message before it; if not, that message has ended."""
        tail = stream.tail
        if tail is None:
            return False
        empty = not body.strip(BLANKS)
        over = len(tail.extra) >= MESSAGE_LINES or line.logged or line.bar or empty
        if over and not (empty and not tail.message and not tail.extra):
            stream.tail = None
            return False
        tail.extra.append(line)
        tail.hits.extend(hit for hit in hits if hit.item.entry or hit.item.role in OF_MESSAGES)
        return True

    def _other(self, line: Line, body: str, hits: list[Hit]) -> Event | None:
        tagged = self._error(line, body)
        if tagged is not None:
            message = body.strip(BLANKS)
            return Event("error", line, tagged.grade, tagged.id, message, hits=hits, rank=line.rank)
        if hits and any(hit.item.role != "progress" for hit in hits):
            return Event("report", line, "", "", body.strip(BLANKS), hits=hits, rank=line.rank)
        pytest = self._knowledge.python["pytest"].search(body)
        if pytest:
            return Event("error", line, "strong", "pytest", pytest.group(1), hits=hits, rank=line.rank)
        if line.level in ("E", "C", "F") and body.strip(BLANKS):
            return Event("logged", line, "weak", "", body.strip(BLANKS), hits=hits, rank=line.rank)
        return None

    def _error(self, line: Line, body: str) -> Tagged | None:
        quiet = line.level != "" and line.level in "DIW"
        for tagged in self._knowledge.errors.by_literal(body):
            if quiet and tagged.grade not in ("numeric", "overflow", "weak"):
                continue
            if tagged.pattern.search(body):
                return tagged
        return None


def _belongs_to_message(hits: list[Hit]) -> bool:
    """Whether such a line may be a part of an exception's message, so that it tells nothing beside it."""
    return all(hit.item.entry or hit.item.role in OF_MESSAGES for hit in hits)


def read_events(lines: list[Line], knowledge: Knowledge, hits: dict[int, list[Hit]]) -> Told:
    """What the lines tell, in their order."""
    return Reader(knowledge, hits).read(lines)
