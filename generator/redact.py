"""What a log tells of people and machines, and what stands in its place before a text is handed on.

Nothing here is sure to be found: who hands a log on looks it through. The JavaScript twin is
``static/engine/redact.js``; a test asks both about every log of the encyclopedia.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["token", "e-mail", "address", "host", "user"]
KINDS: tuple[Kind, ...] = ("token", "e-mail", "address", "host", "user")


@dataclass(frozen=True)
class Redaction:
    """``found`` is replaced by ``shown`` wherever it stands on its own."""

    kind: Kind
    found: str
    shown: str


def _pattern(text: str, flags: re.RegexFlag = re.ASCII) -> re.Pattern[str]:
    return re.compile(text, flags | re.ASCII)


_CREDENTIALS = _pattern(r"://([^\s/:@]{1,100}:[^\s/@]{1,200})@")
_TOKENS = (
    _pattern(
        r"(?<![\w-])(?:hf_[A-Za-z0-9]{16,}|sk-[\w-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}"
        r"|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|nvapi-[\w-]{16,}"
        r"|r8_[A-Za-z0-9]{16,}|pypi-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*)"
    ),
    _pattern(r"\bBearer\s{1,4}([\w.~+/-]{12,}=*)"),
    _CREDENTIALS,
    _pattern(r"""passw(?:or)?d["']?\s{0,4}[=:]\s{0,4}["']?([^\s"',;]{3,})""", re.IGNORECASE),
)
_NAMED_TOKEN = _pattern(
    r"(?:api[_-]?key|token|secret|credentials?|access[_-]?key(?:[_-]?id)?|authorization)"
    r"""["']?\s{0,4}[=:]\s{0,4}["']?(?:Basic\s{1,4})?([^\s"',;<>|[\](){}]{8,})""",
    re.IGNORECASE,
)
_E_MAIL = _pattern(
    r"(?<![\w.%+-])[\w.%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,12}(?![\w-])"
)
_IPV4 = _pattern(r"(?<![\w.-])(?<!==)(?<!ersion )([0-9]{1,3})(?:\.[0-9]{1,3}){3}(?![\w-]|\.[0-9])")
_IPV6 = _pattern(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
_SSH = _pattern(r"(?<![\w.@/-])([a-z_][a-z0-9_-]{2,31})@([A-Za-z][\w-]{1,62}(?:\.[\w-]{1,62}){0,5})(?![\w@])")
_HOSTS = (
    _pattern(
        r"(?<![\w.@/-])([A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){0,5}"
        r"\.(?:local|internal|lan|corp|intra|intranet|edu|gov|mil))(?![\w-])"
    ),
    _pattern(
        r"(?<![\w.@/-])([\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:amazonaws\.com|azure\.com|googleusercontent\.com))(?![\w-])"
    ),
    _pattern(r"(?<![\w-])(ip-[0-9]{1,3}(?:-[0-9]{1,3}){3})(?![\w-])"),
    _pattern(r"(?<![\w.@/-])([A-Za-z][\w.-]{1,80}):[0-9]{1,8}:[0-9]{1,8} (?:\[[0-9]+\] )?NCCL"),
    _pattern(r"srun: error: ([A-Za-z][\w.[\],-]{1,200}): tasks?"),
    _pattern(r"\bON ([\w.-]{2,80}) CANCELLED"),
    _pattern(r"\bNode failure on ([\w.[\],-]{2,200})"),
    _pattern(r"RUNNING AT ([\w.-]{2,80})"),
    _pattern(r"^\s{0,8}host\s{1,8}: ([\w.-]{2,80})", re.MULTILINE),
    _pattern(r"--(?:master[_-]addr|rdzv[_-]endpoint|hostname)[= ]([A-Za-z][\w.-]{1,80})"),
    _pattern(r"connect to \(([A-Za-z][\w.-]{1,80}), ?[0-9]"),
    _pattern(r"[0-9]{2}:[0-9]{2}:[0-9]{2} ([A-Za-z][\w.-]{1,80}) (?:kernel|slurmstepd|slurmd|systemd)[:[]"),
    _pattern(r"https?://(?:[^\s/@]{1,200}@)?([A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){0,5})"),
)
"""Where a host's name stands; group 1 is the name."""
_MAYBE_HOSTS = (
    _pattern(
        r"""(?:hostname|nodename|nodelist|master_addr|rdzv_endpoint)["']?\s{0,4}[=:]\s{0,4}["']?([A-Za-z][\w.[\],-]{1,200})""",
        re.IGNORECASE,
    ),
    _pattern(r"\[([A-Za-z][\w.-]{1,80})\]:[0-9]{2,5}(?![0-9])"),
)
"""Where a host's name may stand, if it looks like one."""
_USERS = (
    _pattern(r"(?<![\w.-])(?:/[\w.-]{1,60}){0,4}?/(?:home|Users|users|scratch)/([A-Za-z_][\w.-]{1,60})"),
    _pattern(r"[A-Za-z]:[\\/]{1,2}Users[\\/]{1,2}([\w.-]{2,60})"),
    _pattern(r"""\b(?:USER|LOGNAME|USERNAME|SLURM_JOB_USER)["']?[=:]\s{0,4}["']?([A-Za-z_][\w.-]{1,60})"""),
    _pattern(r"\buid=[0-9]{1,10}\(([A-Za-z_][\w.-]{1,60})\)"),
)
_NO_HOST = _pattern(
    r"(?:localhost|node|host|nodes|login|none|null|true|false|auto|cpu|torch|python[0-9.]*|(?:node|login)-[a-z]"
    r"|(?:rank|default)[0-9]*|trainer|worker|process|stage|gpu|cuda)",
    re.IGNORECASE,
)
_PUBLIC = _pattern(
    r"(?:^|\.)(?:pytorch\.org|pydantic\.dev|github\.com|githubusercontent\.com|huggingface\.co|deepspeed\.ai|nvidia\.com|python\.org"
    r"|wandb\.ai|microsoft\.com|google\.com|readthedocs\.io|kernel\.org|schedmd\.com|aka\.ms|example\.(?:com|org|net))\Z",
    re.IGNORECASE,
)
_NO_USER = _pattern(
    r"(?:user|users|ubuntu|root|pdsh|runner|admin|shared|share|common|public|default|data|datasets?|models?|workspace"
    r"|projects?|cache|envs?|conda|anaconda3|miniconda3|user-[0-9]+)",
    re.IGNORECASE,
)
_DOCUMENTATION = _pattern(r"(?:127\.|0\.0\.0\.0\Z|255\.|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.)")


def redactions_of(texts: Sequence[str]) -> list[Redaction]:
    """What to redact in these texts, in the order of the kinds, each found text once."""
    finder = _Finder()
    text = "\n".join(texts)
    for pattern in _TOKENS:
        finder.each(text, pattern, "token")
    finder.each(text, _NAMED_TOKEN, "token", _is_mixed)
    text = _CREDENTIALS.sub("://", text)
    finder.each(text, _E_MAIL, "e-mail", lambda found: not re.search(r"@example\.(?:com|org|net)\Z", found))
    finder.each(text, _IPV4, "address", _is_private_address, whole=True)
    finder.each(text, _IPV6, "address", _is_ipv6, whole=True)
    for match in _SSH.finditer(text):
        if _is_user(match[1]):
            finder.add("user", match[1])
        if _is_host(match[2]):
            finder.add("host", match[2])
    for pattern in _HOSTS:
        finder.each(text, pattern, "host", _is_host)
    for pattern in _MAYBE_HOSTS:
        finder.each(
            text, pattern, "host", lambda found: bool(re.search("[0-9.-]", found)) and _is_host(found)
        )
    finder.add_first_labels(text)
    for pattern in _USERS:
        finder.each(text, pattern, "user", _is_user)
    return finder.redactions()


def redacted(text: str, redactions: Iterable[Redaction]) -> str:
    """The text with all that is redacted in it, the longest first."""
    shown = {redaction.found: redaction.shown for redaction in redactions}
    if not shown:
        return text
    names = "|".join(map(re.escape, sorted(shown, key=lambda found: (-len(found), found))))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda match: shown[match[0]], text, flags=re.ASCII)


@dataclass
class _Finder:
    """Collects what is found, and numbers what stands in its place."""

    found: dict[str, Kind] = field(default_factory=dict)

    def each(
        self,
        text: str,
        pattern: re.Pattern[str],
        kind: Kind,
        fits: Callable[[str], bool] = lambda found: True,
        whole: bool = False,
    ) -> None:
        for match in pattern.finditer(text):
            found = match[0] if whole or not match.groups() or match[1] is None else match[1]
            found = found.rstrip(".,;:")
            if found and fits(found):
                self.add(kind, found)

    def add(self, kind: Kind, found: str) -> None:
        self.found.setdefault(found, kind)

    def add_first_labels(self, text: str) -> None:
        """Add the hosts' names without their domains, where these stand alone and look like a machine's."""
        for name in self._of("host"):
            label = name.partition(".")[0]
            telling = label != name and re.search("[0-9-]", label) and _is_host(label)
            if telling and re.search(rf"(?<![\w.-]){re.escape(label)}(?![\w.-])", text, re.ASCII):
                self.add("host", label)

    def redactions(self) -> list[Redaction]:
        """One for each found text. A host has one name in its place, with its domain or without."""
        made = []
        for kind in KINDS:
            numbers: dict[str, int] = {}
            for text in self._of(kind):
                label = text.partition(".")[0]
                same = label if kind == "host" and self.found.get(label) == "host" else text
                number = numbers.setdefault(same, len(numbers) + 1)
                made.append(Redaction(kind, text, _placeholder(kind, text, number)))
        return made

    def _of(self, kind: Kind) -> list[str]:
        return [text for text, of in self.found.items() if of == kind]


def _placeholder(kind: Kind, found: str, number: int) -> str:
    match kind:
        case "token":
            return f"[token {number}]"
        case "e-mail":
            return f"user-{number}@example.com"
        case "host" | "user":
            return f"{kind}-{number}"
    if ":" in found:
        return f"2001:db8::{number:x}"
    return f"192.0.2.{number}" if number < 255 else f"198.51.100.{number % 255}"


def _is_mixed(text: str) -> bool:
    return bool(re.search("[0-9]", text) and re.search("[A-Za-z]", text))


def _is_private_address(text: str) -> bool:
    return all(int(part) < 256 for part in text.split(".")) and not _DOCUMENTATION.match(text)


def _is_ipv6(text: str) -> bool:
    """No time of day, no C++ name, no bus address."""
    if text in ("::1", "::") or text.lower().startswith("2001:db8:") or text.count("::") > 1:
        return False
    groups = [group for group in text.split(":") if group]
    if "::" not in text:
        return len(groups) == 8
    known = re.match(r"fe80|f[cd]|2[0-9a-f]{3}", text, re.IGNORECASE)
    return len(groups) > 2 or (len(groups) == 2 and known is not None)


def _is_host(text: str) -> bool:
    return (
        len(text) > 2
        and not _NO_HOST.fullmatch(text)
        and not _PUBLIC.search(text)
        and re.search("[A-Za-z]", text) is not None
        and not re.fullmatch(r"host-[0-9]+", text)
    )


def _is_user(text: str) -> bool:
    return len(text) > 1 and not _NO_USER.fullmatch(text)
