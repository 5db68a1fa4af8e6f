# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "ninja==1.13.0"]
# ///
"""Have two ranks build an op where ninja is installed as a package but is not on PATH.

Written for deepspeed 0.19.8, torch 2.13.0, ninja 1.13.0, Python 3.11; needs a C++ compiler, no GPU. Two ranks, gloo.
The environment's Python is called by its path and the environment's bin folder is not on PATH, as in a job that never
activated it; folders with another ninja are taken out too.

    python repro.py fail      deepspeed.init_distributed builds its shared-memory op: Ninja is required
    python repro.py torch     torch.utils.cpp_extension.load_inline, without DeepSpeed: the same sentence
    python repro.py compile   ninja is there, and the source has an error: CalledProcessError ['ninja', '-v']
    python repro.py fix       repaired: the folder of the running Python is on PATH
"""

import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2


def search_path(with_ninja):
    """PATH without any ninja, or with the bin folder of this Python before all others."""
    folders = os.environ["PATH"].split(os.pathsep)
    if with_ninja:
        return os.pathsep.join([str(Path(sys.executable).parent), *folders])
    return os.pathsep.join(folder for folder in folders if not Path(folder, "ninja").exists())


def distributed():
    import deepspeed

    deepspeed.init_distributed("gloo")


def inline(source):
    from torch.utils.cpp_extension import load_inline

    load_inline("one_function", source, functions=["one"])


def main():
    parts = {
        "fail": distributed,
        "torch": lambda: inline("int one() { return 1; }"),
        "compile": lambda: inline("int one() { return undeclared; }"),
        "fix": distributed,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    part = sys.argv[1]
    if "RANK" in os.environ or part in ("torch", "compile"):
        os.environ["PATH"] = search_path(with_ninja=part in ("compile", "fix"))
        parts[part]()
        return
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS), "--tee", "3"]
    code = subprocess.run([*launcher, os.path.abspath(__file__), part], check=False).returncode
    if part == "fix" and code == 0:
        print("repaired: the op was built and loaded on both ranks")
    sys.exit(code)


if __name__ == "__main__":
    main()
