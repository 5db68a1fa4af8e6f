"""Findings at a field of an entry or another document."""

from __future__ import annotations

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
