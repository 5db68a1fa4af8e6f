# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Have DeepSpeed refuse a configuration in six ways, let one slip through, and show the repair.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, pydantic 2.14, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail       a misspelt key and a key of another block: Extra inputs are not permitted
    python repro.py fraction   a bucket size with a fractional part: got a number with a fractional part
    python repro.py stage      stage 4: Input should be 0, 1, 2, 3 or 3
    python repro.py bf16       a bf16 block copied from an fp16 block
    python repro.py offload    an unknown key inside offload_optimizer: its path is printed with a dot
    python repro.py silent     'zero_optimisation' at the top level: no error, and ZeRO is off
    python repro.py removed    a key that 0.19.8 names as removed
    python repro.py fix        the two keys where they belong, an integer, bf16 without a loss scale
    python repro.py other      pydantic refuses the script's own settings; DeepSpeed is never reached

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2


def initialize(part, blocks):
    import deepspeed
    import torch

    deepspeed.init_distributed(dist_backend="gloo")
    model = torch.nn.Linear(8, 1)
    config = {"train_micro_batch_size_per_gpu": 1, **blocks}
    config["optimizer"] = {"type": "Adam", "params": {"torch_adam": True}}
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    if torch.distributed.get_rank() == 0:
        said = "repaired" if part == "fix" else "accepted"
        print(f"{said}: ZeRO stage {engine.zero_optimization_stage()}")
    torch.distributed.destroy_process_group()


def other():
    from pydantic import BaseModel, ConfigDict

    class RunSettings(BaseModel):
        model_config = ConfigDict(extra="forbid")
        epochs: int

    RunSettings(epochs=1, warmup=10)


PARTS = {
    "fail": {"zero_optimization": {"stage": 2, "overlap_com": True, "aio": {"queue_depth": 32}}},
    "fraction": {"zero_optimization": {"stage": 3, "stage3_prefetch_bucket_size": 0.9 * 4096 * 4096}},
    "stage": {"zero_optimization": {"stage": 4}},
    "bf16": {"bf16": {"enabled": True, "loss_scale": 0, "initial_scale_power": 16}},
    "offload": {"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu", "pin_memry": True}}},
    "silent": {"zero_optimisation": {"stage": 2}},
    "removed": {"zero_optimization": {"stage": 3, "mics_shard_size": 2}},
    "fix": {
        "zero_optimization": {"stage": 2, "overlap_comm": True, "stage3_prefetch_bucket_size": 15099494},
        "aio": {"queue_depth": 32},
        "bf16": {"enabled": True},
    },
}


def main():
    names = [*PARTS, "other"]
    if len(sys.argv) != 2 or sys.argv[1] not in names:
        sys.exit(f"usage: python repro.py {'|'.join(names)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    if sys.argv[1] == "other":
        other()
    else:
        initialize(sys.argv[1], PARTS[sys.argv[1]])


if __name__ == "__main__":
    main()
