"""The command line's door: ``python build.py COMMAND`` is what ``firstfault COMMAND`` is after an installation."""

import os
import sys
from pathlib import Path

OWN = Path(__file__).resolve().parent / ".venv" / "bin" / "python"
"""What ``make setup`` makes. Another Python, which lacks the packages, hands over to it."""

try:
    from generator.cli import main
except ModuleNotFoundError as error:
    if (error.name or "").startswith("generator"):
        raise
    if OWN.is_file() and Path(sys.prefix) != OWN.parents[1]:
        os.execv(OWN, [str(OWN), *sys.argv])
    print(
        f"build.py: {error.name} is not installed; run 'make setup', then .venv/bin/python", file=sys.stderr
    )
    sys.exit(2)
except KeyboardInterrupt:
    sys.exit(130)

if __name__ == "__main__":
    main()
