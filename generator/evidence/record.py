"""What is kept of a verification: content/failures/SLUG/evidence.json."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from ..model import Day, LineNumber, Part, Plain, Signature, Slug

FILE = "evidence.json"


class Looked(Part):
    """Which releases were looked at."""

    first: Plain
    last: Plain
    count: int
    which: Plain = Field(description="'every release', or which of them; a few by their names.")

    @property
    def words(self) -> str:
        """For a reader: how many, from which to which; or their names."""
        is_named = self.which.startswith(self.first)
        return self.which if is_named else f"{self.which}: {self.count} from {self.first} to {self.last}"


class Found(Part):
    """Where a message exists upstream."""

    of: Plain = Field(description="Of which text, literal and project this was found: see ``digest``.")
    package: Plain
    matched: Literal["text", "literal"] = Field(
        description="text: upstream's whole message agrees with the signature. literal: what `source` quotes is there."
    )
    looked: Looked
    found: tuple[tuple[Plain, Plain], ...] = Field(
        min_length=1, description="First and last release of each run of releases that hold it, oldest first."
    )
    lacking: tuple[Plain, ...] = Field(
        default=(), description="Of the releases looked at that lack it, those beside one that holds it."
    )
    file: Plain = Field(description="Where the newest of these has it that `versions` names.")
    line: LineNumber | None = Field(default=None, description="Absent in a library.")

    @property
    def since(self) -> str:
        return self.found[0][0]

    @property
    def until(self) -> str:
        return self.found[-1][1]

    @property
    def ranges(self) -> str:
        """The releases that hold it, in words: '0.9.0 to 0.19.8'."""
        return ", ".join(first if first == last else f"{first} to {last}" for first, last in self.found)

    @property
    def in_newest(self) -> bool:
        return self.until == self.looked.last


class Evidence(Part):
    """What ``verify`` found for an entry's signatures, by their ids."""

    checked: Day
    signatures: dict[Slug, Found]


def digest(signature: Signature) -> str:
    """What of a signature its evidence depends on."""
    source = signature.source
    parts = (signature.text, source.literal or "", source.project) if source else (signature.text,)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def read(data: bytes | None) -> Evidence | None:
    """The evidence of a file; None where there is none. Raises ValueError where it isn't evidence."""
    if data is None:
        return None
    try:
        return Evidence.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or FILE}: {first['msg']}") from error


def write(folder: Path, evidence: Evidence) -> None:
    """Write the entry's evidence.json, or remove it where nothing of the entry can be fetched."""
    path = folder / FILE
    if evidence.signatures:
        path.write_text(json.dumps(evidence.model_dump(mode="json", exclude_defaults=True), indent=1) + "\n")
    else:
        path.unlink(missing_ok=True)


def evidence_for(signature: Signature, evidence: Evidence | None) -> Found | None:
    """What is recorded of the signature as it stands today."""
    found = evidence.signatures.get(signature.id) if evidence else None
    return found if found and found.of == digest(signature) else None
