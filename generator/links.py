"""Whether what the entries link to still answers: ``python -m generator.links``. It asks the network."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from .content import Content
from .load import load

AT_ONCE = 4
TIMEOUT_S = 30
TRIES = 3
REFUSED = frozenset({401, 403, 405, 429})
"""Answers of a host that is there and doesn't talk to programs."""


def links_of(content: Content) -> Mapping[str, tuple[str, ...]]:
    """Every address that a reference has, without its fragment, and the entries that have it."""
    found: dict[str, set[str]] = {}
    for loaded in content.entries:
        for reference in loaded.entry.references:
            if reference.url.startswith("http"):
                found.setdefault(reference.url.partition("#")[0], set()).add(loaded.slug)
    return {url: tuple(sorted(slugs)) for url, slugs in sorted(found.items())}


def problem(url: str) -> str:
    """Why nobody gets what is linked, or nothing."""
    said = ""
    for _ in range(TRIES):
        try:
            request = Request(url, headers={"User-Agent": "firstfault-links"})
            with urlopen(request, timeout=TIMEOUT_S):
                return ""
        except HTTPError as error:
            if error.code in REFUSED:
                return ""
            said = f"{error.code} {error.reason}"
            if error.code in (404, 410):
                return said
        except (OSError, HTTPException, ValueError) as error:
            said = str(getattr(error, "reason", error)) or type(error).__name__
    return said


def dead(urls: Iterable[str]) -> Mapping[str, str]:
    """The addresses that don't answer, and why."""
    asked = list(urls)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {url: said for url, said in zip(asked, pool.map(problem, asked), strict=True) if said}


def main() -> int:
    content, _ = load(Path(__file__).parents[1] / "content")
    links = links_of(content)
    broken = dead(links)
    for url, said in broken.items():
        print(f"{', '.join(links[url])}: {url}: {said}")
    print(f"{len(links)} links, {len(broken)} dead", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
