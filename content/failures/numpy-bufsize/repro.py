# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.8.2", "numpy==2.4.6", "pydantic==1.10.26"]
# ///
"""Import a DeepSpeed whose autotuner asks numpy for BUFSIZE, with numpy 2; then a release that does not.

Written for deepspeed 0.8.2, numpy 2.4.6 (any 2.x), torch 2.13.0, Python 3.11; needs no GPU. Two ranks.
0.8.2 is taken since 0.10.1 to 0.14.3 stop at another import with this torch.

    python repro.py fail   import deepspeed 0.8.2: cannot import name 'BUFSIZE' from 'numpy'
    python repro.py own    numpy.BUFSIZE in a script of one's own: module 'numpy' has no attribute 'BUFSIZE'
    python repro.py fix    repaired: deepspeed 0.14.4, installed by pip into a folder of its own, is imported
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


def own():
    import numpy

    print(f"imported {numpy.BUFSIZE}", flush=True)


def fix():
    with tempfile.TemporaryDirectory() as folder:
        install = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--target", folder]
        environment = {**os.environ, "DS_BUILD_OPS": "0", "PYTHONPATH": folder}
        subprocess.run(
            [sys.executable, "-m", "pip", *install, "deepspeed==0.14.4"], env=environment, check=True
        )
        code = "import deepspeed, numpy; print('repaired:', deepspeed.__version__, 'with numpy', numpy.__version__)"
        subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment, check=True)


def main():
    parts = {"fail": fail, "own": own, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ and sys.argv[1] == "fail":
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
