"""What a change of the content does, for those who review it: ``python -m generator.review BASE``.

Compares the working tree's content with that of the commit BASE, both under today's generator: which pages are
new, changed or gone, and what the diagnosis says of each changed entry's logs, before and now. Markdown.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from .build import ROOT
from .catalogue import Catalogue
from .content import Content
from .corpora import Trial, breach, trials
from .load import load
from .pages import all_pages
from .render import Renderer

MOST_PAGES = 50


def review(base: Content, now: Content) -> str:
    """What is different, as Markdown."""
    return "\n".join([*_pages(pages_of(base), pages_of(now)), "", *_logs(base, now)]) + "\n"


def pages_of(content: Content) -> Mapping[str, bytes]:
    """Every page's HTML by its address in the site."""
    catalogue = Catalogue(content)
    renderer = Renderer(catalogue)
    return {page.url: renderer.render(page).data for page in all_pages(catalogue)}


def _pages(base: Mapping[str, bytes], now: Mapping[str, bytes]) -> Iterator[str]:
    kinds = (
        ("New pages", now.keys() - base.keys()),
        ("Pages that are gone", base.keys() - now.keys()),
        ("Changed pages", {url for url in base.keys() & now.keys() if base[url] != now[url]}),
    )
    yield "### Pages"
    if not any(urls for _, urls in kinds):
        yield "\nNo page is different."
    for title, urls in kinds:
        if urls:
            shown = sorted(urls)[:MOST_PAGES]
            more = [f"and {len(urls) - len(shown)} more"] if len(urls) > len(shown) else []
            yield f"\n{title}: {', '.join([*(_code('/' + url) for url in shown), *more])}"


def _logs(base: Content, now: Content) -> Iterator[str]:
    yield "### What the diagnosis says of the logs"
    before = {_name(trial): trial for trial in trials(Catalogue(base))}
    rows = [
        (name, before.get(name), trial)
        for trial in trials(Catalogue(now))
        if (name := _name(trial)) not in before or _said(before[name]) != _said(trial) or breach(trial)
    ]
    if not rows:
        yield "\nThe same as before, of every log."
        return
    yield "\n| log | before | now | as promised |\n| --- | --- | --- | --- |"
    for name, old, new in rows:
        kept = breach(new) or "yes"
        yield f"| {_code(name)} | {_said(old) if old else 'not there'} | {_said(new)} | {kept} |"


def _name(trial: Trial) -> str:
    return f"{trial.loaded.slug if trial.loaded else 'healthy'}/{trial.file}"


def _said(trial: Trial) -> str:
    """The verdict, the entry, the line and the ranks."""
    found = trial.answer["initiating"]
    if found is None:
        return str(trial.answer["verdict"])
    entry = _code(found["entry"]) if found["entry"] else "no entry"
    ranks = ", ".join(map(str, found["ranks"])) or "unknown"
    return f"{trial.answer['verdict']}: {entry}, line {found['line'] or 'unknown'}, ranks {ranks}"


def _code(text: str) -> str:
    """A code span that ends where the text does, in a table too."""
    return "`" + text.replace("`", "'").replace("|", "\\|") + "`"


def content_at(commit: str, folder: Path, root: Path = ROOT) -> Content:
    """The content of a commit, unpacked into ``folder``. Raises CalledProcessError where git can't."""
    command = ["git", "archive", "--format=zip", commit, "--", "content"]
    packed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    with ZipFile(BytesIO(packed)) as archive:
        archive.extractall(folder)
    return load(folder / "content")[0]


def main(arguments: Iterable[str]) -> int:
    (commit,) = arguments
    with TemporaryDirectory() as folder:
        base = content_at(commit, Path(folder))
        now, _ = load(ROOT / "content")
        sys.stdout.write(review(base, now))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
