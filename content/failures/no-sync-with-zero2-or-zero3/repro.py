# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Raise DeepSpeed's refusal of no_sync under ZeRO-2 and ZeRO-3 on a CPU, and accumulate gradients rightly.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail      ZeRO-2, engine.no_sync() around the first micro-batch
    python repro.py stage3    the same under ZeRO-3
    python repro.py fix       ZeRO-2, gradient_accumulation_steps 2, no context manager
    python repro.py manual    ZeRO-2, the boundary set by hand
    python repro.py coalesce  ZeRO-2, engine.coalesce_grad_reduction() (0.19.2 or later)
    python repro.py stage1    ZeRO-1, engine.no_sync() around the first micro-batch, gradient_accumulation_steps 1: right
    python repro.py stage1gas the same with gradient_accumulation_steps 2: no error, and a wrong gradient
    python repro.py step      the look-alike: ZeRO-1, engine.step() inside no_sync()

Modes that don't fail compare the gradient with plain PyTorch's mean over micro-batches and ranks.
The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "stage3", "fix", "manual", "coalesce", "stage1", "stage1gas", "step")
STAGE = {"stage3": 3, "stage1": 1, "stage1gas": 1, "step": 1}
RANKS = 2
MICRO = 2


def layer():
    import torch

    torch.manual_seed(0)
    return torch.nn.Linear(8, 8, bias=False)


def micro_batches(rank):
    import torch

    torch.manual_seed(1 + rank)
    return [torch.randn(4, 8) for _ in range(MICRO)]


def expected():
    reference = layer()
    for rank in range(RANKS):
        for x in micro_batches(rank):
            (reference(x).square().mean() / (MICRO * RANKS)).backward()
    return reference.weight.grad


def start(mode):
    import deepspeed

    config = {
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": MICRO if mode in ("fix", "manual", "stage1gas") else 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": {"stage": STAGE.get(mode, 2)},
    }
    model = layer()
    return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)[0]


def accumulate(engine, mode):
    first, last = micro_batches(engine.global_rank)
    if mode in ("fail", "stage3", "stage1", "stage1gas", "step"):
        scale = 1 if mode == "stage1gas" else MICRO  # with accumulation steps the engine divides
        with engine.no_sync():
            engine.backward(engine(first).square().mean() / scale)
            if mode == "step":
                engine.step()
        engine.backward(engine(last).square().mean() / scale)
    elif mode == "coalesce":
        with engine.coalesce_grad_reduction():
            for x in (first, last):
                engine.backward(engine(x).square().mean() / MICRO)
    elif mode == "manual":
        for x, boundary in ((first, False), (last, True)):
            engine.set_gradient_accumulation_boundary(boundary)
            engine.backward(engine(x).square().mean())
    else:
        engine.backward(engine(first).square().mean())
        engine.step()  # not at the boundary: counts the micro-batch, updates nothing
        engine.backward(engine(last).square().mean())


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    mode = sys.argv[1]
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), mode])

    import torch
    from deepspeed.utils import safe_get_full_grad

    engine = start(mode)
    accumulate(engine, mode)
    gradient = safe_get_full_grad(engine.module.weight)
    ratio = (gradient / expected()).mean().item()
    right = torch.allclose(gradient, expected(), rtol=1e-4, atol=1e-6)
    engine.step()
    if engine.global_rank == 0:
        if mode == "fix" and right:
            print("repaired: accumulated over two micro-batches", flush=True)
        print(f"{mode}: gradient equals plain PyTorch's: {right} (mean ratio {ratio:.3f})", flush=True)
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


if __name__ == "__main__":
    main()
