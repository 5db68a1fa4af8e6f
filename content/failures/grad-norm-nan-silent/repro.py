# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""bf16 and ZeRO-2 without the gradient check: one NaN in one batch is applied without an error, and the weights are NaN.

Written for torch 2.13.0+cpu, deepspeed 0.19.8, Python 3.11; needs no GPU. Two ranks.

    python repro.py fail  `check_grad_overflow: false`, the default before 0.19.3: the step with NaN is applied
    python repro.py fix   the check on: the step is skipped, the weights stay finite
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
RANKS = 2
BAD_STEP = 2


def train(check):
    import deepspeed
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
    groups = [{"params": list(layer.parameters())} for layer in model]
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "bf16": {"enabled": True, "check_grad_overflow": check},
        "zero_optimization": {"stage": 2},
        "zero_allow_untested_optimizer": True,
    }
    engine, *_ = deepspeed.initialize(
        model=model, optimizer=torch.optim.AdamW(groups, lr=1e-3), config=config
    )
    for step in range(1, 5):
        data = torch.ones(1, 8, dtype=torch.bfloat16)
        if step == BAD_STEP and engine.global_rank == 1:
            data[0, 0] = float("nan")
        loss = engine(data).float().sum()
        engine.backward(loss)
        engine.step()
        finite = all(torch.isfinite(p).all().item() for p in engine.module.parameters())
        if engine.global_rank == 0:
            norm, skipped = float(engine.get_global_grad_norm()), engine.skipped_steps
            print(
                f"step {step}: loss {loss.item():.4g}, grad_norm {norm:.4g}, skipped {skipped}, weights finite {finite}",
                flush=True,
            )
    return engine, finite


def fail():
    _, finite = train(check=False)
    if not finite:
        sys.exit("the weights are NaN and no step was skipped")


def fix():
    engine, finite = train(check=True)
    assert finite
    assert engine.skipped_steps == 1
    if engine.global_rank == 0:
        print("repaired: the step with NaN was skipped", flush=True)


def main():
    parts = {"fail": fail, "fix": fix}
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
