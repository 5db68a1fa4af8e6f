# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = [
#   "torch==2.13.0", "deepspeed==0.19.8", "nvidia-cuda-nvcc==13.0.88", "nvidia-cuda-crt==13.0.88", "nvidia-nvvm==13.0.88",
#   "nvidia-cuda-runtime==13.0.88", "nvidia-cuda-cccl==13.0.85",
# ]
# ///
"""Give a real nvcc 13.0 architectures that it does not know, through DeepSpeed's op builder and by hand.

Written for deepspeed 0.19.8, torch 2.13.0 (the CPU build), nvcc 13.0.88 from the package index, Linux x86-64, Python
3.11. No GPU is needed: nvcc refuses before it compiles. The CPU build of torch leaves CUDA_HOME empty, so this script
sets it to nvcc's folder.

    python repro.py fail      FusedAdam built for compute capability 7.0, which CUDA 13 dropped
    python repro.py default   the list that DeepSpeed takes for pre-built ops when TORCH_CUDA_ARCH_LIST is not set
    python repro.py fix       repaired: architectures that `nvcc --list-gpu-arch` names
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

os.environ["DS_ACCELERATOR"] = "cuda"
NVCC_HOME = Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13"


def toolkit():
    """Tell torch, and so DeepSpeed, where nvcc is, as `_find_cuda_home` does in a CUDA build of torch."""
    from torch.utils import cpp_extension

    cpp_extension.CUDA_HOME = str(NVCC_HOME)


def fail():
    toolkit()
    os.environ["TORCH_CUDA_ARCH_LIST"] = "7.0"
    from deepspeed.ops.op_builder import FusedAdamBuilder

    FusedAdamBuilder().load()


def compile_for(flags):
    """Compile an empty kernel for the architectures in `flags`; the exit status is nvcc's."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "empty.cu")
        source.write_text("__global__ void empty() {}\n")
        command = [NVCC_HOME / "bin" / "nvcc", *flags, "-c", source]
        return subprocess.run([*command, "-o", Path(folder, "empty.o")], check=False).returncode


def flags_of(arch_list):
    toolkit()
    os.environ.pop("TORCH_CUDA_ARCH_LIST", None)
    if arch_list:
        os.environ["TORCH_CUDA_ARCH_LIST"] = arch_list
    from deepspeed.ops.op_builder import FusedAdamBuilder

    flags = FusedAdamBuilder().compute_capability_args()
    print(f"TORCH_CUDA_ARCH_LIST={arch_list}: {' '.join(flags)}", flush=True)
    return flags


def fix():
    status = compile_for(flags_of("7.5;9.0"))
    if status == 0:
        print("repaired: nvcc 13.0 compiled for 7.5 and 9.0", flush=True)
    return status


def main():
    parts = {"fail": fail, "default": lambda: compile_for(flags_of(None)), "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    sys.exit(parts[sys.argv[1]]())


if __name__ == "__main__":
    main()
