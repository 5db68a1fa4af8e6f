# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Every step overflows in fp16 until the loss scale is at its minimum and DeepSpeed gives up.

Written for torch 2.13.0+cpu, deepspeed 0.19.8, Python 3.11; needs no GPU. Two ranks, ZeRO-2.

    python repro.py fail      weights made in bfloat16 give activations above 65504, where float16 ends
    python repro.py fix       the same weights and data in bf16: steps are applied
    python repro.py nan       NaN in the data instead: the same exception
    python repro.py nan-bf16  NaN in the data with bf16: no exception, and no step is applied
    python repro.py static    `loss_scale: 8` instead of a dynamic scale: no exception, and no step is applied
    python repro.py diverged  a learning rate with which each step overshoots: the loss grows, then the exception
    python repro.py calm      the same start with a hundredth of that learning rate: no exception

DeepSpeed's CPU accelerator refuses fp16 where oneDNN has no kernels for it. torch computes it all the same,
so this script answers that one question with yes. The loss scaler and the step are DeepSpeed's own.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
RANKS = 2
STEPS = 20
TOO_LARGE = 3.0  # of a learning rate: each step multiplies the output by 1 - 2 * 3


def initialize(model, optimizer, precision, loss_scale=0):
    import deepspeed

    config = {
        "train_micro_batch_size_per_gpu": 1,
        "zero_optimization": {"stage": 2},
        "zero_allow_untested_optimizer": True,
        "gradient_clipping": 0.0,  # 0.19.8 clips to 1.0 by default
        precision: {"enabled": True},
    }
    if precision == "fp16":
        config["fp16"]["loss_scale"] = loss_scale
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
    return engine


def train(precision, overflow_from, loss_scale=0):
    import torch

    torch.manual_seed(0)
    model = torch.nn.Linear(8, 8, bias=False)
    data = torch.ones(1, 8)
    if overflow_from == "range":
        torch.nn.init.constant_(model.weight, 100.0)
        data *= 100.0  # 8 * 100 * 100 = 80000
    else:
        data[0, 0] = float("nan")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    engine = initialize(model, optimizer, precision, loss_scale)
    dtype = next(engine.parameters()).dtype
    for step in range(1, STEPS + 1):
        output = engine(data.to(dtype))
        loss = (output.float() / 1000).square().mean()
        scale = engine.optimizer.loss_scale
        if engine.global_rank == 0 and (step <= 2 or step >= 17):
            print(f"step {step}: loss {loss.item():.3g}, loss scale {scale:g}", flush=True)
        engine.backward(loss)
        engine.step()
    return engine


def descend(rate, steps=40):
    import torch

    torch.manual_seed(0)
    model = torch.nn.Linear(8, 8, bias=False)
    engine = initialize(model, torch.optim.SGD(model.parameters(), lr=rate), "fp16")
    for step in range(1, steps + 1):
        loss = engine(torch.ones(1, 8, dtype=torch.float16)).float().square().mean()
        if engine.global_rank == 0:
            print(
                f"step {step}: loss {loss.item():.3g}, loss scale {engine.optimizer.loss_scale:g}", flush=True
            )
        engine.backward(loss)
        engine.step()
    return engine


def calm():
    engine = descend(TOO_LARGE / 100)
    if engine.global_rank == 0:
        print(f"repaired: {engine.skipped_steps} of {engine.global_steps} steps skipped", flush=True)


def report(engine, word):
    if engine.global_rank == 0:
        print(f"{word}: {engine.skipped_steps} of {STEPS} steps skipped", flush=True)


def fix():
    engine = train("bf16", "range")
    assert engine.skipped_steps == 0
    report(engine, "repaired")


def main():
    parts = {
        "fail": lambda: train("fp16", "range"),
        "fix": fix,
        "nan": lambda: train("fp16", "nan"),
        "nan-bf16": lambda: report(train("bf16", "nan"), "not repaired"),
        "diverged": lambda: descend(TOO_LARGE),
        "calm": calm,
        "static": lambda: report(train("fp16", "range", loss_scale=8), "not repaired"),
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
    from deepspeed.accelerator import get_accelerator

    get_accelerator().is_fp16_supported = lambda: True
    parts[sys.argv[1]]()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
