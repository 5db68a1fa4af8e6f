"""A new entry's folder: a commented short entry, in which what only a person can say has no value yet."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from .schema import MODELINE
from .signature import TemplateError, compile_template

LOG = "run.log"


@dataclass(frozen=True)
class Answers:
    """What the contributor says at the start; empty where they didn't."""

    title: str = ""
    system: str = ""
    message: str = ""
    log: str = ""
    """The text of run.log."""
    line: int | None = None
    """Where the failure begins in it, 1-based."""
    ranks: tuple[int, ...] = ()
    symmetric: bool = False
    """Whether every rank prints the message."""


def scaffold(failures: Path, slug: str, answers: Answers, families: list[str], phases: list[str]) -> Path:
    """Make the folder ``failures/slug`` with its entry.yaml and run.log; the entry's path. Raises OSError."""
    folder = failures / slug
    folder.mkdir(parents=True)
    path = folder / "entry.yaml"
    path.write_text(entry_text(answers, families, phases, date.today()), encoding="utf-8")
    (folder / LOG).write_text(answers.log, encoding="utf-8", newline="")
    return path


def grow(text: str) -> str:
    """A short entry's YAML as a complete one's, in which the new parts have no value yet; a complete one's as it is."""
    if not re.search(r"^status: short\b", text, re.M):
        return text
    whole = re.sub(r"^status: short\b", "status: complete", text, count=1, flags=re.M)
    parts = re.split(r"^(?=[a-z_]+:)", _REST, flags=re.M)
    missing = [part for part in parts if part and not re.search(rf"^{part.partition(':')[0]}:", text, re.M)]
    whole = whole.replace("# A short entry. Fill in", "# A complete entry. Fill in", 1)
    return whole.rstrip("\n") + "\n\n" + _MORE + "".join(missing)


def entry_text(answers: Answers, families: list[str], phases: list[str], today: date) -> str:
    """The YAML of a new short entry. ``check`` names each key that still has no value."""
    text = _ENTRY.format(
        modeline=MODELINE,
        title=_quoted(_without_rank(answers.title)),
        system=_quoted(answers.system),
        message=_quoted(template_of(answers.message)),
        families=", ".join(families),
        phases=", ".join(phases),
        today=today.isoformat(),
    )
    if answers.line is not None:
        ranks = f"    ranks: {list(answers.ranks)}\n" if answers.ranks else ""
        text = text.replace(
            "    says: initiating\n", f"    says: initiating\n    line: {answers.line}\n{ranks}"
        )
    if answers.symmetric:
        text = text.replace("printed_by: failing-rank", "printed_by: all-ranks")
    return text


_VARYING = (
    (r"(?<![\w.:/\\-])(?:[A-Za-z]:[/\\]|/)(?:[\w.@+=-]+[/\\])+[\w.@+=-]*", "{path}"),
    (r"\[token [0-9]+\]", "{word}"),
    (r"(?<![\w.-])user-[0-9]+@example\.com", "{word}@{word}"),
    (r"(?<![\w.-])(?:host-[0-9]+|192\.0\.2\.[0-9]+|2001:db8::[0-9a-f]+)(?::[0-9]+)?(?![\w-])", "{word}"),
    (r"(?<![\w.{-])-?[0-9]+(?![\w.}])", "{int}"),
)
"""What varies from run to run: paths, what stands for a name that was taken out, numbers; and the hole for it."""


def template_of(message: str) -> str:
    """A message as a template: without its rank's prefix, what varies as holes where the language allows that."""
    template = _without_rank(message).replace("{", "{{").replace("}", "}}")
    for pattern, hole in _VARYING:
        with_holes = re.sub(pattern, hole, template, flags=re.ASCII)
        try:
            compile_template(with_holes)
        except TemplateError:
            continue
        template = with_holes
    return template


def _without_rank(message: str) -> str:
    """The text on one line, without the prefix that says which rank printed it."""
    return re.sub(r"^\s*(?:\[(?:rank|default)?[0-9]+\]:?|[0-9]+:)\s*", "", " ".join(message.split()))


def _quoted(text: str) -> str:
    """The text as a YAML scalar in double quotes; nothing where there is no text."""
    printable = "".join(character for character in text if character.isprintable()).strip()
    return json.dumps(printable, ensure_ascii=False) if printable else ""


_ENTRY = """{modeline}
# A short entry. Fill in every key that has no value, then: python build.py check
# Texts with ': ' or ' #' inside, or with {{ [ * & ! % @ ` in front, need quotes or a block (>-).

title: {title}  # how people call the failure, with the telling words of its message
summary:  # what it is, in two or three sentences
status: short
added: {today}
reviewed: {today}

systems:
  - id: {system}  # see content/taxonomy/systems.yaml
    versions: "*"  # where it is met, such as ">=0.9.5,<=0.19.8"
family:  # one of: {families}
phase:  # one of: {phases}
tags: []  # see content/taxonomy/tags.yaml

quick_answer:  # a sentence each
  symptom:
  cause:
  fix:

do_now:
  steps:  # at most three, each an action
    -
  restart:  # does a plain restart help? yes, no, or other-node
  restart_why:
  concerns:  # whom to tell, in words, such as: Whoever wrote the launch line.

# The message as it is printed, with holes for what varies:
# {{int}} {{num}} {{hex}} {{size}} {{word}} {{path}} {{quoted}} {{any}}; {{{{ and }}}} are braces.
# A hang, a NaN or a slowdown prints nothing: write no_message: true and look_instead: in place of signatures.
signatures:
  - id: message
    text: {message}
    role: cause  # cause, confirmation, witness, peer, supervisor, teardown or advice
    printed_by: failing-rank  # or all-ranks, waiting-ranks, launcher, kernel, scheduler, tool
    usually:  # what such a line usually is, for a reader who has only this line

causes:
  - id: cause
    title:
    text:  # Markdown: which code, which condition, which versions
    grade: inferred  # reproduced, source, maintainer, reports (each with evidence: [reference ids]) or inferred

fixes:
  - id: fix
    causes: [cause]
    title:
    steps:
      -
    cost: {{}}  # speed, memory, accuracy, restart: a sentence for each that it costs
    verify:  # what a repaired run shows

confirm:  # cheapest check first; the first tells it from its look-alikes
  - step:
    yes:  # what you see when it is this failure
    no:  # what you see when it is not

references: []  # id, title, url, kind, supports

logs:
  - file: run.log  # put it beside this file; names, hosts and paths made neutral
    made: captured  # or composed, from upstream's templates
    from:  # captured: versions, launched how
    says: initiating
"""

_MORE = """# A complete entry has these, too. Each signature then has a source (project, file, versions and, where the text is
# assembled, literal), which `build.py verify` looks up; there are three symptoms and two questions at least, and a
# second log that must not be taken for this failure (says: other). A message of your own code has no source that
# anybody could look up: such an entry stays short.
"""

_REST = """mechanism: |  # why it happens, from the code up

observe: |  # when it strikes, who prints what in which order, what the launcher does then

symptoms:
  - sign:  # what a person sees
    meaning:  # and what it means

affected:
  stacks:
    - system:
      how:
  effect: []  # crash, hang, silent-wrong-result, slowdown
  domain:  # workload, framework, platform, hardware or network
  domain_text:  # whose it is and why, and what the others are cleared of
  state:
    what: []  # parameters, gradients, optimizer-state, activations, buffers, host-memory, files or none
    happening: []  # created, partitioned, gathered, reduced, updated, offloaded, saved, loaded, sent or none
    text:  # what is where at that moment
    zero_stages: []  # none, 0, 1, 2, 3
    offload: []  # none, cpu, nvme
  reach: {}  # one_gpu, many_gpus, many_nodes, training, evaluation, serving: a sentence each, where established

prevention:
  pattern: |  # the rule to adopt
  checklist:
    -
  smoke_test:
    text:
    snippet:
      language:  # python, json, yaml, bash, diff, ini or text
      code: |
  monitor:
    -
  recurs:
    -

examples:
  - stack:  # a system
    title:
    needs:  # versions and hardware with which it runs as it stands
    failing:
      language: python
      code: |
    repaired:
      language: python
      code: |
    why:  # why the repair works

in_deepspeed:  # its place in the DeepSpeed lifecycle

faq:
  - question:  # that people did ask
    answer: |

executive:  # three lines without jargon
  risk:
  domain:
  decision:

look_alikes:
  - name:
    difference:  # the telling difference, that one can look for
"""
