# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Give ZeRO-Infinity's parameter swapper buffers that are too small, then too few.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU and no NVMe, any local disk will do. It needs a
C++ compiler and the headers of libaio (Debian: libaio-dev), since the async_io extension is compiled. Two ranks, gloo.

    python repro.py fail    buffer_size 1e5, slices of 524288 elements: More elements
    python repro.py count   buffer_count 1, a module with two weights: Not enough buffers
    python repro.py short   ample buffers, but files may grow to 512000 bytes only: a look-alike, file bytes and an abort
    python repro.py fix     buffer_size 524288 and buffer_count 4: the forward pass works

The first run compiles three extensions, some minutes; later runs take seconds.
"""

import os
import resource
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

PARTS = {"fail": (100_000, 5), "count": (524_288, 1), "short": (524_288, 4), "fix": (524_288, 4)}
WIDTH = 1024


def forward(buffer_size, buffer_count):
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
                "buffer_size": buffer_size,
                "buffer_count": buffer_count,
            },
        },
    }
    if sys.argv[1] == "short":
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
        forward(*PARTS[sys.argv[1]])
        return
    with tempfile.TemporaryDirectory(dir=".") as folder:
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        environment = {**os.environ, "REPRO": os.path.abspath(folder)}
        result = subprocess.run([*command, __file__, sys.argv[1]], env=environment, check=False)
    sys.exit(result.returncode)


if __name__ == "__main__":
    main()
