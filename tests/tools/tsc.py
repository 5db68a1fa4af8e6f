"""The type checker over the site's scripts: JSDoc types, no output written."""

import subprocess
import sys
from pathlib import Path

from .npm import HERE, MODULES, NODE

CHECKER = MODULES / "typescript" / "bin" / "tsc"


def main() -> int:
    return subprocess.run([NODE, CHECKER, "--project", HERE / "tsconfig.json"], cwd=Path.cwd()).returncode


if __name__ == "__main__":
    sys.exit(main())
