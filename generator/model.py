"""The entry and everything it is made of: the only schema there is.

Every model is frozen and refuses unknown keys. Every scalar in our YAML reaches these
models as a string (see ``load``), so ``restart: no`` is the word "no", and numbers, dates
and booleans are coerced here. The JSON Schema that editors use is generated from these models,
so a field's description is also its documentation for contributors.

Text comes in three kinds. ``Plain`` has no markup. ``Inline`` is one paragraph of Markdown
(code spans, emphasis, links). ``Markdown`` is blocks: paragraphs, lists, fenced code, tables.
HTML is never interpreted in any of them.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticKnownError

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=80)]
Plain = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\n\r]+$"), "plain"]
Inline = Annotated[str, StringConstraints(min_length=1, max_length=1200), "inline"]
Markdown = Annotated[str, StringConstraints(min_length=1, max_length=20_000), "markdown"]
Template = Annotated[str, StringConstraints(min_length=1, max_length=2_000), "template"]
Code = Annotated[str, StringConstraints(min_length=1, max_length=20_000), "code"]
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?"
Url = Annotated[
    str,
    StringConstraints(
        pattern=rf"^(?:https?://{_HOST}(?:[/?#][^\s<>\"]*)?|mailto:[^\s<>\"@?]+@[^\s<>\"@]+)$", max_length=500
    ),
]
"""No user name before the host: what stands there is mostly meant to be taken for the host."""
Versions = Annotated[str, StringConstraints(min_length=1, max_length=120)]
"""A PEP 440 specifier set, such as ``>=0.9.5,<=0.19.8``; ``*`` is any version."""
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]


def _iso_day(value: Any) -> Any:
    """Refuse what pydantic would also take for a date, such as seconds since 1970, and other centuries."""
    if isinstance(value, str) and not re.fullmatch(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", value):
        raise ValueError("not YYYY-MM-DD")
    return value


def _digits(value: Any) -> Any:
    """Refuse what Python would also take for a number, such as 1_000 or ' 7'."""
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]{1,9}", value):
        raise PydanticKnownError("int_parsing")
    return value


def _decimal(value: Any) -> Any:
    """Refuse what Python would also take for a number, such as inf, 1e9 or 1_000."""
    if isinstance(value, str) and not re.fullmatch(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?", value):
        raise PydanticKnownError("float_parsing")
    return value


Day = Annotated[date, BeforeValidator(_iso_day)]
LineNumber = Annotated[int, BeforeValidator(_digits), Field(ge=1)]
Rank = Annotated[int, BeforeValidator(_digits), Field(ge=0)]
Ranks = Annotated[int, BeforeValidator(_digits), Field(ge=1, le=65536)]
Step = Annotated[int, BeforeValidator(_digits), Field(le=10_000)]
"""A time in a drawing."""
GiB = Annotated[float, BeforeValidator(_decimal), Field(ge=0.1, le=1_000_000)]
"""An amount of memory: what drawings round to, up to a cluster's."""
Release = Annotated[str, StringConstraints(pattern=r"^[0-9][A-Za-z0-9.+!-]*$", max_length=40)]
Requirement = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.+!-]*$", max_length=120)
]

Status = Literal["short", "complete", "withdrawn"]
Grade = Literal["reproduced", "source", "maintainer", "reports", "inferred"]
Restart = Literal["yes", "no", "other-node"]
Role = Literal["cause", "confirmation", "witness", "peer", "supervisor", "teardown", "advice"]
PrintedBy = Literal["failing-rank", "all-ranks", "waiting-ranks", "launcher", "kernel", "scheduler", "tool"]
Effect = Literal["crash", "hang", "silent-wrong-result", "slowdown"]
Domain = Literal["workload", "framework", "platform", "hardware", "network"]
Touched = Literal[
    "parameters", "gradients", "optimizer-state", "activations", "buffers", "host-memory", "files", "none"
]
Happening = Literal[
    "created", "partitioned", "gathered", "reduced", "updated", "offloaded", "saved", "loaded", "sent", "none"
]
Stage = Literal["none", "0", "1", "2", "3"]
Offload = Literal["none", "cpu", "nvme"]
ReferenceKind = Literal["source", "documentation", "issue", "pull-request", "paper", "release"]
Made = Literal["captured", "composed"]
Diagnosis = Literal["initiating", "collateral", "other"]


_NOT_KEPT: set[str] = set()
_set = object.__setattr__


class Part(BaseModel):
    """What all models share: frozen, and no key that the model does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    def model_post_init(self, context: Any) -> None:
        # Nobody asks which fields were given, and a set for each part would be a quarter of the memory of a build.
        _set(self, "__pydantic_fields_set__", _NOT_KEPT)

    def __getstate__(self) -> dict[Any, Any]:
        """What is pickled: the fields. Of the rest that pydantic would add, each part has the same."""
        return self.__dict__

    def __setstate__(self, state: dict[Any, Any]) -> None:
        _set(self, "__dict__", state)
        _set(self, "__pydantic_fields_set__", _NOT_KEPT)
        _set(self, "__pydantic_extra__", None)
        _set(self, "__pydantic_private__", None)


class QuickAnswer(Part):
    """The failure in three sentences."""

    symptom: Inline = Field(description="What a person sees, in one sentence.")
    cause: Inline = Field(description="Why it happens, in one sentence; as certain as the evidence, no more.")
    fix: Inline = Field(description="What ends it, in one sentence.")


class DoNow(Part):
    """What the person on call does in the next minutes."""

    steps: tuple[Inline, ...] = Field(
        min_length=1,
        max_length=3,
        description="At most three steps, each an action; a command in a code span.",
    )
    restart: Restart = Field(description="Whether a plain restart helps: yes, no, or other-node.")
    restart_why: Inline = Field(description="Why it does or doesn't, in one sentence.")
    concerns: Inline = Field(description="Whom to tell: who owns the repair.")


class ReadAt(Part):
    """Where a message was read that ``verify`` cannot fetch: a C++ message, a package too large, no package."""

    why: Inline = Field(description="Why the package isn't fetched, such as 'C++ of a library of 400 MB'.")
    repository: Url
    tag: Plain = Field(description="The tag or commit that was read.")
    path: Plain
    line: LineNumber


class Source(Part):
    """Where upstream holds the message."""

    project: Slug = Field(
        description="A system of the taxonomy, or 'linux', 'slurm' and the like from there."
    )
    file: Plain = Field(
        description="The file that prints it, as a path inside the project's repository or package."
    )
    literal: Template | None = Field(
        default=None,
        description="The text as it stands in the source, where what is printed is assembled: "
        "`Error %s at line %d in file %s`.",
    )
    versions: Versions = Field(
        description="Releases in which the message was looked at and found, such as '>=0.9.5,<=0.19.8'."
    )
    note: Inline | None = Field(
        default=None, description="What changed in the wording, or how it was checked."
    )
    read_at: ReadAt | None = Field(
        default=None, description="Only for what can't be fetched as a package: where it was read instead."
    )


class Signature(Part):
    """A message as upstream prints it, with typed holes (see ``signature``)."""

    id: Slug = Field(description="A permanent word, unique in the entry; outside the entry it is SLUG/id.")
    text: Template = Field(description="The message with holes such as {int}, {path}; {{ and }} are braces.")
    role: Role = Field(description="What this line is evidence of; facts about roles are in ARCHITECTURE.md.")
    printed_by: PrintedBy
    usually: Inline = Field(
        description="What such a line usually is, for the reader who has only this line: the fault itself, "
        "a waiting rank's report, a launcher's summary, and what to look for instead."
    )
    needs: tuple[Template, ...] = Field(
        default=(), description="Templates of which each must stand in the same block (one rank, near by)."
    )
    unless: tuple[Template, ...] = Field(
        default=(), description="Templates that must not stand in the same block."
    )
    source: Source | None = None


class Cause(Part):
    """One cause, what shows it, and how sure we are."""

    id: Slug
    title: Inline
    text: Markdown = Field(
        description="The cause itself, traced: which code, which condition, which versions."
    )
    grade: Grade
    evidence: tuple[Slug, ...] = Field(default=(), description="Ids of the references it rests on.")


class Snippet(Part):
    """A piece of code, a diff, a configuration or a command."""

    language: Literal["python", "json", "yaml", "bash", "diff", "ini", "text"]
    code: Code
    caption: Inline | None = None
    packages: tuple[Requirement, ...] = Field(
        default=(),
        description="Releases that the code is for, such as 'deepspeed==0.15.4', where they aren't those of "
        "content/taxonomy/packages.yaml.",
    )
    missing: tuple[Plain, ...] = Field(
        default=(),
        description="Names that the code uses on purpose though these releases don't have them, "
        "such as torch._six.inf, or 'torch.optim.AdamW(speed=)' for a keyword.",
    )
    refused: Plain | None = Field(
        default=None,
        description="Of a DeepSpeed configuration that DeepSpeed refuses: words of its message.",
    )
    ranks: Ranks | None = Field(
        default=None, description="Of a DeepSpeed configuration: data-parallel ranks, where not 1."
    )


class Cost(Part):
    """What a fix costs; a key is absent where there is no cost of that kind."""

    speed: Inline | None = None
    memory: Inline | None = None
    accuracy: Inline | None = None
    restart: Inline | None = None


class FixedIn(Part):
    """The release that holds a repair."""

    system: Slug
    version: Plain
    reference: Slug = Field(description="Id of the reference that shows it: a change or a release.")


class Fix(Part):
    """A repair for one or more of the causes."""

    id: Slug
    causes: tuple[Slug, ...] = Field(min_length=1, description="Ids of the causes it repairs.")
    title: Inline
    steps: tuple[Inline, ...] = Field(min_length=1)
    snippets: tuple[Snippet, ...] = ()
    cost: Cost = Field(description="Speed, memory, accuracy, restart: what it takes.")
    fixed_in: tuple[FixedIn, ...] = ()
    verify: Inline = Field(description="What a repaired run prints or shows, and how to look.")


class Confirm(Part):
    """A check with two outcomes."""

    step: Inline
    command: Code | None = None
    yes: Inline = Field(description="What you see when it is this failure.")
    no: Inline = Field(description="What you see when it is not, and what it is then.")


class Reference(Part):
    """A public source, and the claim it supports."""

    id: Slug
    title: Plain
    url: Url
    kind: ReferenceKind
    supports: Inline


class Log(Part):
    """A log beside the entry, and what diagnosing it must say."""

    file: FileName
    made: Made
    origin: Inline = Field(
        alias="from",
        description="Captured: which versions, launched how. Composed: from which upstream templates.",
    )
    says: Diagnosis = Field(
        description="initiating: this entry started it. collateral: this entry is only somebody's report in it. "
        "other: a near miss, this entry must not be named."
    )
    line: LineNumber | None = Field(
        default=None, description="The initiating line, 1-based, whoever's it is."
    )
    ranks: tuple[Rank, ...] = Field(default=(), description="The rank or ranks that started it.")
    entry: Slug | None = Field(
        default=None, description="For collateral and other: the entry that it is instead."
    )
    part: Slug | None = Field(
        default=None,
        description="Of a captured log: the part of repro.py that prints it (`python repro.py PART`).",
    )
    note: Inline | None = None


class Symptom(Part):
    """A sign and its meaning: a row of the table."""

    sign: Inline
    meaning: Inline


class Stack(Part):
    """A stack that meets the failure, or is safe from it, and how."""

    system: Slug
    how: Inline


class StateTouched(Part):
    """Which state the failure touches, and what was being done to it."""

    what: tuple[Touched, ...] = Field(min_length=1)
    happening: tuple[Happening, ...] = Field(min_length=1)
    text: Inline = Field(description="What is where at that moment, in one or two sentences.")
    zero_stages: tuple[Stage, ...] = Field(
        default=(), description="ZeRO stages in which it is met; 'none' without."
    )
    offload: tuple[Offload, ...] = Field(default=(), description="Offload settings with which it is met.")


class Reach(Part):
    """How the failure shows at each scale and use; each a sentence, absent where not established."""

    one_gpu: Inline | None = None
    many_gpus: Inline | None = None
    many_nodes: Inline | None = None
    training: Inline | None = None
    evaluation: Inline | None = None
    serving: Inline | None = None


class Affected(Part):
    """Who meets it, whose domain it is, what is touched."""

    stacks: tuple[Stack, ...] = Field(min_length=1)
    not_affected: tuple[Stack, ...] = ()
    effect: tuple[Effect, ...] = Field(min_length=1)
    domain: Domain
    domain_text: Inline = Field(
        description="Whose domain it is and why: what the other domains are cleared of."
    )
    state: StateTouched
    reach: Reach


class SmokeTest(Part):
    """A small program or command that shows the failure is absent before a long run."""

    text: Inline
    snippet: Snippet


class Prevention(Part):
    """What keeps it from coming back."""

    pattern: Markdown = Field(description="The rule to adopt, in a paragraph.")
    checklist: tuple[Inline, ...] = Field(min_length=1)
    smoke_test: SmokeTest
    monitor: tuple[Inline, ...] = Field(min_length=1, description="What to watch or alert on.")
    recurs: tuple[Inline, ...] = Field(min_length=1, description="On which changes it comes back.")


class Example(Part):
    """Code of one stack, failing and repaired."""

    stack: Slug
    title: Plain
    needs: Inline = Field(description="Versions and hardware with which it runs as it stands.")
    failing: Snippet
    repaired: Snippet
    why: Inline = Field(description="Why the repair works.")


class Question(Part):
    """A question that people did ask."""

    question: Plain
    answer: Markdown
    asked_in: Slug | None = Field(default=None, description="Id of the reference in which it was asked.")


class Executive(Part):
    """Three lines without jargon."""

    risk: Inline
    domain: Inline
    decision: Inline


class LookAlike(Part):
    """Something with the same words and another cause."""

    entry: Slug | None = Field(default=None, description="The other entry, where there is one.")
    name: Plain
    difference: Inline = Field(description="The telling difference, that one can look for.")


class Consequence(Part):
    """What this failure makes others print."""

    message: Template
    printed_by: PrintedBy
    meaning: Inline


class Change(Part):
    date: Day
    what: Inline


class SystemRange(Part):
    """A system and the versions in which the failure is met."""

    id: Slug
    versions: Versions


class Span(Part):
    """What a process does for a while; times are whole steps from the drawing's left, without a unit."""

    start: Step = Field(ge=0)
    end: Step = Field(ge=1)
    does: Literal["runs", "waits", "reports", "fails", "gone"]
    text: Plain | None = Field(default=None, description="A few words that fit into it.")


class Lane(Part):
    """A process over time."""

    who: Plain = Field(description="A rank, some ranks, or what else takes part: at most 11 letters.")
    spans: tuple[Span, ...] = Field(min_length=1)


class MemoryPart(Part):
    """What takes memory of a GPU, in GiB."""

    what: Literal["parameters", "gradients", "optimizer-state", "activations", "buffers", "other"]
    gib: GiB


class Bar(Part):
    """The memory of one GPU in one setting."""

    name: Plain
    parts: tuple[MemoryPart, ...] = Field(min_length=1)


class Figure(Part):
    """A drawing of what words tell badly: who waits for whom (``lanes``), or what fills a GPU (``bars``)."""

    caption: Inline = Field(description="What it shows, for which run, and where the numbers come from.")
    lanes: tuple[Lane, ...] = ()
    bars: tuple[Bar, ...] = ()
    limit: GiB | None = Field(default=None, description="With bars: the GPU's memory in GiB.")


class Entry(Part):
    """A failure. ``slug`` is its folder's name."""

    title: Plain = Field(description="How people call the failure, with the telling words of its message.")
    summary: Inline = Field(description="What this failure is, in two or three sentences.")
    status: Status
    superseded_by: Slug | None = None
    added: Day
    reviewed: Day
    changes: tuple[Change, ...] = ()
    aliases: tuple[Slug, ...] = Field(default=(), description="Former slugs; each redirects here.")
    systems: tuple[SystemRange, ...] = Field(min_length=1)
    family: Slug
    phase: Slug
    tags: tuple[Slug, ...] = ()
    quick_answer: QuickAnswer
    do_now: DoNow
    signatures: tuple[Signature, ...] = ()
    no_message: bool = False
    look_instead: Inline | None = Field(default=None, description="With no_message: what to look at instead.")
    causes: tuple[Cause, ...] = Field(min_length=1)
    fixes: tuple[Fix, ...] = Field(min_length=1)
    confirm: tuple[Confirm, ...] = Field(
        min_length=1, description="Cheapest first; the first separates it from its look-alikes."
    )
    references: tuple[Reference, ...] = ()
    logs: tuple[Log, ...] = ()
    mechanism: Markdown | None = Field(default=None, description="Why it happens, from the code up.")
    observe: Markdown | None = Field(
        default=None,
        description="What you'll observe, as it unfolds: when it strikes, who prints what in which order, "
        "what the launcher does then.",
    )
    figures: tuple[Figure, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    affected: Affected | None = None
    prevention: Prevention | None = None
    examples: tuple[Example, ...] = ()
    in_deepspeed: Inline | None = Field(
        default=None,
        description="Its place in the DeepSpeed lifecycle: what the phase does there that fails here.",
    )
    faq: tuple[Question, ...] = ()
    executive: Executive | None = None
    look_alikes: tuple[LookAlike, ...] = ()
    leads_to: tuple[Consequence, ...] = ()


class Phase(Part):
    id: Slug
    name: Plain
    definition: Inline


class Family(Part):
    id: Slug
    name: Plain
    definition: Inline


class System(Part):
    id: Slug
    name: Plain
    kind: Literal[
        "framework", "library", "launcher", "scheduler", "communication", "runtime", "operating-system"
    ]
    url: Url
    package: Plain | None = Field(default=None, description="Its name on PyPI, where it has one.")
    written_for: Release | None = Field(
        default=None,
        description="The release from which on an entry holds where it names none. Of systems that change often.",
    )
    definition: Inline


class Tag(Part):
    id: Slug
    name: Plain
    definition: Inline


class Package(Part):
    """A package that snippets import, and the release in which their names are looked up."""

    module: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=80)] = Field(
        description="The first part of what is imported."
    )
    package: Plain = Field(description="Its name on the Python package index.")
    version: Release


class ZeroCells(Part):
    """What happens to one kind of state under each ZeRO stage."""

    zero1: Inline
    zero2: Inline
    zero3: Inline


class CodeSource(Part):
    """A place in upstream's code that shows a claim."""

    file: Plain
    symbol: Plain
    shows: Inline


class HubPhase(Part):
    """A row of the hub: what a phase does to each kind of state."""

    phase: Slug
    text: Markdown = Field(description="What runs in this phase, in order.")
    parameters: ZeroCells
    gradients: ZeroCells
    optimizer_state: ZeroCells
    offload: Inline
    watch: Inline = Field(description="What a failure of this phase looks like from outside.")
    sources: tuple[CodeSource, ...] = Field(min_length=1)


class Hub(Part):
    """A system's failures by lifecycle phase."""

    system: Slug
    title: Plain
    summary: Markdown
    version: Plain = Field(description="The release in which the claims were read.")
    phases: tuple[HubPhase, ...] = Field(min_length=1)


class LinePattern(Part):
    """A line that belongs to no failure: a launcher's summary, teardown, advice, progress, an attempt's start."""

    id: Slug
    text: Template
    role: Literal[
        "witness", "peer", "supervisor", "teardown", "advice", "progress", "attempt", "confirmation"
    ]
    reading: Inline = Field(description="What the line says and what it does not say.")
    source: Source


class LineSet(Part):
    lines: tuple[LinePattern, ...] = Field(min_length=1)
