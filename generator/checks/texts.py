"""Every text of a model, with its field and its kind, so that a check can read them all alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from ..content import FieldPath

Kind = Literal["plain", "inline", "markdown", "template", "code"]


@dataclass(frozen=True)
class Text:
    """A text: its field as in the YAML (``from``, not ``origin``), its kind in the model, its value."""

    field: FieldPath
    kind: Kind
    value: str


def texts(part: BaseModel, field: FieldPath = ()) -> Iterator[Text]:
    """The texts of a model and of all its parts, in the order of the model's fields."""
    for name, key, kind in _fields(type(part)):
        value = getattr(part, name)
        items = enumerate(value) if isinstance(value, tuple) else [(None, value)]
        for index, item in items:
            where = (*field, key) if index is None else (*field, key, index)
            if isinstance(item, BaseModel):
                yield from texts(item, where)
            elif kind is not None and item is not None:
                yield Text(where, kind, item)


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, str, Kind | None], ...]:
    """Name, YAML key and kind of each field that may hold a text or a part."""
    hints = get_type_hints(model, include_extras=True)
    return tuple((name, info.alias or name, _kind(hints[name])) for name, info in model.model_fields.items())


def _kind(annotation: Any) -> Kind | None:
    """The kind that the annotation, or one inside it, is marked with."""
    if get_origin(annotation) is Annotated:
        marks = [mark for mark in annotation.__metadata__ if mark in get_args(Kind)]
        return marks[0] if marks else None
    return next((kind for kind in map(_kind, get_args(annotation)) if kind), None)
