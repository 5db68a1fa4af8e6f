"""A Chromium for the tests: one that is there, else Debian's where installing is allowed.

``python -m tests.tools.browser`` makes sure of it, and fails with one sentence where it can't.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = "the tests drive a real browser: install Chromium or Chrome (on Debian: apt-get install chromium)"


def find() -> str | None:
    """The path of the first Chromium or Chrome that PATH holds."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


def flags() -> list[str]:
    """Switches for a browser that talks to nobody; root has no sandbox."""
    return [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


def install() -> None:
    """Debian's chromium, where this is Debian's package manager and we may use it."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    quiet = {"stdout": subprocess.DEVNULL, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
    print("Installing Debian's chromium for the tests")
    subprocess.run(["apt-get", "update", "-qq"], **quiet)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], **quiet)


def main() -> int:
    if not find():
        install()
    if not find():
        print(f"make: {MISSING}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
