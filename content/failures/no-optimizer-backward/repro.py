# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Train with a ZeRO-3 engine that was made without an optimizer, and with one that has it.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. gloo, two ranks.

    python repro.py fail     ZeRO-3, no optimizer: 'DeepSpeedZeRoOffload' object has no attribute ...
    python repro.py zero2    ZeRO-2, no optimizer: refused at initialization
    python repro.py zero0    no ZeRO, no optimizer: must provide optimizer during init
    python repro.py eval     ZeRO-3, no optimizer, forward only: works
    python repro.py fix      ZeRO-3 with an optimizer: one step

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take about 20 seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

PARTS = {"fail": 3, "zero2": 2, "zero0": 0, "eval": 3, "fix": 3}


def train(part):
    import deepspeed
    import torch

    config = {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": PARTS[part]}}
    if part == "fix":
        config["optimizer"] = {"type": "Adam", "params": {"lr": 0.1, "torch_adam": True}}
    model = torch.nn.Linear(8, 8)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    print(f"optimizer: {type(engine.optimizer).__name__}", flush=True)
    loss = engine(torch.ones(1, 8)).square().sum()
    if part == "eval":
        print(f"forward only: loss is finite: {bool(loss.isfinite())}", flush=True)
        return
    engine.backward(loss)
    engine.step()
    print(f"repaired: {engine.global_steps} step", flush=True)


def main():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    if part not in PARTS:
        sys.exit(f"usage: python repro.py {'|'.join(PARTS)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), part])
    train(part)
    sys.stdout.flush()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


if __name__ == "__main__":
    main()
