"""A log beside an entry names nobody: no key, person, machine or address.

``check`` asks this; a build doesn't, for the same reason as in ``logs``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..content import LoadedEntry
from ..finding import Explanation, Finding, Severity, shown
from ..redact import Redaction, redactions_of

CODES: Mapping[str, Explanation] = {
    "secret": Explanation(
        "A log holds what looks like a key, a token or a password. Everybody can read the encyclopedia: take it "
        "out of the log, and withdraw the key where it came from.",
        "HF_TOKEN=hf_...",
        "HF_TOKEN=[token 1]",
    ),
    "private": Explanation(
        "A log names a person, a machine or an address. Put something neutral there, the same everywhere: node-a, "
        "192.0.2.1, user-1@example.com, /home/user/.",
        "peer db3.cluster.internal closed",
        "peer node-a closed",
    ),
}


def check(loaded: LoadedEntry) -> Iterator[Finding]:
    folder = loaded.positions.path.rpartition("/")[0]
    for log in loaded.entry.logs:
        text = loaded.files.get(log.file, b"").decode("utf-8", "replace")
        for found in redactions_of([text]):
            before = text[: text.index(found.found)]
            place = before.count("\n") + 1, len(before) - before.rfind("\n")
            hint = f"write {found.shown} in its place"
            code, severity, message = _told(found)
            yield Finding(f"{folder}/{log.file}", *place, code, severity, message, hint)


def _told(found: Redaction) -> tuple[str, Severity, str]:
    """Code, severity and message; of a key only so much as tells which."""
    if found.kind == "token":
        return "secret", "error", f"looks like a key or a password: {shown(found.found[:3] + '…')}"
    return "private", "warning", f"{_NAMES[found.kind]}: {shown(found.found)}"


_NAMES = {
    "e-mail": "an e-mail address",
    "address": "an address",
    "host": "a machine's name",
    "user": "a person's name",
}
