# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0"]
# ///
"""A rank that does not come, on a CPU: what the waiting ranks print, and what names the missing one.

Written for torch 2.13.0+cpu, Python 3.11; needs no GPU. Three ranks, gloo. The NCCL watchdog itself needs GPUs;
this is the same mistake with the backend that a CPU has.

    python repro.py fail      rank 1 has one batch fewer and leaves the loop; the others wait in all_reduce
    python repro.py barrier   the same, with a monitored barrier before each step: it names rank 1
    python repro.py fix       the ranks agree on the number of batches first
"""

import datetime
import os
import sys
import time

MODES = ("fail", "barrier", "fix")
RANKS = 3
WAIT = datetime.timedelta(seconds=5)


def batches(rank):
    return range(3 if rank == 1 else 4)


def train(mode):
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo", timeout=WAIT)
    rank = dist.get_rank()
    steps = torch.tensor(len(batches(rank)))
    if mode == "fix":
        dist.all_reduce(steps, op=dist.ReduceOp.MIN)
    for step, _ in zip(range(int(steps)), batches(rank), strict=False):
        if mode == "barrier":
            dist.monitored_barrier(timeout=WAIT, wait_all_ranks=True)
        gradient = torch.ones(4) * rank
        dist.all_reduce(gradient)
        print(f"step {step} rank {rank} done", flush=True)
    if mode != "fix" and rank == 1:
        print("rank 1 evaluates on its own", flush=True)
        time.sleep(3 * WAIT.total_seconds())
    if mode == "fix" and rank == 0:
        print(f"repaired: {int(steps)} steps on every rank", flush=True)
    dist.destroy_process_group()


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    train(sys.argv[1])


if __name__ == "__main__":
    main()
