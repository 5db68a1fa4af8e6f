# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let ZeRO-Infinity's write to a swap file fail: nobody notices until the file is read.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU and no NVMe. It needs a C++ compiler and the
headers of libaio (Debian: libaio-dev), since the async_io extension is compiled. Two ranks, gloo. A limit on the size of
files (RLIMIT_FSIZE) stands for a disk without space.

    python repro.py fail    files may grow to 512000 bytes: file_offset + buffer nbytes > file bytes, and an abort
    python repro.py fix     without the limit: the forward pass works

The first run compiles three extensions, some minutes; later runs take seconds. Let that first run be `fix`: under the
limit of `fail` the compiler ends with `File size limit exceeded`.
"""

import os
import resource
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

PARTS = ("fail", "fix")
WIDTH = 1024


def forward():
    import deepspeed
    import torch

    class Pair(torch.nn.Module):
        """Two weights in one module, so that one fetch asks for both."""

        def __init__(self):
            super().__init__()
            self.up = torch.nn.Parameter(torch.zeros(WIDTH, WIDTH))
            self.down = torch.nn.Parameter(torch.zeros(WIDTH, WIDTH))

        def forward(self, x):
            return x @ self.up @ self.down

    config = {
        "train_micro_batch_size_per_gpu": 1,
        "bf16": {"enabled": True},
        "zero_optimization": {
            "stage": 3,
            "stage3_param_persistence_threshold": 0,
            "offload_param": {
                "device": "nvme",
                "nvme_path": os.environ["REPRO"],
                "buffer_size": 524_288,
                "buffer_count": 4,
            },
        },
    }
    if sys.argv[1] == "fail":
        resource.setrlimit(resource.RLIMIT_FSIZE, (512_000, 512_000))
    with deepspeed.zero.Init(config_dict_or_path=config):
        model = Pair()
    engine, *_ = deepspeed.initialize(model=model, config=config)
    out = engine(torch.ones(1, WIDTH, dtype=torch.bfloat16))
    if engine.global_rank == 0:
        print(f"repaired: forward pass done, {tuple(out.shape)}", flush=True)


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
        sys.exit(f"usage: python repro.py {'|'.join(PARTS)}")
    if "REPRO" in os.environ:
        forward()
        return
    with tempfile.TemporaryDirectory(dir=".") as folder:
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        environment = {**os.environ, "REPRO": os.path.abspath(folder)}
        result = subprocess.run([*command, __file__, sys.argv[1]], env=environment, check=False)
    sys.exit(result.returncode)


if __name__ == "__main__":
    main()
