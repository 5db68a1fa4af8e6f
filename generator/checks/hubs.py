"""A hub tells every phase once, in the order in which a run meets them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..catalogue import Catalogue
from ..content import Positions
from ..finding import Explanation, Finding, shown
from ..model import Hub
from ..validate import did_you_mean
from .report import finding
from .sections import hub_sections, is_whole

CODES: Mapping[str, Explanation] = {
    "hub-phases": Explanation("A hub is a table of all phases of the taxonomy, each once, in their order."),
}


def finish(catalogue: Catalogue) -> Iterator[Finding]:
    if not is_whole(catalogue.content, "phases"):
        return
    for hub, positions in hub_sections(catalogue.content):
        yield from _check_hub(hub, positions, list(catalogue.phases))


def _check_hub(hub: Hub, positions: Positions, phases: list[str]) -> Iterator[Finding]:
    latest, seen = -1, set()
    for i, row in enumerate(hub.phases):
        where = ("phases", i, "phase")
        if row.phase not in phases:
            hint = did_you_mean(row.phase, phases)
            yield finding(positions, where, "hub-phases", f"no phase is named {shown(row.phase)}", hint)
            continue
        if row.phase in seen:
            yield finding(positions, where, "hub-phases", f"the phase {shown(row.phase)} stands twice")
        elif phases.index(row.phase) < latest:
            message = f"the phase {shown(row.phase)} comes before the one above it"
            yield finding(positions, where, "hub-phases", message)
        seen.add(row.phase)
        latest = max(latest, phases.index(row.phase))
    for phase in phases:
        if phase not in seen:
            yield finding(positions, ("phases",), "hub-phases", f"the phase {shown(phase)} is missing")
