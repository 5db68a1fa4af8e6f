# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Raise 'The parameter ... has already been reduced' on a CPU, and repair it.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail      ZeRO-2, one layer under two reentrant checkpoints
    python repro.py small     the same with a small bucket: the other assertion, inside the backward pass
    python repro.py zero3     the same under ZeRO-3: a bare AssertionError
    python repro.py silent    ZeRO-3 with a small bucket: no message, and a wrong gradient
    python repro.py overlap   ZeRO-1 with overlap_comm: the message
    python repro.py zero1     ZeRO-1 without overlap_comm: right
    python repro.py coalesce  ZeRO-2, still reentrant, reduced once (deepspeed 0.19.2 or later): right
    python repro.py fix       ZeRO-2 with use_reentrant=False: right
    python repro.py losses    ZeRO-2, not reentrant, two backward calls before one step: no message, wrong
    python repro.py ddp       the look-alike: DistributedDataParallel, the same model

The first run compiles DeepSpeed's shm_comm extension; later runs take seconds.
"""

import contextlib
import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
STAGE = {"zero1": 1, "overlap": 1, "zero3": 3, "silent": 3}
MODES = ("fail", "small", "zero3", "silent", "overlap", "zero1", "coalesce", "fix", "losses", "ddp")


def shared_layer_model(use_reentrant):
    """A model whose layer ``a`` runs twice, each time inside its own checkpoint."""
    import torch
    from torch.utils.checkpoint import checkpoint

    class Shared(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.a = torch.nn.Linear(8, 8, bias=False)
            self.b = torch.nn.Linear(8, 8, bias=False)

        def forward(self, x):
            for layer in (self.a, self.b, self.a):
                x = checkpoint(layer, x, use_reentrant=use_reentrant)
            return x.sum()

    return Shared()


def settings(mode):
    zero = {"stage": STAGE.get(mode, 2), "overlap_comm": mode == "overlap"}
    if mode in ("small", "silent"):
        zero["reduce_bucket_size"] = 64  # one weight a bucket: a flush falls between the two uses of a
    return {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": zero,
    }


def train(mode, x, expected):
    import deepspeed
    import torch
    from deepspeed.utils import safe_get_full_grad

    model = shared_layer_model(use_reentrant=mode not in ("fix", "losses"))
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=settings(mode))
    with engine.coalesce_grad_reduction() if mode == "coalesce" else contextlib.nullcontext():
        for _ in range(2 if mode == "losses" else 1):
            engine.backward(engine(x))
    right = torch.allclose(safe_get_full_grad(engine.module.a.weight), expected, atol=1e-5)
    engine.step()
    if engine.global_rank == 0:
        if mode == "fix" and right:
            print("repaired: reduced once", flush=True)
        print(f"{mode}: no error; gradient of a.weight equals plain PyTorch's: {right}", flush=True)


def train_ddp(x):
    import torch

    torch.distributed.init_process_group("gloo")
    model = shared_layer_model(use_reentrant=True)
    ddp = torch.nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
    ddp(x).backward()


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    mode = sys.argv[1]
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), mode])

    import torch

    torch.manual_seed(1)
    x = torch.randn(1, 8, requires_grad=True)
    if mode == "ddp":
        train_ddp(x)
        return
    reference = shared_layer_model(use_reentrant=False)
    reference(x).backward()
    if mode == "losses":
        reference(x).backward()
    train(mode, x, reference.a.weight.grad)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
