# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.15.3"]
# ///
"""ZeRO-3 of 0.9.0 to 0.15.3 refuses a backward pass through a module in evaluation mode.

Written for torch 2.13.0+cpu, deepspeed 0.15.3, Python 3.11; needs no GPU. Two ranks, ZeRO-3.

    python repro.py fail    an evaluation between two micro-steps leaves the model in evaluation mode
    python repro.py frozen  the last layer is frozen and in evaluation mode on purpose, a gradient runs through it
    python repro.py zero2   the same as fail with ZeRO-2: no error
    python repro.py fix     the model is put back into training mode
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
RANKS = 2
os.environ.setdefault("LOCAL_SIZE", str(RANKS))  # or the CPU accelerator of 0.15.3 asks numactl


def initialize(stage=3, frozen=False):
    import deepspeed
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 1))
    model[2].requires_grad_(not frozen)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-3)
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": 4,  # no optimizer step is reached; the error belongs to backward
        "zero_optimization": {"stage": stage},
        "zero_allow_untested_optimizer": True,
    }
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
    return engine


def step(engine):
    import torch

    engine.backward(engine(torch.ones(1, 8)).sum())
    engine.step()
    if engine.global_rank == 0:
        off = [name for name, module in engine.module.named_modules() if not module.training]
        print(f"micro-step {engine.micro_steps}: modules in evaluation mode {off}", flush=True)


def evaluate(engine):
    import torch

    engine.eval()
    with torch.no_grad():
        engine(torch.ones(1, 8))


def fail(stage=3):
    engine = initialize(stage)
    step(engine)
    evaluate(engine)
    step(engine)
    return engine


def frozen():
    engine = initialize(frozen=True)
    engine.module[2].eval()
    step(engine)


def fix():
    engine = initialize()
    step(engine)
    evaluate(engine)
    engine.train()
    step(engine)
    if engine.global_rank == 0:
        print("repaired: stepped after the evaluation", flush=True)


def main():
    parts = {"fail": fail, "frozen": frozen, "zero2": lambda: fail(2), "fix": fix}
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
