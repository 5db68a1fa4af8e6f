"""Every text of a model, with its field and its kind, so that a check can read them all alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from ..content import FieldPath

Kind = Literal["plain", "inline", "markdown", "template", "code"]


class Text(NamedTuple):
    """A text: its field as in the YAML (``from``, not ``origin``), its kind in the model, its value."""

    field: FieldPath
    kind: Kind
    value: str


Wanted = Callable[[Kind, str], bool]


def texts(part: BaseModel, field: FieldPath = (), wanted: Wanted = lambda kind, value: True) -> list[Text]:
    """The texts of a model and of all its parts that are ``wanted``, in the order of the model's fields."""
    found: list[Text] = []
    _gather(part, field, wanted, found)
    return found


def _gather(part: BaseModel, field: FieldPath, wanted: Wanted, found: list[Text]) -> None:
    for name, key, kind in _fields(type(part)):
        value = getattr(part, name)
        if isinstance(value, tuple):
            for index, item in enumerate(value):
                if kind is None:
                    _gather(item, (*field, key, index), wanted, found)
                elif wanted(kind, item):
                    found.append(Text((*field, key, index), kind, item))
        elif value is not None:
            if kind is None:
                _gather(value, (*field, key), wanted, found)
            elif wanted(kind, value):
                found.append(Text((*field, key), kind, value))


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, str, Kind | None], ...]:
    """Name, YAML key and kind of each field that may hold texts, and of those that may hold parts, without a kind."""
    hints = get_type_hints(model, include_extras=True)
    fields = ((name, info.alias or name, hints[name]) for name, info in model.model_fields.items())
    return tuple((name, key, _kind(hint)) for name, key, hint in fields if _kind(hint) or _has_part(hint))


def _has_part(annotation: Any) -> bool:
    """Whether a model is the annotation, or stands in it."""
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return is_model or any(map(_has_part, get_args(annotation)))


def _kind(annotation: Any) -> Kind | None:
    """The kind that the annotation, or one inside it, is marked with."""
    if get_origin(annotation) is Annotated:
        marks = [mark for mark in annotation.__metadata__ if mark in get_args(Kind)]
        return marks[0] if marks else None
    return next((kind for kind in map(_kind, get_args(annotation)) if kind), None)
