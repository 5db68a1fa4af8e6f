"""An entry as the Markdown that other generators eat: all that its page says, with headings, tables and fenced code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from generator.model import Entry, Figure, Snippet

HEAD = (
    "title",
    "summary",
    "status",
    "superseded_by",
    "added",
    "reviewed",
    "aliases",
    "family",
    "phase",
    "tags",
)
"""What stands in the front matter."""
_NOT_SHOWN = ("no_message", "logs", "changes")
_CODE = ("text", "message", "literal", "needs", "unless", "command")
"""Fields of signatures, consequences and checks that hold what is printed or typed."""


def body(entry: Entry) -> str:
    """The entry in the order of its model."""
    blocks: list[str] = [entry.summary]
    for name, info in Entry.model_fields.items():
        value = getattr(entry, name)
        if name not in HEAD and name not in _NOT_SHOWN and value:
            blocks += [f"## {_words(info.alias or name)}", *_shown(value, 3)]
    return "\n\n".join(block.strip("\n") for block in blocks) + "\n"


def _shown(value: object, level: int) -> Iterator[str]:
    if isinstance(value, Snippet):
        yield from filter(None, (value.caption, fenced(value.code, value.language)))
    elif isinstance(value, Figure):
        yield value.caption
    elif isinstance(value, BaseModel):
        yield from _part(value, level)
    elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
        yield from _list(value, level)
    elif isinstance(value, tuple):
        yield "\n".join(f"- {_line(str(item))}" for item in value)
    else:
        yield str(value)


def _list(items: Sequence[BaseModel], level: int) -> Iterator[str]:
    """Parts of plain fields as a table, others each under a heading."""
    if all(_is_flat(item) for item in items) and len(_names(items[0])) <= 5:
        names = _names(items[0])
        rows = [[_cell(getattr(item, name)) for name in names] for item in items]
        yield "\n".join(
            f"| {' | '.join(row)} |" for row in [[*map(_words, names)], ["---"] * len(names), *rows]
        )
        return
    for item in items:
        yield from _shown(item, level) if isinstance(item, Snippet | Figure) else _part(item, level)


def _part(part: BaseModel, level: int) -> Iterator[str]:
    """A part's fields; a heading of its own where it has a title."""
    title = next((getattr(part, name) for name in ("title", "question", "id") if hasattr(part, name)), None)
    if title:
        yield f"{'#' * level} {_line(title)}"
    for name in _names(part):
        value = getattr(part, name)
        if value in (None, (), title):
            continue
        if isinstance(value, str) and name in _CODE and hasattr(part, "role" if name == "text" else name):
            yield fenced(value, "bash" if name == "command" else "text")
        elif isinstance(value, str) and "\n\n" not in value and name != "text":
            yield f"**{_words(name)}:** {_line(value)}"
        else:
            yield from _shown(value, level + 1)


def _names(part: BaseModel) -> list[str]:
    return list(type(part).model_fields)


def _is_flat(part: BaseModel) -> bool:
    return all(
        value is None or isinstance(value, str) for value in (getattr(part, name) for name in _names(part))
    )


def _cell(value: object) -> str:
    return "" if value is None else _line(str(value)).replace("|", "\\|")


def _line(text: str) -> str:
    """The text on one line; in one without code, what looks like a tag is text."""
    line = " ".join(text.split())
    return line if "`" in line else re.sub(r"<(?!https?:|mailto:)", "&lt;", line)


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def fenced(code: str, language: str) -> str:
    """The code in a fence that is longer than any in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"
