# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Frozen weights tied between two pipeline stages.

deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail      bf16 without ZeRO: train_batch reads _hp_grad of the frozen tied weight
    python repro.py unguarded one good step in fp32, then PipelineModule.allreduce_tied_weight_gradients(), which has
                              no check for a missing gradient; releases to 0.6.1 called it in each step
    python repro.py trained   the same bf16 run with the tied weight trained: no error
    python repro.py own       an all_reduce of None in the script itself: the same words, another fault
    python repro.py fix       repaired: the frozen weight is not tied, each stage loads the same values
    python repro.py zero1     repaired: bf16 under ZeRO-1, without BF16_Optimizer
    python repro.py fp32      the frozen tied weight in fp32: two steps, no error in this release

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
WIDTH = 16


def tied_or_loaded(tied):
    """The input or output layer: tied by DeepSpeed, or an ordinary frozen layer that loads the same values."""
    import torch
    from deepspeed.pipe import TiedLayerSpec

    if tied:
        return TiedLayerSpec("embed", torch.nn.Linear, WIDTH, WIDTH, bias=False)
    return loaded()


def loaded():
    import torch

    layer = torch.nn.Linear(WIDTH, WIDTH, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(7)))
    return layer.requires_grad_(False)


def engine(frozen=True, tied=True, **settings):
    import deepspeed
    import torch
    from deepspeed.pipe import LayerSpec, PipelineModule

    deepspeed.init_distributed(dist_backend="gloo")
    torch.manual_seed(0)
    model = PipelineModule(
        layers=[
            tied_or_loaded(tied),
            LayerSpec(torch.nn.Linear, WIDTH, WIDTH),
            LayerSpec(torch.nn.Linear, WIDTH, WIDTH),
            tied_or_loaded(tied),
        ],
        num_stages=2,
        partition_method="uniform",
        loss_fn=torch.nn.MSELoss(),
    )
    if frozen:
        for module in model.tied_modules.values():
            module.requires_grad_(False)
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 2,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        **settings,
    }
    trainable = [p for p in model.parameters() if p.requires_grad]
    return deepspeed.initialize(model=model, model_parameters=trainable, config=config)[0]


def train(made, steps=2):
    import torch

    torch.manual_seed(0)
    dtype = torch.bfloat16 if made.bfloat16_enabled() else torch.float32
    data = [
        (torch.randn(4, WIDTH, dtype=dtype), torch.randn(4, WIDTH, dtype=dtype)) for _ in range(2 * steps)
    ]
    source = iter(data)
    for _ in range(steps):
        made.train_batch(source)
    return made


def report(made):
    if made.global_rank == 0:
        name = type(made.optimizer).__name__
        print(f"repaired: {made.global_steps} steps, optimizer {name}", flush=True)


def unguarded():
    made = train(engine(), steps=1)
    made.module.allreduce_tied_weight_gradients()


def own():
    import deepspeed

    made = train(engine(frozen=False), steps=1)
    deepspeed.comm.all_reduce(next(made.module.parameters()).grad)


def main():
    bf16 = {"bf16": {"enabled": True}}
    parts = {
        "fail": lambda: train(engine(**bf16)),
        "unguarded": unguarded,
        "trained": lambda: report(train(engine(frozen=False, **bf16))),
        "own": own,
        "fix": lambda: report(train(engine(tied=False, **bf16))),
        "zero1": lambda: report(train(engine(zero_optimization={"stage": 1}, **bf16))),
        "fp32": lambda: report(train(engine())),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [sys.executable, *launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()
    import torch

    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
