"""A small content folder and the pages that it must become.

``python -m tests.golden`` writes the pages anew, after a change of the templates that is meant.
"""

from __future__ import annotations

from pathlib import Path

from generator.catalogue import Catalogue
from generator.load import load
from generator.pages import all_pages
from generator.render import Renderer

FOLDER = Path(__file__).parent
CONTENT = FOLDER / "content"
SITE = FOLDER / "site"
BASE_URL = "https://example.org/manual/"


def catalogue() -> Catalogue:
    content, findings = load(CONTENT)
    assert findings == [], findings
    return Catalogue(content)


def rendered() -> dict[str, str]:
    """The pages as the generator of today makes them, by path."""
    content = catalogue()
    renderer = Renderer(content, BASE_URL)
    return {page.path: renderer.render(page).data.decode() for page in all_pages(content)}


def expected() -> dict[str, str]:
    """The pages as they stand in the repository, by path."""
    paths = sorted(path for path in SITE.rglob("*") if path.is_file())
    return {path.relative_to(SITE).as_posix(): path.read_bytes().decode() for path in paths}
