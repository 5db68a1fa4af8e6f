"""Roles, exits and testimony → which line and rank started it, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from .attempts import Attempt
from .events import Event
from .exits import Exit, Exits, whole
from .knowledge import Explains, Knowledge
from .match import Hit, Text
from .normal import family_of
from .speaker import Line
from .witness import Inference, Testimony, infer

Why = tuple[str, dict[str, str | int]]
OWN = ("cause", "local")
KILLS = (-9,)
SAME_MOMENT = 60_000
WEAK = {"ambiguous": 0, "wrapper": 1, "weak": 2, "numeric": 2, "plain": 3, "cut": 4}
ROLES_OF_OTHERS = ("witness", "peer", "supervisor", "teardown", "confirmation", "death")
PASTED_LINES = 12
MOST_WORDS = 60
ENDINGS = ("terminate", "what", "c-assert", "fatal-python", "aborted-shell")


@dataclass(slots=True)
class Candidate:
    """Something that may have started it; ``line`` is null where only the rank is inferred."""

    line: Line | None
    event: Event | None
    ranks: list[int] = field(default_factory=list)
    symmetric: bool = False
    role: str = "cause"
    why: list[Why] = field(default_factory=list)
    chain: list[Event] = field(default_factory=list)
    alike: list[Event] = field(default_factory=list)
    inferred: bool = False


@dataclass(slots=True)
class Verdict:
    """The answer before it is put into words."""

    grade: str
    initiating: Candidate | None = None
    missing: str = ""
    missing_ranks: list[int] = field(default_factory=list)


@dataclass
class Scene:
    """All that is known of the last attempt."""

    attempt: Attempt
    exits: Exits
    heard: Testimony
    text: Text
    members: list[int]
    closed: bool
    knowledge: Knowledge

    @cached_property
    def words_of_rank(self) -> dict[int, list[Event]]:
        """By rank the first of its words that it waited, or that another was gone."""
        words: dict[int, list[Event]] = {}
        for event in self.attempt.events:
            if event.rank is not None and event.role in ("witness", "peer"):
                first = words.setdefault(event.rank, [])
                if len(first) < MOST_WORDS:
                    first.append(event)
        return words


def judge(scene: Scene) -> Verdict:
    """The strongest claim that the evidence carries, and what is missing for a stronger one."""
    chosen = _own(scene)
    if chosen is not None:
        return chosen
    external = _external(scene)
    if external is not None:
        return external
    death = _death(scene)
    if death is not None:
        return death
    weak = _weak(scene)
    inferred = infer(scene.heard, scene.members, scene.closed)
    if weak is not None and not _waited_before(scene, weak):
        return weak
    if inferred is not None:
        return _inferred(inferred)
    left = _exit_only(scene)
    if left is not None:
        return left
    return _nothing(scene)


# --- a line of the failing rank's own ---------------------------------------------------------------


def _own(scene: Scene) -> Verdict | None:
    incidents = [_representative(event) for event in scene.attempt.events if not event.carried]
    own = [each for each in incidents if each.role in OWN and not _is_consequence(each, scene)]
    own.sort(key=lambda event: event.line.order)
    own = _without_echoes(own, scene)
    if not own:
        return None
    first = own[0]
    candidate = Candidate(first.line, first, why=[("own-error", {})], chain=_chain(first))
    _explain(candidate, scene)
    alike = [each for each in own if family_of(each.whole) == family_of(first.whole)]
    _give_ranks(candidate, first, alike, scene)
    grade, missing = _grade(candidate, first, own, alike, scene)
    return Verdict(grade, candidate, missing, candidate.ranks)


def _representative(event: Event) -> Event:
    """Of exceptions that hang together, the one that tells the fault.

    The last, unless it only carries or follows another; an entry's own message goes before all.
    """
    chain = _chain(event)
    matched = [each for each in chain if any(_names_entry(hit) for hit in each.hits)]
    if matched and matched[-1].role in OWN:
        return matched[-1]
    for each in reversed(chain):
        if each.role in OWN:
            return each
    for each in reversed(chain):
        if each.role not in ("wrapper", "supervisor"):
            return each
    return event


def _chain(event: Event) -> list[Event]:
    """The exceptions that led to this one, first to last."""
    chain = [event]
    while chain[-1].before is not None and len(chain) < 50:
        chain.append(chain[-1].before)
    return chain[::-1]


def _names_entry(hit: Hit) -> bool:
    return hit.item.entry is not None and hit.item.role == "cause" and hit.fits


def _is_consequence(event: Event, scene: Scene) -> bool:
    """Whether the same rank had already told that it waited, or that another was gone.

    So has a process that is ended from inside after a timeout, whoever it is, and a launcher that fails after
    it was told how a worker ended.
    """
    if _of_launcher(event, scene) and any(
        each.event.line.order < event.line.order for each in scene.exits.faults()
    ):
        return True
    if event.rank is None:
        return event.name in ENDINGS and any(
            each.line is not None and each.line.order < event.line.order for each in scene.heard.waiting
        )
    chain = _chain(event)
    words = (each for each in scene.words_of_rank.get(event.rank, []) if each not in chain)
    return any(each.line.order < event.line.order for each in words)


def _of_launcher(event: Event, scene: Scene) -> bool:
    files = " ".join(f"{path} {function}" for path, function in event.frames)
    return bool(scene.knowledge.single["launcher_frames"].search(files))


def _without_echoes(own: list[Event], scene: Scene) -> list[Event]:
    """Without errors of helper threads and without bare NCCL warnings, where something better is there."""
    better = [each for each in own if not each.thread]
    return better or own


def _explain(candidate: Candidate, scene: Scene) -> None:
    """Puts an earlier line that explains this one in its place: the compiler's error before the build's."""
    event = candidate.event
    if event is None:
        return
    text = " ".join(each.whole for each in candidate.chain) + " " + " ".join(x[0] for x in event.frames[-1:])
    for rule in scene.knowledge.explains:
        if rule.then.search(text):
            line = _line_that_explains(rule, event, scene)
            if line is not None:
                candidate.line = line
                candidate.event = _event_at(line, scene) or event
                candidate.why.append(("explains-later-error", {"line": event.line.number, "rule": rule.id}))
                return


def _line_that_explains(rule: Explains, event: Event, scene: Scene) -> Line | None:
    """The first such line before the event in its file: an error's, or else one that is no line of code.

    What tells of another's death explains nothing.
    """
    for each in scene.attempt.events:
        earlier = each.line.order < event.line.order and each.role not in ROLES_OF_OTHERS
        if earlier and _may_explain(each.line, event) and rule.first.search(each.line.text):
            return each.line
    of_others = {each.line.order for each in scene.attempt.events if each.role in ROLES_OF_OTHERS}
    start = scene.attempt.starts.get(event.line.file, 0)
    for line in scene.text.lines[start : event.line.order]:
        if line.order in of_others or line.body[:2] == "  ":
            continue
        if _may_explain(line, event) and rule.first.search(line.text):
            return line
    return None


def _may_explain(line: Line, event: Event) -> bool:
    same_rank = line.rank is None or event.rank is None or line.rank == event.rank
    return line.file == event.line.file and same_rank


def _event_at(line: Line, scene: Scene) -> Event | None:
    return next((each for each in scene.attempt.events if each.line is line), None)


def _give_ranks(candidate: Candidate, first: Event, alike: list[Event], scene: Scene) -> None:
    near = [each for each in alike if _near_in_time(first, each)]
    candidate.alike = near
    ranks = sorted({each.rank for each in near if each.rank is not None})
    if len(ranks) > 1:
        candidate.ranks, candidate.symmetric = ranks, True
        candidate.why.append(("same-error-on-ranks", {"count": len(ranks)}))
        return
    if ranks:
        candidate.ranks = ranks
        candidate.why.append(("rank-in-line", {}))
        return
    rank = _rank_by_exit(first, scene)
    if rank is not None:
        candidate.ranks = [rank]
        candidate.why.append(("rank-by-exit-code", {}))


def _near_in_time(first: Event, other: Event) -> bool:
    if first.line.time is None or other.line.time is None:
        return True
    return abs(first.line.time - other.line.time) <= SAME_MOMENT


def _rank_by_exit(event: Event, scene: Scene) -> int | None:
    """The only rank whose exit code such an error leaves."""
    native = event.kind == "error" and event.name in ("terminate", "what", "c-assert", "heap", "fatal-python")
    wanted = (-6, -11, -7) if native else (1, 2)
    faults = [each for each in scene.exits.faults() if each.code in wanted and each.rank is not None]
    ranks = {each.rank for each in faults}
    others = {each.rank for each in scene.exits.faults()} - ranks
    return faults[0].rank if len(ranks) == 1 and not others else None


def _grade(
    candidate: Candidate, first: Event, own: list[Event], alike: list[Event], scene: Scene
) -> tuple[str, str]:
    """How sure the line is: its own error, and nothing earlier or elsewhere that contradicts."""
    if first.role == "local" and candidate.event is first:
        return "suspected", "exit-code"
    if first.thread:
        return "suspected", "log-of-rank"
    if _rival(first, own, alike, scene):
        candidate.why.append(("other-error-elsewhere", {}))
        return "suspected", "timestamps"
    if _timed_out_before(first, scene):
        candidate.why.append(("after-a-timeout", {}))
        return "suspected", "timestamps"
    candidate.why.append(("nothing-earlier", {}))
    return "established", ""


def _rival(first: Event, own: list[Event], alike: list[Event], scene: Scene) -> bool:
    """Another rank's different error of its own that nothing shows to be later."""
    same = set(alike)
    for other in own:
        if other in same or other.rank is None or first.rank is None or other.rank == first.rank:
            continue
        if first.line.time is not None and other.line.time is not None:
            if other.line.time - first.line.time > 1000:
                continue
            return True
        if other.line.file != first.line.file or other.header < first.line.order:
            return True
    return False


def _timed_out_before(first: Event, scene: Scene) -> bool:
    """A timeout told earlier than an error of which nobody knows whose it is, or an error after the hang began."""
    for each in scene.heard.waiting:
        if each.line is None:
            continue
        if first.line.time is not None and each.line.time is not None:
            if first.line.time > each.line.time - each.waited + SAME_MOMENT and first.rank in (
                None,
                each.rank,
            ):
                return True
        elif each.line.order < first.line.order and each.line.file == first.line.file and first.rank is None:
            return True
    return False


# --- what others say ---------------------------------------------------------------------------------


def _external(scene: Scene) -> Verdict | None:
    """A scheduler's or the kernel's own word."""
    words = [each for each in scene.attempt.events if each.role == "confirmation"]
    if not words:
        return None
    rank = next((r for r in (_rank_of_word(each, scene) for each in words) if r is not None), None)
    death = next((each for each in scene.exits.faults() if each.code in KILLS), None)
    if rank is None and death is not None:
        rank = death.rank
    ranks = [] if rank is None else [rank]
    candidate = Candidate(words[0].line, words[0], ranks, role="confirmation", why=[("said-by-system", {})])
    candidate.alike = words
    return Verdict("supported", candidate, "" if ranks else "pid-rank-map", ranks)


def _rank_of_word(event: Event, scene: Scene) -> int | None:
    """The rank that the word is about: by its prefix, by the pid in it, by the task."""
    if event.rank is not None:
        return event.rank
    for hit in event.hits:
        pid, tasks = hit.captures.get("pid", ""), hit.captures.get("tasks", "")
        if whole(pid) is not None and whole(pid) in scene.exits.rank_of_pid:
            return scene.exits.rank_of_pid[int(pid)]
        if whole(tasks) is not None:
            return whole(tasks)
    return None


def _death(scene: Scene) -> Verdict | None:
    """A death by a signal that no launcher sent, known from a supervisor."""
    deaths = [each for each in scene.exits.faults() if each.code < 0]
    if scene.heard.witnesses:
        deaths = [each for each in deaths if each.code != -6]
    if not deaths:
        return None
    ranks = sorted({each.rank for each in deaths if each.rank is not None})
    first = deaths[0]
    same = all(each.code == first.code for each in deaths)
    why: list[Why] = [("death-by-signal", {"signal": -first.code})]
    candidate = Candidate(first.event.line, first.event, [], role="supervisor", why=why)
    if len(ranks) > 1:
        candidate.ranks, candidate.symmetric = ranks, same
        return Verdict("suspected", candidate, _missing_of(first), ranks)
    candidate.ranks = ranks
    grade = "supported" if ranks and not _waited_for_others(first, scene) else "suspected"
    if not first.named and not ranks and scene.knowledge.single["last_local"].search(first.event.line.text):
        candidate.why.append(("launcher-names-last-rank", {}))
    return Verdict(grade, candidate, _missing_of(first), ranks)


def _missing_of(death: Exit) -> str:
    return "kernel-log" if death.code in (-9, -7) else "python-stack"


def _waited_for_others(death: Exit, scene: Scene) -> bool:
    return death.rank is not None and death.rank in scene.heard.waiters


def _weak(scene: Scene) -> Verdict | None:
    """A line that names a fault but often only follows from one."""
    found = [each for each in scene.attempt.events if each.role in WEAK and not each.carried]
    if not _failed(scene):
        found = [each for each in found if each.role != "plain"]
    if not found:
        return _question(scene)
    best = min(found, key=lambda each: (WEAK[each.role], each.line.order))
    candidate = Candidate(best.line, best, why=[(f"{best.role}-line", {})], chain=_chain(best))
    _explain(candidate, scene)
    alike = [each for each in found if family_of(each.whole) == family_of(best.whole)]
    _give_ranks(candidate, best, alike, scene)
    missing = "first-nccl-warn" if best.role == "ambiguous" else "log-of-rank"
    return Verdict("suspected", candidate, missing, candidate.ranks)


def _failed(scene: Scene) -> bool:
    """Whether anything shows that the run did end, so that a plain complaint may be why."""
    return bool(scene.exits.faults()) or any(each.role in ("cut", "wrapper") for each in scene.attempt.events)


def _question(scene: Scene) -> Verdict | None:
    """A few lines that somebody pasted and that look like an error: they are asking about these."""
    shown = [line for line in scene.text.lines if line.body.strip(" \t")]
    if len(shown) > PASTED_LINES or any(line.bar or line.level in ("D", "I", "W") for line in shown):
        return None
    if any(each.role in ROLES_OF_OTHERS for each in scene.attempt.events):
        return None
    asked = next((line for line in shown if scene.knowledge.single["question"].search(line.body)), None)
    if asked is None:
        return None
    ranks = [] if asked.rank is None else [asked.rank]
    candidate = Candidate(asked, None, ranks, why=[("pasted-line", {})])
    return Verdict("suspected", candidate, "launcher-output", [])


def _waited_before(scene: Scene, weak: Verdict) -> bool:
    """Whether a rank had told before the weak line that it waited, or that another was gone.

    A traceback that is cut in a barrier tells no such thing: what ended it may have come from there.
    """
    if weak.initiating is None or weak.initiating.line is None:
        return True
    order = weak.initiating.line.order
    words = (each for each in scene.attempt.events if each.role in ("witness", "peer"))
    return any(each.kind != "cut" and each.line.order < order for each in words)


def _inferred(inferred: Inference) -> Verdict:
    candidate = Candidate(inferred.line, None, inferred.ranks, why=[(inferred.code, {})], inferred=True)
    if inferred.code == "named-by-witness" or inferred.code == "silent" or inferred.code == "store-host":
        candidate.why.append(("others-waited", {}))
    return Verdict("supported" if inferred.firm else "suspected", candidate, inferred.missing, inferred.ranks)


def _exit_only(scene: Scene) -> Verdict | None:
    """A code without an error: the rank's own log is what is missing."""
    faults = [each for each in scene.exits.faults() if each.code > 0]
    if not faults:
        return None
    first = faults[0]
    ranks = sorted({each.rank for each in faults if each.rank is not None})
    if scene.heard.witnesses or scene.heard.reports or not first.named:
        return Verdict("undecided", None, "log-of-rank", ranks)
    candidate = Candidate(first.event.line, first.event, ranks[:1], role="supervisor")
    candidate.why = [("exit-code-only", {"code": first.code})]
    return Verdict("suspected", candidate, "log-of-rank", ranks[:1])


def _nothing(scene: Scene) -> Verdict:
    events = scene.attempt.events
    told = [
        each for each in events if each.role in ("witness", "peer", "supervisor", "teardown", "death", "cut")
    ]
    failed = scene.heard.witnesses or scene.heard.reports or scene.exits.exits
    if failed or any(each.role in ("supervisor", "cut") for each in told) or _ended_by_hand(told):
        missing = "flight-recorder" if scene.heard.waiting else "launcher-output"
        return Verdict("undecided", None, missing, [])
    return Verdict("clean")


def _ended_by_hand(told: list[Event]) -> bool:
    """A teardown that somebody asked for: a signal from outside, a cancel, an interrupt."""
    return any(each.role == "teardown" and not each.ignored and each.kind != "advice" for each in told)
