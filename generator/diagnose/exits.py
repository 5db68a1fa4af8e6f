"""What launchers and schedulers say of processes that ended: codes, signals, pids, and whose they were."""

from __future__ import annotations

from dataclasses import dataclass, field

from .events import Event
from .knowledge import Knowledge

SIGTERM = -15
ENDED_FROM_OUTSIDE = (-1, -2, -15)
SLURM_ENDS = (
    "slurm-cancelled",
    "slurm-signal",
    "slurm-task-failure",
    "srun-aborting",
    "srun-ending",
    "srun-forcing",
)
"""Lines after which a task that srun tells killed was killed by Slurm."""
SRUN_KILLED = ("srun-killed", "srun-killed-many")


@dataclass(slots=True)
class Exit:
    """A process that ended: ``code`` is negative for a signal, whoever wrote it down."""

    event: Event
    code: int
    rank: int | None = None
    pid: int | None = None
    victim: bool = False
    named: bool = True


@dataclass(slots=True)
class Exits:
    """All exits that were told, and what ties pids to ranks."""

    exits: list[Exit] = field(default_factory=list)
    rank_of_pid: dict[int, int] = field(default_factory=dict)
    rank_of_local: dict[int, int] = field(default_factory=dict)
    victims: set[int] = field(default_factory=set)
    world: int = 0

    def faults(self) -> list[Exit]:
        """The exits that are no launcher's doing."""
        return [each for each in self.exits if not each.victim and each.code not in ENDED_FROM_OUTSIDE]


def read_exits(events: list[Event], world: int, knowledge: Knowledge) -> Exits:
    """The exits in the order told, each once, with their ranks where a summary or a spawn line tells.

    ``world`` is the number of ranks that is stated, or 0.
    """
    found = Exits(world=world)
    for event in events:
        for hit in event.hits:
            _tie(event, hit.captures, found, knowledge)
    ending: set[int] = set()
    for event in events:
        if any(hit.item.id in SLURM_ENDS for hit in event.hits):
            ending.add(event.line.file)
        if event.role in ("supervisor", "confirmation", "teardown", "death"):
            _read(event, event.line.file in ending, found, knowledge)
    _read_summary(events, found)
    for each in found.exits:
        if each.pid is not None and each.pid in found.rank_of_pid:
            each.rank = found.rank_of_pid[each.pid]
        each.victim = each.victim or (each.pid in found.victims and each.code in (-9, SIGTERM))
    found.exits = _once(found.exits)
    return found


def _tie(event: Event, captures: dict[str, str], found: Exits, knowledge: Knowledge) -> None:
    """Pids, local ranks and ranks that one line ties together."""
    victim, local, rank = (whole(captures.get(name)) for name in ("victim", "local", "rank"))
    if victim is not None:
        found.victims.add(victim)
    if "spawned" in captures:
        match = knowledge.single["spawn_local"].search(event.line.text)
        if match:
            found.rank_of_pid.setdefault(int(match.group(1)), int(match.group(2)))
    if rank is not None and local is not None:
        found.rank_of_local.setdefault(local, rank)


def _read_summary(events: list[Event], found: Exits) -> None:
    """Ties the pid in a row of torchrun's summary to the rank in the row above."""
    rank: int | None = None
    for event in events:
        for hit in event.hits:
            if hit.item.id == "elastic-summary-rank":
                rank = whole(hit.captures["rank"])
            elif hit.item.id == "elastic-summary-code" and rank is not None:
                pid = whole(hit.captures["pid"])
                if pid is not None:
                    found.rank_of_pid[pid] = rank
                rank = None


def _read(event: Event, ending: bool, found: Exits, knowledge: Knowledge) -> None:
    """Notes the exit that a line tells. ``ending``: Slurm had told before that it ends the step."""
    if event.role == "death":
        signal = knowledge.signals_of_errors[event.name]
        found.exits.append(Exit(event, -signal, event.rank, event.line.pid))
        return
    for hit in event.hits:
        captures = hit.captures
        if hit.item.id == "elastic-summary-rank":
            continue
        code = _code(hit.item.id, captures, knowledge)
        if code is None:
            continue
        ended = Exit(event, code, whole(captures.get("rank")), whole(captures.get("pid")))
        ended.victim = ending and hit.item.id in SRUN_KILLED
        _place(ended, event, captures, found, knowledge)
        found.exits.append(ended)
        return


def _place(ended: Exit, event: Event, captures: dict[str, str], found: Exits, knowledge: Knowledge) -> None:
    """Whose exit it is, as far as the line tells."""
    local = whole(captures.get("local"))
    if local is not None and ended.rank is None:
        ended.rank = found.rank_of_local.get(local, local)
    if ended.pid is not None and ended.rank is not None:
        found.rank_of_pid.setdefault(ended.pid, ended.rank)
    tasks = captures.get("tasks", "")
    if whole(tasks) is not None:
        ended.rank = whole(tasks)
    last = knowledge.single["last_local"].search(event.line.text)
    if ended.rank is None and ended.pid is None and not tasks:
        ended.named = False
        if last and int(last.group(1)) == 0 and found.world < 2:
            ended.rank = 0  # the process started last is the first: there is no other


def _code(id: str, captures: dict[str, str], knowledge: Knowledge) -> int | None:
    if "code" in captures:
        return _signed(captures["code"])
    if "number" in captures and id != "elastic-got-signal":
        number = whole(captures["number"])
        return None if number is None else -number
    if "signal" in captures and "victim" not in captures and id != "deepspeed-received":
        number = knowledge.signals.get(captures["signal"])
        return None if number is None else -number
    for word, suffix in (
        (-9, "killed"),
        (-9, "killed-many"),
        (-6, "aborted"),
        (-11, "segfault"),
        (-7, "bus"),
    ):
        if id == f"srun-{suffix}":
            return word
    return None


def _signed(text: str) -> int | None:
    """A shell's 128+n and the launcher's 256-n as -n."""
    digits = whole(text.removeprefix("-"))
    if digits is None:
        return None
    code = -digits if text.startswith("-") else digits
    if 129 <= code <= 159:
        return 128 - code
    return code - 256 if 225 <= code <= 255 else code


def whole(text: str | None) -> int | None:
    """A number of digits alone, or none."""
    return int(text) if text and len(text) < 16 and text.isascii() and text.isdigit() else None


def _once(exits: list[Exit]) -> list[Exit]:
    """Of several words for one exit the first."""
    seen: set[tuple[int | None, int | None, int]] = set()
    kept = []
    for each in exits:
        key = (each.pid, None, each.code) if each.pid is not None else (None, each.rank, each.code)
        if key not in seen:
            seen.add(key)
            kept.append(each)
    return kept
