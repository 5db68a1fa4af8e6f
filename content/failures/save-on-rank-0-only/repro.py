# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Save on rank 0 only, which hangs until the process group's limit, and on all ranks, which does not.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. gloo, two ranks; the process group's
limit is set to 15 seconds so that the hang ends by itself.

    python repro.py fail      save_checkpoint behind `if rank == 0`: rank 0 waits, rank 1 has gone on
    python repro.py detail    as fail, with TORCH_DISTRIBUTED_DEBUG=DETAIL, which names the rank that did not come
    python repro.py export    save_16bit_model under ZeRO-3 behind `if rank == 0`
    python repro.py stage2    save_16bit_model under ZeRO-2 behind `if rank == 0`: gathers nothing, works
    python repro.py other     the look-alike: both ranks save, then rank 1 is too late for a barrier of the script
    python repro.py fix       all ranks save

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take about 40 seconds.
"""

import os
import sys
import tempfile
import time
from datetime import timedelta

os.environ.setdefault("DS_ACCELERATOR", "cpu")

STAGES = {"fail": 2, "detail": 2, "export": 3, "stage2": 2, "other": 2, "fix": 2}
LIMIT = 15


def train(part, folder):
    import deepspeed
    import torch

    deepspeed.init_distributed("gloo", timeout=timedelta(seconds=LIMIT))
    zero = {"stage": STAGES[part], "stage3_gather_16bit_weights_on_model_save": True}
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": zero,
    }
    model = torch.nn.Linear(8, 8)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    rank = torch.distributed.get_rank()
    for step in (1, 2):
        engine.backward(engine(torch.ones(1, 8)).sum())
        engine.step()
        print(f"rank {rank}: step {step}", flush=True)
        if part in ("export", "stage2") and rank == 0:
            engine.save_16bit_model(folder)
        if part in ("other", "fix") or (part in ("fail", "detail") and rank == 0):
            engine.save_checkpoint(folder)
        if part == "other":
            time.sleep(2 * LIMIT if rank == 1 else 0)
            torch.distributed.barrier()
    print("repaired: both steps saved by all ranks" if part == "fix" else "passed", flush=True)


def main():
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    if part not in STAGES:
        sys.exit(f"usage: python repro.py {'|'.join(STAGES)}")
    if "RANK" not in os.environ:
        if part == "detail":
            os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
        folder = tempfile.mkdtemp(prefix="ckpt-")
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), part, folder])
    train(part, sys.argv[2])
    sys.stdout.flush()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


if __name__ == "__main__":
    main()
