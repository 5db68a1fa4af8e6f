# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Ask DeepSpeed for the CUDA toolkit where torch knows of none: at installation, when flags are made, when an op is built.

Written for torch 2.13.0 (the CPU build), Python 3.11. DS_ACCELERATOR=cuda stands for what a visible GPU would choose.
The parts `fail` and `fix` fetch a source package of DeepSpeed from the package index; nothing is installed.

    python repro.py fail      setup.py of 0.18.9: MissingCUDAException while pip asks for the metadata
    python repro.py flags     0.19.8: the compiler flags of a CUDA op, as made for a build on a GPU machine
    python repro.py torch     0.19.8: FusedAdam, for which torch and not DeepSpeed asks for CUDA_HOME
    python repro.py fix       repaired: setup.py of 0.19.8 asks only where it sees a GPU
"""

import os
import subprocess
import sys

os.environ["DS_ACCELERATOR"] = "cuda"
os.environ.pop("CUDA_HOME", None)


def pip(version):
    """Let pip prepare DeepSpeed's metadata with this environment's torch, and install nothing."""
    options = ["--no-build-isolation", "--no-deps", "--no-binary", "deepspeed", "--dry-run", "--no-cache-dir"]
    options.append("--ignore-installed")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *options]
    return subprocess.run([*command, f"deepspeed=={version}"], check=False).returncode


def flags():
    from deepspeed.ops.op_builder import QuantizerBuilder

    print(QuantizerBuilder().nvcc_args())


def fused_adam():
    from deepspeed.ops.op_builder import FusedAdamBuilder

    os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0"
    FusedAdamBuilder().load()


def fix():
    if pip("0.19.8") == 0:
        print("repaired: the metadata of 0.19.8 is made without a CUDA toolkit", flush=True)
        return 0
    return 1


def main():
    parts = {"fail": lambda: pip("0.18.9"), "flags": flags, "torch": fused_adam, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    sys.exit(parts[sys.argv[1]]())


if __name__ == "__main__":
    main()
