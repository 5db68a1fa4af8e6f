"""A new entry's folder: a commented short entry, in which what only a person can say has no value yet."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from .schema import MODELINE
from .signature import TemplateError, compile_template


@dataclass(frozen=True)
class Answers:
    """What the contributor says at the start; empty where they didn't."""

    title: str = ""
    system: str = ""
    message: str = ""


def scaffold(failures: Path, slug: str, answers: Answers, families: list[str], phases: list[str]) -> Path:
    """Make the folder ``failures/slug`` with its entry.yaml; the file's path. Raises OSError."""
    folder = failures / slug
    folder.mkdir(parents=True)
    path = folder / "entry.yaml"
    path.write_text(entry_text(answers, families, phases, date.today()), encoding="utf-8")
    return path


def entry_text(answers: Answers, families: list[str], phases: list[str], today: date) -> str:
    """The YAML of a new short entry. ``check`` names each key that still has no value."""
    return _ENTRY.format(
        modeline=MODELINE,
        title=_quoted(answers.title),
        system=_quoted(answers.system),
        message=_quoted(template_of(answers.message)),
        families=", ".join(families),
        phases=", ".join(phases),
        today=today.isoformat(),
    )


def template_of(message: str) -> str:
    """A message as a template: without its rank's prefix, numbers as holes where the language allows that."""
    bare = re.sub(r"^\s*(?:\[(?:rank|default)?[0-9]+\]:?|[0-9]+:)\s*", "", " ".join(message.split()))
    literal = bare.replace("{", "{{").replace("}", "}}")
    with_holes = re.sub(r"(?<![\w.{-])-?[0-9]+(?![\w.}])", "{int}", literal)
    try:
        compile_template(with_holes)
    except TemplateError:
        return literal
    return with_holes


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
  concerns:  # who owns the repair

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
