"""A small content folder and the pages that it must become.

``python -m tests.golden`` writes the pages anew, after a change of the templates that is meant.
"""

from __future__ import annotations

from pathlib import Path

from generator.catalogue import Catalogue
from generator.load import load
from generator.outputs.api import entry_text
from generator.outputs.feeds import feed_files
from generator.outputs.for_robots import robot_files
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
    pages = all_pages(content)
    files = [
        *(renderer.render(page) for page in pages),
        *feed_files(content, BASE_URL),
        *robot_files(content, pages, BASE_URL),
        *(entry_text(loaded, content, BASE_URL) for loaded in content.content.entries),
    ]
    return {file.path: file.data.decode() for file in files}


def expected() -> dict[str, str]:
    """The pages as they stand in the repository, by path."""
    paths = sorted(path for path in SITE.rglob("*") if path.is_file())
    return {path.relative_to(SITE).as_posix(): path.read_bytes().decode() for path in paths}
