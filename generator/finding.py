"""What is wrong with content: one type for all of it, and its formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import quote

from .hidden import to_json

Severity = Literal["error", "warning"]
Format = Literal["text", "json", "github", "sarif"]


@dataclass(frozen=True, order=True)
class Finding:
    """Something wrong at a place in the content.

    ``path`` is relative to the content folder's parent; ``line`` and ``column`` are 1-based.
    """

    path: str
    line: int
    column: int
    code: str
    severity: Severity
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.path}:{self.line}:{self.column}: {self.severity} {self.code}: {self.message}{hint}"


@dataclass(frozen=True)
class Explanation:
    """What a code means, for ``check --explain``: why it is wrong, and YAML that is bad and good."""

    text: str
    bad: str = ""
    good: str = ""


def shown(value: str, limit: int = 60) -> str:
    """``value`` in quotes for a message: one line, no control characters, cut at ``limit``."""
    text = value if len(value) <= limit else value[: limit - 1] + "…"
    return f"'{printable(text)}'"


def printable(text: str) -> str:
    """The text on one line, with escapes for what a terminal would obey or not show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def format_findings(findings: Iterable[Finding], fmt: Format = "text") -> str:
    """The findings, each ending in a line end, as text for people, JSON, GitHub's workflow commands or SARIF.

    As text and for GitHub, no finding is no output.
    """
    return _FORMATS[fmt](list(findings))


def _as_text(findings: list[Finding]) -> str:
    return "".join(f"{finding}\n" for finding in findings)


def _as_json(findings: list[Finding]) -> str:
    return to_json([asdict(finding) for finding in findings]) + "\n"


def _as_github(findings: list[Finding]) -> str:
    """https://docs.github.com/actions/reference/workflow-commands-for-github-actions"""
    return "".join(
        f"::{finding.severity} file={_property(finding.path)},line={finding.line},col={finding.column},"
        f"title={_property(finding.code)}::{_escaped(_sentence(finding))}\n"
        for finding in findings
    )


def _sentence(finding: Finding) -> str:
    return f"{finding.message} ({finding.hint})" if finding.hint else finding.message


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _as_sarif(findings: list[Finding]) -> str:
    """https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"""
    rules = [{"id": code} for code in sorted({finding.code for finding in findings})]
    run = {
        "tool": {"driver": {"name": "First Fault", "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(finding) for finding in findings],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return to_json(log) + "\n"


def _sarif_result(finding: Finding) -> dict[str, Any]:
    location = {
        "artifactLocation": {"uri": quote(finding.path)},
        "region": {"startLine": finding.line, "startColumn": finding.column},
    }
    return {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": _sentence(finding)},
        "locations": [{"physicalLocation": location}],
    }


_FORMATS: Mapping[Format, Callable[[list[Finding]], str]] = {
    "text": _as_text,
    "json": _as_json,
    "github": _as_github,
    "sarif": _as_sarif,
}
