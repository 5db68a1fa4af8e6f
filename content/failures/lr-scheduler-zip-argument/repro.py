# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let DeepSpeed drop an empty parameter group under a scheduler that still counts it, and show three repairs.

Written for deepspeed 0.19.8, torch 2.13.0+cpu (2.10 or later), Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail      scheduler made first, stepped by hand: zip() argument 2 is longer than argument 1
    python repro.py engine    the same scheduler handed to deepspeed.initialize, stepped by the engine
    python repro.py old       what torch before 2.10 did instead: the learning rate of the dropped group is used
    python repro.py own       the same words from a zip of the script's own
    python repro.py fix       repaired: no empty group is built
    python repro.py callable  repaired: the scheduler is made by DeepSpeed, after the group is gone
    python repro.py after     repaired: the scheduler is made after deepspeed.initialize

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2


def groups(model, keep_empty=True):
    """Bias-like parameters without decay and at another rate, then the rest: with LoRA the first is empty."""
    biases = [p for n, p in model.named_parameters() if p.requires_grad and n.endswith("bias")]
    others = [p for n, p in model.named_parameters() if p.requires_grad and not n.endswith("bias")]
    both = [
        {"params": biases, "weight_decay": 0.0, "lr": 1e-3},
        {"params": others, "weight_decay": 0.1, "lr": 1e-5},
    ]
    return both if keep_empty else [group for group in both if group["params"]]


def constant(optimizer):
    import torch

    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)


def initialize(keep_empty=True, scheduler=None):
    import deepspeed
    import torch

    model = torch.nn.Linear(8, 1)
    model.bias.requires_grad_(False)  # as LoRA leaves it
    optimizer = torch.optim.AdamW(groups(model, keep_empty))
    before = constant(optimizer)
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "zero_optimization": {"stage": 1},
        "zero_allow_untested_optimizer": True,
    }
    passed = before if scheduler == "object" else constant if scheduler == "callable" else None
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, lr_scheduler=passed, config=config)
    engine.backward(engine(torch.ones(1, 8)).sum())
    engine.step()
    return engine, before


def report(engine, said="stepped"):
    if engine.global_rank == 0:
        rates = [group["lr"] for group in engine.optimizer.param_groups]
        print(f"{said}: learning rates {rates}, intended [1e-05]", flush=True)


def fail():
    _, scheduler = initialize()
    scheduler.step()


def old():
    engine, scheduler = initialize()
    for group, rate in zip(engine.optimizer.param_groups, scheduler.get_last_lr(), strict=False):
        group["lr"] = rate
    report(engine)


def own():
    engine, _ = initialize(keep_empty=False)
    losses, names = [0.1], ["decay", "no decay"]
    for _ in zip(losses, names, strict=True):
        report(engine)


def fix():
    engine, scheduler = initialize(keep_empty=False)
    scheduler.step()
    report(engine, "repaired")


def after():
    engine, _ = initialize()
    constant(engine.optimizer.optimizer).step()
    report(engine)


def main():
    parts = {
        "fail": fail,
        "engine": lambda: initialize(scheduler="object"),
        "old": old,
        "own": own,
        "fix": fix,
        "callable": lambda: report(initialize(scheduler="callable")[0]),
        "after": after,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    import torch

    parts[sys.argv[1]]()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
