"""Events → roles: a cause of its own, a witness, a report of another's death, a launcher's summary, advice."""

from __future__ import annotations

from .events import Event
from .knowledge import Knowledge
from .match import Hit, Text, conditions_hold

NOT_CAUSES = ("confirmation", "peer", "witness", "supervisor", "teardown", "advice")


def give_roles(events: list[Event], text: Text, knowledge: Knowledge) -> None:
    """Sets each event's role, and on its hits whether their conditions hold.

    Roles: cause; weak (names a fault, but such lines often only follow from another); ambiguous (cause or
    consequence, the line alone can't tell); numeric; death; external; confirmation, witness, peer,
    supervisor, teardown, advice; quiet (was handled: logged as a warning).
    """
    for event in events:
        for hit in event.hits:
            hit.fits = conditions_hold(hit.item, hit.order, text)
        event.role = _role(event, knowledge)


def _role(event: Event, knowledge: Knowledge) -> str:
    if event.ignored:
        return "teardown"
    fitting = [hit for hit in event.hits if hit.fits]
    if any(hit.item.entry and hit.item.role == "cause" for hit in fitting):
        return "quiet" if event.quiet else "cause"
    known = _known(fitting)
    if event.kind == "exception":
        return _of_exception(event, known, knowledge)
    if event.kind == "error":
        return _of_error(event, known, knowledge)
    if event.kind == "report":
        return known or "advice"
    if event.kind == "cut":
        return _of_cut(event, knowledge)
    return known or ("advice" if _is_consequence(event, knowledge) else "weak")


def _known(hits: list[Hit]) -> str:
    """The role that known lines give; what the failing rank prints is nobody's word on another."""
    roles = {hit.item.role for hit in hits if not hit.item.own}
    return next((role for role in NOT_CAUSES if role in roles), "")


def _of_exception(event: Event, known: str, knowledge: Knowledge) -> str:
    if known:
        return known
    last = event.name.rsplit(".", 1)[-1]
    base = last.split("(", 1)[0]
    role = knowledge.types.get(base, "")
    if event.quiet:
        return "quiet"
    if knowledge.single["echo"].search(event.whole):
        return "peer"
    if role == "wrapper" or any(p.search(event.message) for p in knowledge.wrapper_messages):
        return "wrapper"
    if role:
        return role
    if base.endswith("Warning"):
        return "advice"
    if knowledge.single["ambiguous"].search(event.whole):
        return "ambiguous"
    return "cause"


def _of_error(event: Event, known: str, knowledge: Knowledge) -> str:
    if known and not (known == "teardown" and event.name == "cuda-error"):
        return known
    if _is_consequence(event, knowledge):
        return "advice"
    return {"strong": "cause", "overflow": "advice"}.get(event.grade, event.grade)


def _of_cut(event: Event, knowledge: Knowledge) -> str:
    if event.quiet:
        return "quiet"
    files = " ".join(f"{path} {function}" for path, function in event.frames)
    if knowledge.single["launcher_frames"].search(files):
        return "supervisor"
    if knowledge.single["waiting_frames"].search(f"{files} {event.code} "):
        return "witness"
    return "cut"


def _is_consequence(event: Event, knowledge: Knowledge) -> bool:
    return any(tagged.search(event.message) for tagged in knowledge.consequences)
