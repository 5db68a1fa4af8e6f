# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Skipped steps: the harmless ones at the start of fp16, and the ones that never end.

Written for torch 2.13.0+cpu, deepspeed 0.19.8, Python 3.11; needs no GPU. Two ranks.

    python repro.py fail     bf16 and ZeRO-2, NaN in each batch of one rank: every step of both is skipped
    python repro.py fix      the same without the NaN
    python repro.py startup  fp16 and a large loss: seven steps skipped, then none; the learning rate waits
    python repro.py minimum  fp16, NaN in each batch: the same lines, down to the exception of another entry
    python repro.py stage0   fp16 without ZeRO, NaN in each batch: no scale helps, and nothing stops it

DeepSpeed's CPU accelerator refuses fp16 where oneDNN has no kernels for it. torch computes it all the same,
so this script answers that one question with yes. DeepSpeed's INFO lines, hidden since 0.17.6, are turned on.
"""

import logging
import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
RANKS = 2
STEPS = 24


def show_info():
    logger = logging.getLogger("DeepSpeed")
    for target in (logger, *logger.handlers):
        target.setLevel(logging.INFO)


def train(precision, stage, nan=False, gain=1.0):
    import deepspeed
    import torch
    from deepspeed.accelerator import get_accelerator

    get_accelerator().is_fp16_supported = lambda: True
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 8, bias=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "zero_optimization": {"stage": stage},
        "zero_allow_untested_optimizer": True,
        precision: {"enabled": True},
        "scheduler": {
            "type": "WarmupLR",
            "params": {"warmup_min_lr": 0.0, "warmup_max_lr": 1e-4, "warmup_num_steps": 10},
        },
    }
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
    show_info()
    data = torch.ones(1, 8, dtype=next(engine.parameters()).dtype)
    if nan and engine.global_rank == 1:
        data[0, 0] = float("nan")
    for step in range(1, STEPS + 1):
        loss = engine(data).float().sum() * gain
        engine.backward(loss)
        engine.step()
        if engine.global_rank == 0:
            rate, scale = engine.get_lr()[0], engine._get_optimizer_loss_scale()
            print(f"step {step}: loss {loss.item():.3g}, lr {rate:.2g}, next scale {scale}", flush=True)
    return engine


def report(engine, word):
    if engine.global_rank == 0:
        print(f"{word}: {engine.skipped_steps} of {STEPS} steps skipped", flush=True)


def endless(precision, stage):
    engine = train(precision, stage, nan=True)
    report(engine, "not one step was applied")
    sys.exit(engine.skipped_steps == STEPS)


def main():
    parts = {
        "fail": lambda: endless("bf16", 2),
        "fix": lambda: report(train("bf16", 2), "repaired"),
        "startup": lambda: report(train("fp16", 2, gain=40.0), "harmless"),
        "minimum": lambda: train("fp16", 2, nan=True),
        "stage0": lambda: endless("fp16", 0),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            f"--nproc-per-node={RANKS}",
        ]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    import torch

    parts[sys.argv[1]]()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
