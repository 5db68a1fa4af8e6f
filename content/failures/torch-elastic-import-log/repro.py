# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.14.3"]
# ///
"""Import the DeepSpeed releases whose elastic agent asks torch for names that torch 2.4 no longer has.

Written for torch 2.13.0, Python 3.11; needs no GPU.

    python repro.py fail   deepspeed 0.14.0: cannot import name 'log'
    python repro.py port   deepspeed 0.14.3: cannot import name '_get_socket_with_port'
    python repro.py own    the same import in a script of one's own, without DeepSpeed
    python repro.py fix    repaired: deepspeed 0.14.4 is imported

The parts fail and fix download their DeepSpeed with pip into a folder of their own.
"""

import os
import subprocess
import sys
import tempfile


def imported(release, **variables):
    """Install the release aside and import it; ends with the importing process's exit code where that isn't 0."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "DS_ACCELERATOR"}
        environment |= {"DS_BUILD_OPS": "0", **variables}
        install = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--target", folder]
        packages = [f"deepspeed=={release}"]
        subprocess.run([sys.executable, "-m", "pip", *install, *packages], env=environment, check=True)
        environment["PYTHONPATH"] = folder
        code = "import deepspeed; print('repaired: imported deepspeed', deepspeed.__version__)"
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=environment)
    sys.exit(done.returncode)


def port():
    os.environ["DS_ACCELERATOR"] = "cpu"
    import deepspeed

    print(f"imported {deepspeed.__version__}", flush=True)


def own():
    from torch.distributed.elastic.agent.server.api import log

    log.info("not reached")


def main():
    parts = {
        # Up to 0.14.0 the CPU accelerator asks for Intel's extension of PyTorch, so this one is left to choose.
        "fail": lambda: imported("0.14.0"),
        "port": port,
        "own": own,
        "fix": lambda: imported("0.14.4", DS_ACCELERATOR="cpu"),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
