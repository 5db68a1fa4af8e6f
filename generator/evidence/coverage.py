"""Of what the newest release can print, how much some entry's signature matches.

Counted are the messages of ``raise``, ``assert`` and a logger's ``error``, ``warning`` or ``critical`` in the
package's Python sources: each template once, at the first place that has it. ``verify`` records the templates
in content/evidence; counting them needs no network. What is printed by ``print``, at lower levels and by C++
is not counted.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from zipfile import ZipFile

from pydantic import TypeAdapter, ValidationError

from ..catalogue import Catalogue
from ..model import Part, Plain
from . import match
from .messages import messages, read_template
from .packages import Index

PACKAGE = "deepspeed"
FILE = f"{PACKAGE}-messages.json"
RECORD = "coverage.json"
_RECORD: TypeAdapter[dict[str, tuple[str, ...]]] = TypeAdapter(dict[str, tuple[str, ...]])
ROOTS = ("accelerator/", "deepspeed/", "op_builder/")
"""What of the distribution is installed; the rest makes and measures it."""
AREAS = (
    (
        "configuration",
        ("deepspeed/runtime/config", "deepspeed/runtime/precision_config", "deepspeed/runtime/zero/config"),
    ),
    ("configuration", ("deepspeed/runtime/zero/offload_config", "deepspeed/autotuning/")),
    (
        "ZeRO-1/2",
        (
            "deepspeed/runtime/zero/stage_1_and_2",
            "deepspeed/runtime/bf16_optimizer",
            "deepspeed/runtime/fp16/",
        ),
    ),
    (
        "offload",
        ("deepspeed/runtime/swap_tensor/", "deepspeed/runtime/superoffload/", "deepspeed/runtime/zenflow/"),
    ),
    ("offload", ("deepspeed/io/", "deepspeed/nvme/", "deepspeed/runtime/zero/offload_states")),
    ("ZeRO-3", ("deepspeed/runtime/zero/", "deepspeed/utils/z3_leaf_module")),
    ("pipeline", ("deepspeed/runtime/pipe/", "deepspeed/pipe/")),
    (
        "checkpoint",
        ("deepspeed/checkpoint/", "deepspeed/runtime/checkpoint_engine/", "deepspeed/utils/zero_to_fp32"),
    ),
    ("checkpoint", ("deepspeed/runtime/model_checkpointing/", "deepspeed/runtime/state_dict_factory")),
    (
        "sequence",
        ("deepspeed/sequence/", "deepspeed/runtime/sequence_parallel/", "deepspeed/runtime/chunked_cross"),
    ),
    ("MoE", ("deepspeed/moe/", "deepspeed/module_inject/auto_ep")),
    ("inference", ("deepspeed/inference/", "deepspeed/module_inject/", "deepspeed/model_implementations/")),
    ("comm", ("deepspeed/comm/", "deepspeed/utils/groups", "deepspeed/runtime/comm/")),
    ("launcher", ("deepspeed/launcher/", "deepspeed/elasticity/", "deepspeed/env_report")),
    ("ops and build", ("deepspeed/ops/", "op_builder/", "accelerator/")),
    ("compile", ("deepspeed/compile/",)),
    ("engine", ("deepspeed/runtime/", "deepspeed/__init__")),
)
"""The area of a file: that of the first path that it begins with."""
WHOLE = 20
"""Letters of a message that a signature may hold whole, as one of the texts that its line is made of."""


class Messages(Part):
    """What a release can print: by file, the line and template of each message (see ``Message.template``)."""

    package: Plain
    version: Plain
    sites: int
    files: dict[str, tuple[tuple[int, str], ...]]


@dataclass(frozen=True)
class Template:
    """A message that upstream can print, and the signatures, as SLUG/id, that match it."""

    area: str
    file: str
    line: int
    text: str
    signatures: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    package: str
    version: str
    sites: int
    """Places in the code that print a counted message; several may print the same."""
    templates: tuple[Template, ...]

    @property
    def total(self) -> int:
        return len(self.templates)

    @property
    def matched(self) -> int:
        return sum(bool(template.signatures) for template in self.templates)

    @property
    def areas(self) -> Mapping[str, tuple[int, int]]:
        """Matched and total by area, the largest first."""
        total = Counter(template.area for template in self.templates)
        matched = Counter(template.area for template in self.templates if template.signatures)
        return {
            area: (matched[area], count) for area, count in sorted(total.items(), key=lambda a: (-a[1], a[0]))
        }

    def missing(self, area: str) -> tuple[Template, ...]:
        return tuple(one for one in self.templates if one.area == area and not one.signatures)

    def to_json(self, missing: str = "") -> dict[str, object]:
        """The numbers, and the messages of the area ``missing`` that no signature matches."""
        areas = [{"area": area, "matched": m, "total": t} for area, (m, t) in self.areas.items()]
        head = {"package": self.package, "version": self.version, "sites": self.sites}
        listed = [{"file": t.file, "line": t.line, "template": t.text} for t in self.missing(missing)]
        numbers = {**head, "matched": self.matched, "total": self.total, "areas": areas}
        return {**numbers, "missing": listed} if missing else numbers

    def to_text(self, missing: str = "") -> str:
        """A table; or, for an area, a line a message that no signature matches."""
        if missing:
            lines = [f"{one.file}:{one.line}: {' '.join(one.text.split())}" for one in self.missing(missing)]
        else:
            rows = [*self.areas.items(), ("all", (self.matched, self.total))]
            lines = [f"{area:16}{m:6} of {t:5}{100 * m / t:7.1f} %" for area, (m, t) in rows]
            lines.insert(0, f"{self.package} {self.version}: messages that some entry's signature matches")
        return "".join(f"{line}\n" for line in lines)


def coverage(catalogue: Catalogue) -> Coverage | None:
    """What the current entries' signatures match of the recorded release; None where none is recorded.

    Takes as long as a build. Raises ValueError where the record can't be read.
    """
    recorded = read(catalogue.content.evidence.get(FILE))
    if recorded is None:
        return None
    texts = [text for found in recorded.files.values() for _, text in found]
    matched = _matched(_signatures(catalogue), [match.of_pieces(read_template(text)) for text in texts])
    return _coverage(recorded, [tuple(sorted(matched[number])) for number in range(len(texts))])


def covered(catalogue: Catalogue) -> Coverage | None:
    """The same as it was recorded: of ``to_record``. Raises ValueError where a record can't be read."""
    recorded, data = read(catalogue.content.evidence.get(FILE)), catalogue.content.evidence.get(RECORD)
    if recorded is None or data is None:
        return None
    places = [f"{file}:{line}" for file, found in recorded.files.items() for line, _ in found]
    matched = read_record(data)
    return _coverage(recorded, [matched.get(place, ()) for place in places])


def to_record(counted: Coverage) -> str:
    """What content/evidence keeps: for each message that is matched, as file:line, the signatures."""
    rows = (
        f'"{one.file}:{one.line}": {json.dumps(one.signatures)}'
        for one in counted.templates
        if one.signatures
    )
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _coverage(recorded: Messages, matched: Iterable[tuple[str, ...]]) -> Coverage:
    places = ((file, line, text) for file, found in recorded.files.items() for line, text in found)
    templates = tuple(
        Template(area_of(file), file, line, text, signatures)
        for (file, line, text), signatures in zip(places, matched, strict=True)
    )
    return Coverage(recorded.package, recorded.version, recorded.sites, templates)


def area_of(file: str) -> str:
    return next((area for area, starts in AREAS if file.startswith(starts)), "elsewhere")


def read(data: bytes | None) -> Messages | None:
    """The recorded messages; None where there are none. Raises ValueError."""
    if data is None:
        return None
    try:
        return Messages.model_validate_json(data)
    except ValidationError as error:
        raise ValueError(f"{FILE}: {error.errors()[0]['msg']}") from error


def read_record(data: bytes | None) -> Mapping[str, tuple[str, ...]]:
    """The signatures of each message, as file:line; none where none are recorded. Raises ValueError."""
    try:
        return _RECORD.validate_json(data or b"{}")
    except ValidationError as error:
        raise ValueError(f"{RECORD}: {error.errors()[0]['msg']}") from error


def record(index: Index) -> bytes:
    """What the newest release can print, as the file in content/evidence. Raises PackageError."""
    newest = index.releases(PACKAGE)[-1]
    with index.sources(newest) as sources:
        found = messages_of(sources, str(newest.version))
    lines = [
        f" {json.dumps(file, ensure_ascii=False)}: [\n"
        + ",\n".join(f"  {json.dumps(one, ensure_ascii=False)}" for one in texts)
        + "\n ]"
        for file, texts in found.files.items()
    ]
    head = {"package": found.package, "version": found.version, "sites": found.sites}
    return (json.dumps(head)[:-1] + ', "files": {\n' + ",\n".join(lines) + "\n}}\n").encode()


def messages_of(sources: ZipFile, version: str) -> Messages:
    """Each counted template at its first place, by file."""
    files: dict[str, tuple[tuple[int, str], ...]] = {}
    seen: set[str] = set()
    sites = 0
    for name in sorted(sources.namelist()):
        if name.startswith(ROOTS) and name.endswith(".py"):
            found = [one for one in messages(sources.read(name)) if one.kind != "other"]
            sites += len(found)
            new = {one.template: one.line for one in reversed(found) if one.template not in seen}
            seen |= new.keys()
            if new:
                files[name] = tuple(sorted((line, template) for template, line in new.items()))
    return Messages(package=PACKAGE, version=version, sites=sites, files=files)


def _signatures(catalogue: Catalogue) -> Iterator[tuple[str, match.Pattern]]:
    """Every current signature's text, and what it quotes of the package's source."""
    for loaded in catalogue.current:
        for signature in loaded.entry.signatures:
            name = f"{loaded.slug}/{signature.id}"
            yield name, match.of_signature(signature.text)
            source = signature.source
            system = catalogue.systems.get(source.project) if source else None
            if source and source.literal and system and system.package == PACKAGE:
                pattern = match.of_literal(source.literal)
                if pattern.letters >= WHOLE:
                    yield name, pattern


def _matched(
    signatures: Iterable[tuple[str, match.Pattern]], upstream: list[match.Pattern]
) -> dict[int, set[str]]:
    """The signatures of each message, by its number; only those that share words are compared."""
    having: dict[str, list[int]] = defaultdict(list)
    for number, pattern in enumerate(upstream):
        for word in pattern.words:
            having[word].append(number)
    matched: dict[int, set[str]] = defaultdict(set)
    for name, pattern in signatures:
        shared: Counter[int] = Counter()
        for word in pattern.words:
            shared.update(dict.fromkeys(having.get(word, ()), len(word)))
        for number, letters in shared.items():
            if letters * 2 >= min(pattern.in_words, upstream[number].in_words) and _agree(
                pattern, upstream[number]
            ):
                matched[number].add(name)
    return matched


def _agree(signature: match.Pattern, upstream: match.Pattern) -> bool:
    """Either is a part of the other; a message that is part of a signature's line must be half of it."""
    if match.agrees(signature, upstream):
        return True
    held = match.held_letters(upstream, signature)
    return held >= max(WHOLE, match.SHARE * upstream.letters, signature.letters / 2)
