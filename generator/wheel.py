"""What an installation carries besides the code: the signature bundle, the index of ``find``, and the content.

A build hook of hatchling, which runs when a wheel is made. Bundle and index are made from the checkout's content at
that moment, so they can't be stale, and are never written into the checkout.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[1]


class CarryBundle(BuildHookInterface[Any]):
    """Adds ``firstfault/signatures.json``, ``firstfault/search.json`` and ``firstfault/content/`` to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.folder = TemporaryDirectory()
        for name, data in made().items():
            path = Path(self.folder.name) / name
            path.write_bytes(data)
            build_data["force_include"][str(path)] = f"firstfault/{name}"
        for part in ("failures", "taxonomy"):
            build_data["force_include"][str(ROOT / "content" / part)] = f"firstfault/content/{part}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.folder.cleanup()


def made() -> dict[str, bytes]:
    """The bundle and the index of the checkout's content. Raises ValueError where the content has errors."""
    sys.path.insert(0, str(ROOT))
    from generator.bundle import bundle_bytes, to_bytes
    from generator.catalogue import Catalogue
    from generator.find_index import find_index
    from generator.load import load

    content, findings = load(ROOT / "content")
    errors = [str(finding) for finding in findings if finding.severity == "error"]
    if errors:
        raise ValueError("the content has errors:\n" + "\n".join(errors))
    catalogue = Catalogue(content)
    return {
        "signatures.json": bundle_bytes(catalogue),
        "search.json": to_bytes(find_index(catalogue)),
    }
