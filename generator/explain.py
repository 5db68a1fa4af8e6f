"""An entry in the terminal: the on-call view first, plain text of 80 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from . import words
from .catalogue import Catalogue
from .content import LoadedEntry
from .finding import printable
from .model import Cause, Confirm, Entry, Fix, Signature, Snippet

WIDTH = 80
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def explain(loaded: LoadedEntry, catalogue: Catalogue, bold: bool = False) -> str:
    """The entry as text; headings are bold where the terminal can show that."""
    parts = [
        _title(loaded, catalogue.written_for),
        *(_section(heading, lines) for heading, lines in _sections(loaded.entry)),
    ]
    text = "\n".join(part for part in parts if part)
    return text if bold else text.replace(BOLD, "").replace(PLAIN, "")


def _title(loaded: LoadedEntry, written_for: str) -> str:
    entry = loaded.entry
    facts = f"{loaded.slug} · {entry.family} · {entry.phase} · {entry.status} · reviewed {entry.reviewed}"
    title, summary = _seen(_wrapped(entry.title)), _seen(_wrapped(entry.summary))
    scope = [_wrapped(f"where no release is named: {written_for}")] if written_for else []
    return "\n".join([f"{BOLD}{title}{PLAIN}", _wrapped(facts), *scope, "", summary, ""])


def _sections(entry: Entry) -> Iterator[tuple[str, Iterable[str]]]:
    yield "The message", _joined(map(_signature, entry.signatures), entry.look_instead)
    yield (
        "Do now",
        [
            *_numbered(entry.do_now.steps),
            "",
            _wrapped(_restart(entry)),
            _wrapped(f"Tell: {entry.do_now.concerns}"),
        ],
    )
    yield "Is it this one?", _joined(map(_confirm, entry.confirm))
    yield "Look-alikes", [_item(f"{other.name}: {other.difference}") for other in entry.look_alikes]
    yield "Why", [_markdown(entry.mechanism or entry.quick_answer.cause)]
    yield "Causes", _joined(map(_cause, entry.causes))
    yield "Fixes", _joined(map(_fix, entry.fixes))
    if entry.prevention is not None:
        yield "Prevent", [_markdown(entry.prevention.pattern), "", *map(_item, entry.prevention.checklist)]
    yield "Questions", _joined(f"{_wrapped(q.question)}\n{_markdown(q.answer, '  ')}" for q in entry.faq)
    yield "References", [_item(f"{reference.title}\n{reference.url}") for reference in entry.references]


def _section(heading: str, lines: Iterable[str]) -> str:
    text = _seen("\n".join(lines).strip("\n"))
    return f"{BOLD}{heading.upper()}{PLAIN}\n{textwrap.indent(text, '  ')}\n" if text else ""


def _seen(text: str) -> str:
    """The text, in which a terminal finds nothing to obey: content with findings is shown, too."""
    return "\n".join(map(printable, text.split("\n")))


def _joined(blocks: Iterable[str], last: str | None = None) -> list[str]:
    texts = [*blocks, *([_wrapped(last)] if last else [])]
    return ["\n\n".join(texts)]


def _signature(signature: Signature) -> str:
    usually = f"{words.ROLES[signature.role]}, printed by {words.PRINTED_BY[signature.printed_by]}. {signature.usually}"
    return f"{signature.text}\n{_wrapped(usually, '  ')}"


def _restart(entry: Entry) -> str:
    return f"{words.RESTARTS[entry.do_now.restart]} {entry.do_now.restart_why}"


def _confirm(check: Confirm) -> str:
    command = [textwrap.indent(check.command.rstrip(), "    ")] if check.command else []
    outcomes = [_item(f"yes: {check.yes}"), _item(f"no: {check.no}")]
    return "\n".join([_wrapped(check.step), *command, *outcomes])


def _cause(cause: Cause) -> str:
    return f"{_wrapped(f'{cause.title} ({cause.grade}: {words.GRADES[cause.grade]})')}\n{_markdown(cause.text, '  ')}"


def _fix(fix: Fix) -> str:
    costs = [_item(f"costs {label.lower()}: {text}") for label, text in words.told(fix.cost, words.COSTS)]
    fixed = [_item(f"fixed in {release.system} {release.version}") for release in fix.fixed_in]
    snippets = [_snippet(snippet) for snippet in fix.snippets]
    lines = [
        _wrapped(fix.title),
        *_numbered(fix.steps),
        *snippets,
        *costs,
        *fixed,
        _item(f"verify: {fix.verify}"),
    ]
    return "\n".join(lines)


def _snippet(snippet: Snippet) -> str:
    caption = f"{_wrapped(snippet.caption, '  ')}\n" if snippet.caption else ""
    return caption + textwrap.indent(snippet.code.rstrip(), "    ")


def _numbered(steps: Iterable[str]) -> list[str]:
    return [_wrapped(step, "   ", f"{number}. ") for number, step in enumerate(steps, 1)]


def _item(text: str) -> str:
    return _wrapped(text, "  ", "- ")


def _markdown(text: str, indent: str = "") -> str:
    """Paragraphs and items wrapped; code and tables as they are."""
    shown, is_after_item = "", False
    for block in re.split(
        r"(^ *```.*?^ *```$)|\n\s*\n|\n(?=\s*(?:[-*+]|[0-9]+\.)\s)", text, flags=re.M | re.S
    ):
        if block and block.strip():
            is_item = _MARKER.match(block) is not None
            gap = "" if not shown else "\n" if is_item and is_after_item else "\n\n"
            shown += gap + _block(block.strip("\n"), indent)
            is_after_item = is_item
    return shown


_MARKER = re.compile(r"\s*(?:[-*+]|[0-9]+\.) ")


def _block(block: str, indent: str) -> str:
    if block.lstrip().startswith("```"):
        body = "\n".join(block.strip().splitlines()[1:-1])
        return textwrap.indent(textwrap.dedent(body), indent + "    ")
    if block.lstrip().startswith("|"):
        return textwrap.indent(block, indent)
    marker = _MARKER.match(block)
    return _wrapped(block.strip(), indent + " " * len(marker[0]) if marker else indent, indent)


def _wrapped(text: str, indent: str = "", first: str | None = None) -> str:
    """The text in lines of at most 76 columns, so that a section's indent still fits; a link's address in <>."""
    linked = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", r"\1 <\2>", text)
    lines = textwrap.wrap(
        linked,
        WIDTH - 4,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)
