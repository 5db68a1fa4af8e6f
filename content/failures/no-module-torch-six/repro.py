# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.8.1", "einops==0.8.1", "msgpack==1.1.1"]
# ///
"""Import a DeepSpeed that still asks torch for torch._six, then a release that does not.

Written for deepspeed 0.8.1, torch 2.13.0 (any 2.x), Python 3.11; needs no GPU. Two ranks.

    python repro.py fail     import deepspeed 0.8.1: No module named 'torch._six'
    python repro.py advice   the import that a pull request recommends instead: torch has no name six either
    python repro.py fix      repaired: deepspeed 0.19.8, installed by pip into a folder of its own, is imported

The part fix downloads deepspeed 0.19.8; einops and msgpack above are what that release needs in addition.
"""

import os
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2


def fail():
    import deepspeed

    print(f"imported {deepspeed.__version__}", flush=True)


def advice():
    from torch import six

    print(f"imported {six}", flush=True)


def fix():
    with tempfile.TemporaryDirectory() as folder:
        install = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--target", folder]
        environment = {**os.environ, "DS_BUILD_OPS": "0", "PYTHONPATH": folder}
        subprocess.run(
            [sys.executable, "-m", "pip", *install, "deepspeed==0.19.8"], env=environment, check=True
        )
        code = "import deepspeed; print('repaired: imported deepspeed', deepspeed.__version__)"
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def main():
    parts = {"fail": fail, "advice": advice, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ and sys.argv[1] != "fix":
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
