"""How the model's enumerations, holes and version ranges read on a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .model import Part


def _words(**words: str) -> Mapping[str, str]:
    return MappingProxyType({name.replace("_", "-"): text for name, text in words.items()})


ROLES = _words(
    cause="the failure itself",
    confirmation="a confirmation of the cause",
    witness="a waiting rank's report",
    peer="a report of another's death",
    supervisor="a launcher's summary",
    teardown="shutdown, after the fact",
    advice="advice, no evidence",
)
PRINTED_BY = _words(
    failing_rank="the failing rank",
    all_ranks="every rank",
    waiting_ranks="the ranks that wait",
    launcher="the launcher",
    kernel="the kernel",
    scheduler="the scheduler",
    tool="a tool",
)
GRADES = _words(
    reproduced="our script raises it",
    source="the code shows it",
    maintainer="a maintainer says so",
    reports="independent reports agree",
    inferred="our reasoning",
)
RESTARTS = _words(
    yes="A plain restart helps.",
    no="A plain restart does not help.",
    other_node="A restart helps on another node only.",
)
RESTARTS_SHORT = _words(yes="yes", no="no", other_node="on another node")
EFFECTS = _words(crash="crash", hang="hang", silent_wrong_result="silent wrong result", slowdown="slowdown")
DOMAINS = _words(
    workload="Workload", framework="Framework", platform="Platform", hardware="Hardware", network="Network"
)
TOUCHED = _words(
    parameters="parameters",
    gradients="gradients",
    optimizer_state="optimizer state",
    activations="activations",
    buffers="buffers",
    host_memory="host memory",
    files="files",
    none="no state",
)
STAGES: Mapping[str, str] = MappingProxyType(
    {"none": "without ZeRO", "0": "stage 0", "1": "1", "2": "2", "3": "3"}
)
OFFLOADS: Mapping[str, str] = _words(none="without", cpu="CPU", nvme="NVMe")
REACH: Mapping[str, str] = MappingProxyType(
    {
        "one_gpu": "One GPU",
        "many_gpus": "Several GPUs",
        "many_nodes": "Several nodes",
        "training": "Training",
        "evaluation": "Evaluation",
        "serving": "Serving",
    }
)
COSTS: Mapping[str, str] = MappingProxyType(
    {"speed": "Speed", "memory": "Memory", "accuracy": "Accuracy", "restart": "Restart"}
)
LOGS = _words(
    initiating="this failure started it",
    collateral="this failure is only a report in it",
    other="a near miss: it is not this failure",
)
REFERENCES = _words(
    source="source",
    documentation="documentation",
    issue="issue",
    pull_request="pull request",
    paper="paper",
    release="release",
)
LANGUAGES = _words(
    python="Python", json="JSON", yaml="YAML", bash="Shell", diff="Diff", ini="INI", text="Text"
)
HOLES = _words(
    int="a whole number",
    num="a number",
    hex="a hexadecimal number",
    size="an amount of memory",
    word="a word",
    path="a path, or nothing",
    quoted="text in quotes",
    any="any text",
)


def said(names: Iterable[str], words: Mapping[str, str]) -> str:
    """The names' words, in the names' order, as one list."""
    return ", ".join(words[name] for name in names)


def told(part: Part, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Label and text of those fields of ``part`` that have a text, in the labels' order."""
    return [(label, getattr(part, name)) for name, label in labels.items() if getattr(part, name)]


def version_range(specifiers: str) -> str:
    """A PEP 440 specifier set in words: ``>=0.9.5,<=0.19.8`` is '0.9.5 to 0.19.8', ``*`` 'any version'."""
    if specifiers.strip() == "*":
        return "any version"
    parts = [part.replace(" ", "") for part in specifiers.split(",")]
    bounds = {match[1]: match[2] for part in parts if (match := re.fullmatch(r"(>=|<=|<|>|==)(.+)", part))}
    if len(bounds) != len(parts):
        return ", ".join(parts)
    match bounds:
        case {">=": low, "<=": high} if len(bounds) == 2:
            return low if low == high else f"{low} to {high}"
        case {">=": low, "<": high} if len(bounds) == 2:
            return f"{low} to before {high}"
        case {">=": low} if len(bounds) == 1:
            return f"{low} and later"
        case {"<=": high} if len(bounds) == 1:
            return f"up to {high}"
        case {"<": high} if len(bounds) == 1:
            return f"before {high}"
        case {"==": only} if len(bounds) == 1:
            return only
    return ", ".join(parts)
