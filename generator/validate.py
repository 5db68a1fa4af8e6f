"""A document → a model, or all that is wrong with it in plain words."""

from __future__ import annotations

import copy
import re
import types
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from rapidfuzz import fuzz, process

from . import model as models
from .content import FieldPath
from .finding import Explanation, Finding, shown
from .yaml_document import MAX_FINDINGS, Document

T = TypeVar("T")


def validate(
    kind: type[T], document: Document, known: Iterable[Finding] = ()
) -> tuple[T | None, list[Finding]]:
    """The document as ``kind`` (a model, or a tuple of models), or every error in it.

    An error at a place that ``known`` findings have already named is not told twice.
    """
    try:
        return _adapter(kind).validate_python(document.value), []  # type: ignore[arg-type]
    except ValidationError as error:
        told = {(finding.line, finding.column) for finding in known}
        details = error.errors(include_url=False)
    told_of = [detail for detail in details if not _is_echo(detail)][:MAX_FINDINGS]
    findings = (_finding(kind, document, detail) for detail in told_of)
    return None, [finding for finding in findings if (finding.line, finding.column) not in told]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


STAND_IN = "standinzz"
"""What stands where a text is wrong or missing; no finding may speak of it."""


def with_stand_ins(kind: type[T], document: Document) -> T | None:
    """The document with something right wherever it is wrong, so that checks can look at the rest of it.

    None where that doesn't come out.
    """
    value = copy.deepcopy(document.value)
    tried: Counter[FieldPath] = Counter()
    for _ in range(12):
        try:
            return _adapter(kind).validate_python(value)  # type: ignore[no-any-return, arg-type]
        except ValidationError as error:
            details = error.errors(include_url=False)
        try:
            for detail in details:
                _stand_in(value, detail, tried)
        except (LookupError, TypeError, ValueError, AttributeError):
            # An error above or below has changed what was there.
            return None
    return None


def _stand_in(value: Any, detail: ErrorDetails, tried: Counter[FieldPath]) -> None:
    """Put something right, or nearer to it, in the place of an error."""
    *way, last = detail["loc"]
    for part in way:
        value = value[part]
    if detail["type"] == "extra_forbidden":
        value.pop(last, None)
        return
    options = _right(detail)
    value[last] = options[tried[detail["loc"]] % len(options)]
    tried[detail["loc"]] += 1


def _right(detail: ErrorDetails) -> Sequence[Any]:
    """What an error asks for, the likeliest first."""
    error, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    if error == "literal_error":
        return [str(context["expected"]).split("'")[1]]
    if error in ("too_long", "string_too_long"):
        return [given[: context["max_length"]]]
    if error == "too_short":
        return [[*given, *[STAND_IN] * (context["min_length"] - len(given))]]
    if error == "string_pattern_mismatch":
        return [STAND_IN, f"https://example.org/{STAND_IN}", f"{STAND_IN}.log"]
    kind = _EXPECTED.get(error, "")
    if kind in _RIGHT:
        return [copy.deepcopy(_RIGHT[kind])]
    return [STAND_IN]


def _is_echo(detail: ErrorDetails) -> bool:
    """Whether a list is called too short only because items in it are wrong, which is told of each."""
    given = detail["input"]
    return (
        detail["type"] == "too_short"
        and isinstance(given, list)
        and len(given) >= detail["ctx"]["min_length"]
    )


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A hint that names the likeliest of ``names``, or nothing where none is near."""
    best = process.extractOne(name, sorted(names), scorer=fuzz.ratio, score_cutoff=60)
    return f"did you mean '{best[0]}'?" if best else ""


def field_name(field_path: FieldPath) -> str:
    """A field's name for people: ``signatures[0].text``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in field_path)
    return "".join(parts).lstrip(".") or "the document"


def keys_of(kind: type[BaseModel]) -> list[str]:
    """The keys that YAML uses for a model's fields."""
    return [info.alias or name for name, info in kind.model_fields.items()]


def _finding(kind: Any, document: Document, detail: ErrorDetails) -> Finding:
    where: FieldPath = detail["loc"]
    code, message, hint = _in_words(kind, where, detail, _keys_at(document.value, where[:-1]))
    place = document.positions.of(where)
    if code == "unknown-key":
        place = document.keys.get(where, place)
    elif code == "missing-key":
        place = document.positions.of(where[:-1])
    return Finding(document.positions.path, *place, code, "error", message, hint)


def _keys_at(value: Any, where: FieldPath) -> frozenset[str]:
    """The keys of the mapping at a place of the document."""
    for part in where:
        value = value[part]
    return frozenset(value) if isinstance(value, dict) else frozenset()


def _in_words(
    kind: Any, where: FieldPath, detail: ErrorDetails, given_keys: frozenset[str]
) -> tuple[str, str, str]:
    """Code, message and hint for one of pydantic's errors, in a mapping that has these keys."""
    error, context, given = detail["type"], detail.get("ctx", {}), detail["input"]
    name = field_name(where)
    if error == "missing":
        return "missing-key", f"the key '{where[-1]}' is missing from {field_name(where[:-1])}", ""
    if error == "extra_forbidden":
        return _unknown_key(kind, where, given_keys)
    if given is None:
        return (
            "no-value",
            f"{name} has no value",
            "" if _is_required(kind, where) else "write one, or remove the key",
        )
    if error == "literal_error":
        return _wrong_choice(name, str(context["expected"]), given)
    if error == "string_pattern_mismatch":
        return _wrong_form(name, str(context["pattern"]), str(given))
    if error in _LIMITS:
        code, words = _LIMITS[error]
        return code, f"{name} {words.format(**context)}", ""
    if error in _EXPECTED:
        return "wrong-type", f"{name} must be {_EXPECTED[error]}, not {_kind_of(given)}", ""
    return "wrong-type", f"{name} can't be {_kind_of(given)}", ""


_LIMITS = {
    "string_too_long": ("too-long", "is longer than {max_length} characters"),
    "string_too_short": ("too-short", "is empty"),
    "too_long": ("too-long", "has {actual_length} items; at most {max_length} are allowed"),
    "too_short": ("too-short", "has {actual_length} items; at least {min_length} is needed"),
    "greater_than_equal": ("too-small", "must be at least {ge}"),
    "greater_than": ("too-small", "must be more than {gt}"),
    "less_than_equal": ("too-great", "must be at most {le:g}"),
}
_EXPECTED = {
    "string_type": "a text",
    "tuple_type": "a list ('- ' items)",
    "model_type": "a mapping ('key: value' lines)",
    "model_attributes_type": "a mapping ('key: value' lines)",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of a sensible size",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "date_type": "a date such as 2026-11-30",
    "date_parsing": "a date such as 2026-11-30",
    "date_from_datetime_parsing": "a date such as 2026-11-30",
    "date_from_datetime_inexact": "a date such as 2026-11-30",
    "value_error": "a date such as 2026-11-30",
}


_RIGHT: Mapping[str, Any] = {
    "a list ('- ' items)": [],
    "a mapping ('key: value' lines)": {},
    "a whole number": "1",
    "a number": "1",
    "true or false": "true",
    "a date such as 2026-11-30": "2026-11-30",
}
"""Something of each kind but texts."""


def _kind_of(given: Any) -> str:
    if isinstance(given, dict):
        return "a mapping"
    return "a list" if isinstance(given, list) else f"the text {shown(str(given))}"


def _unknown_key(kind: Any, where: FieldPath, given: frozenset[str]) -> tuple[str, str, str]:
    key = str(where[-1])
    parent = model_at(kind, where[:-1])
    allowed = keys_of(parent) if parent else []
    free = [name for name in allowed if name not in given]
    hint = did_you_mean(key, free) or ("allowed here: " + ", ".join(free or allowed))
    return "unknown-key", f"unknown key {shown(key)} in {field_name(where[:-1])}", hint


def _wrong_choice(name: str, expected: str, given: Any) -> tuple[str, str, str]:
    if not isinstance(given, str):
        return "wrong-type", f"{name} must be one word, not {_kind_of(given)}", f"one of {expected}"
    choices = expected.replace("'", "").replace(" or ", ", ").split(", ")
    hint = did_you_mean(given, choices) or "one of: " + ", ".join(choices)
    return "wrong-choice", f"{name} can't be {shown(given)}", hint


def _pattern_of(annotated: Any) -> str:
    return str(annotated.__metadata__[0].pattern)


_FORMS = {
    _pattern_of(models.Slug): ("bad-slug", "must be lower-case letters, digits and single hyphens"),
    _pattern_of(models.Url): (
        "bad-url",
        "must be an http or https address with a host, or a mailto address, without blanks",
    ),
    _pattern_of(models.FileName): ("bad-file-name", "must be a plain file name in the entry's folder"),
    _pattern_of(models.Plain): ("line-break", "must be a single line"),
}


def _wrong_form(name: str, pattern: str, given: str) -> tuple[str, str, str]:
    code, words = _FORMS.get(pattern, ("wrong-type", "has the wrong form"))
    hint = _slug_like(given) if code == "bad-slug" else ""
    return code, f"{name} is {shown(given)}; it {words}", hint


def _slug_like(given: str) -> str:
    """A hint that writes a name as it must be written, where it has ASCII letters or digits."""
    slug = "-".join(re.findall(r"[a-z0-9]+", given.lower()))
    return f"write {slug}" if slug else ""


def model_at(kind: Any, where: FieldPath) -> type[BaseModel] | None:
    """The model whose mapping stands at ``where`` in a document of type ``kind``."""
    kind = _bare(kind)
    for part in where:
        if isinstance(part, int):
            kind = _bare(get_args(kind)[0]) if get_args(kind) else None
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            fields: Mapping[str, Any] = {info.alias or name: info for name, info in kind.model_fields.items()}
            kind = _bare(fields[part].annotation) if part in fields else None
        else:
            return None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _is_required(kind: Any, where: FieldPath) -> bool:
    parent = model_at(kind, where[:-1]) if where else None
    fields = parent.model_fields.items() if parent else ()
    return all(info.is_required() for name, info in fields if where[-1] in (name, info.alias))


def _bare(annotation: Any) -> Any:
    """An annotation without Annotated and without ``| None``."""
    if hasattr(annotation, "__metadata__"):
        return _bare(annotation.__origin__)
    if get_origin(annotation) in (Union, types.UnionType):
        return _bare(next(arg for arg in get_args(annotation) if arg is not type(None)))
    return annotation


CODES: Mapping[str, Explanation] = {
    "missing-key": Explanation("A key that every such part has is not there. The place is that of the part."),
    "unknown-key": Explanation(
        "No field has this name: it would be read by nobody. The hint names the nearest field, or all of them.",
        "sumary: The run stops.",
        "summary: The run stops.",
    ),
    "no-value": Explanation("A key without a value (or with null) says nothing.", "faq:", "faq: []"),
    "wrong-type": Explanation(
        "A list, a mapping, a number or a date stands where something else is due.",
        "added: yesterday",
        "added: 2026-11-30",
    ),
    "wrong-choice": Explanation(
        "The field takes one of a few words.", "restart: maybe", "restart: other-node"
    ),
    "bad-slug": Explanation(
        "Names that others refer to are made of a-z, 0-9 and hyphens.", "id: My_Cause", "id: my-cause"
    ),
    "bad-url": Explanation(
        "Links go to http, https or mailto addresses; anything else could run code in the reader's browser.",
        "url: javascript:alert(1)",
        "url: https://example.org/",
    ),
    "bad-file-name": Explanation("A log stands in its entry's folder.", "file: ../a.log", "file: a.log"),
    "line-break": Explanation("Titles and names are one line.", "title: |\n  One\n  Two", "title: One two"),
    "too-long": Explanation("The field has a limit so that it stays readable where it is shown."),
    "too-short": Explanation("The field is empty, or its list has too few items."),
    "too-great": Explanation("The number is above what a figure can show, or what any run has."),
    "too-small": Explanation("The number is below what makes sense; lines are counted from 1, for example."),
}
