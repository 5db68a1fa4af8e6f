"""Findings at a field of an entry or another document."""

from __future__ import annotations

from ..catalogue import Catalogue
from ..content import FieldPath, Positions
from ..finding import Finding, Severity


def finding(
    positions: Positions,
    field: FieldPath,
    code: str,
    message: str,
    hint: str = "",
    severity: Severity = "error",
) -> Finding:
    """A finding where the field, or its nearest ancestor that is there, stands."""
    return Finding(positions.path, *positions.of(field), code, severity, message, hint)


def finding_within(
    positions: Positions,
    field: FieldPath,
    text: str,
    offset: int,
    code: str,
    message: str,
    hint: str = "",
    severity: Severity = "error",
) -> Finding:
    """A finding at ``text[offset]``, where ``text`` is the field's value."""
    return Finding(positions.path, *positions.within(field, text, offset), code, severity, message, hint)


def content_folder(catalogue: Catalogue) -> str:
    """The content folder's own name, with which paths of findings begin."""
    return next((path.partition("/")[0] for path in catalogue.content.positions), "content")
