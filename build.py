"""The command line's door: ``python build.py COMMAND`` is what ``firstfault COMMAND`` is after an installation."""

import sys

try:
    from generator.cli import main
except ModuleNotFoundError as error:
    if (error.name or "").startswith("generator"):
        raise
    print(
        f"build.py: {error.name} is not installed; run 'make setup', then .venv/bin/python", file=sys.stderr
    )
    sys.exit(2)
except KeyboardInterrupt:
    sys.exit(130)

if __name__ == "__main__":
    main()
