# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "nvidia-cuda-nvcc==13.0.88"]
# ///
"""Compare a real nvcc 13.0 with the CUDA version of torch, as DeepSpeed does before it pre-builds an op.

Written for deepspeed 0.19.8, torch 2.13.0 (the CPU build), nvcc 13.0.88 from the package index, Linux x86-64, Python
3.11. No GPU is needed. The CPU build of torch leaves `torch.version.cuda` and `CUDA_HOME` empty; this script sets both,
as a CUDA build of torch has them. nvcc and all checks are real.

    python repro.py fail      torch for CUDA 12.8: CUDAMismatchException
    python repro.py minor     torch for CUDA 13.2: refused as well, DeepSpeed's table of minor versions ends with 12
    python repro.py skip      12.8 with DS_SKIP_CUDA_CHECK=1: DeepSpeed warns and goes on, then torch refuses
    python repro.py fix       repaired: torch for CUDA 13.0
"""

import os
import sys
import sysconfig
from pathlib import Path

os.environ["DS_ACCELERATOR"] = "cuda"
os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0"


def build(torch_cuda):
    """The extension that setup.py would compile for `DS_BUILD_FUSED_ADAM=1`."""
    import torch
    from torch.utils import cpp_extension

    torch.version.cuda = torch_cuda
    cpp_extension.CUDA_HOME = str(Path(sysconfig.get_path("purelib"), "nvidia", "cu13"))
    from deepspeed.ops.op_builder import FusedAdamBuilder

    extension = FusedAdamBuilder().builder()
    print(f"DeepSpeed accepts torch for {torch_cuda}: {extension.name}", flush=True)


def torch_check():
    """The check of torch's BuildExtension, which compiles what `build` returns."""
    import torch
    from torch.utils import cpp_extension

    cpp_extension._check_cuda_version("g++", torch.torch_version.TorchVersion("12.2"))


def skip():
    os.environ["DS_SKIP_CUDA_CHECK"] = "1"
    build("12.8")
    torch_check()


def fix():
    build("13.0")
    torch_check()
    print("repaired: toolkit and torch are both 13.0", flush=True)


def main():
    parts = {"fail": lambda: build("12.8"), "minor": lambda: build("13.2"), "skip": skip, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
