# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""ZeRO-3 gathers a module whose parameters have two dtypes.

deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail       bf16 weight beside an fp32 adapter, stage3_use_all_reduce_for_fetch_params: one flat
                               buffer for both, 'expected there to be only one unique element'
    python repro.py allgather  the same model with the default all-gather: two steps, no error in this release
    python repro.py own        repaired gather, but the model multiplies bf16 by fp32: another error, in forward
    python repro.py fix        repaired: the adapter in bf16, same setting

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
WIDTH = 16


def adapted(dtype, convert=True):
    """A bf16 weight and an adapter of ``dtype`` in one module, as when LoRA is kept in fp32."""
    import torch

    class Adapted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(
                torch.randn(WIDTH, WIDTH, dtype=torch.bfloat16), requires_grad=False
            )
            self.adapter = torch.nn.Parameter(torch.zeros(WIDTH, WIDTH, dtype=dtype))

        def forward(self, x):
            base = x @ self.weight
            return base + (x.to(dtype) if convert else x) @ self.adapter

    return Adapted()


def engine(dtype, all_reduce, convert=True):
    import deepspeed
    import torch

    deepspeed.init_distributed(dist_backend="gloo")
    torch.manual_seed(0)
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "bf16": {"enabled": True},
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": {
            "stage": 3,
            "stage3_param_persistence_threshold": 0,
            "stage3_use_all_reduce_for_fetch_params": all_reduce,
        },
    }
    model = adapted(dtype, convert)
    deepspeed.zero.Init(module=model, config_dict_or_path=config)
    trainable = [p for p in model.parameters() if p.requires_grad]
    return deepspeed.initialize(model=model, model_parameters=trainable, config=config)[0]


def train(made, steps=2):
    import torch

    for _ in range(steps):
        made.backward(made(torch.randn(4, WIDTH, dtype=torch.bfloat16)).float().square().mean())
        made.step()
    if made.global_rank == 0:
        held = sorted({str(p.ds_tensor.dtype) for p in made.module.parameters()})
        print(f"repaired: {made.global_steps} steps, partitions in {', '.join(held)}", flush=True)


def main():
    import torch

    parts = {
        "fail": lambda: train(engine(torch.float32, True)),
        "allgather": lambda: train(engine(torch.float32, False)),
        "own": lambda: train(engine(torch.float32, False, convert=False)),
        "fix": lambda: train(engine(torch.bfloat16, True)),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [sys.executable, *launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
