"""The command line's door: ``python build.py COMMAND`` is what ``firstfault COMMAND`` is after an installation."""

from generator.cli import main

if __name__ == "__main__":
    main()
