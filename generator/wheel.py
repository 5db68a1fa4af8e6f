"""What an installation carries besides the code: the signature bundle and the content.

A build hook of hatchling, which runs when a wheel is made. The bundle is made from the checkout's content at that
moment, so it can't be stale, and is never written into the checkout.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[1]


class CarryBundle(BuildHookInterface[Any]):
    """Adds ``firstfault/signatures.json`` and ``firstfault/content/`` to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.folder = TemporaryDirectory()
        path = Path(self.folder.name) / "signatures.json"
        path.write_bytes(made_bundle())
        build_data["force_include"][str(path)] = "firstfault/signatures.json"
        for part in ("failures", "taxonomy"):
            build_data["force_include"][str(ROOT / "content" / part)] = f"firstfault/content/{part}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.folder.cleanup()


def made_bundle() -> bytes:
    """The bundle of the checkout's content. Raises ValueError where the content has errors."""
    sys.path.insert(0, str(ROOT))
    from generator.bundle import bundle, to_bytes
    from generator.catalogue import Catalogue
    from generator.load import load

    content, findings = load(ROOT / "content")
    errors = [str(finding) for finding in findings if finding.severity == "error"]
    if errors:
        raise ValueError("the content has errors:\n" + "\n".join(errors))
    return to_bytes(bundle(Catalogue(content)))
