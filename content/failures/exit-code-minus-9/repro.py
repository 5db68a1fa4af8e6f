# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""A rank is killed with SIGKILL, as the kernel's OOM killer does, and the launcher reports return code -9.

Written for torch 2.13.0+cpu, deepspeed 0.19.8, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail      under the deepspeed launcher: it ends with return code = -9; the shell sees 247
    python repro.py torchrun  the same under torchrun
    python repro.py fix       both ranks finish; the shell sees 0
    python repro.py limit     a ulimit instead: an exception and return code 1

No memory is exhausted here: filling a machine until its kernel kills something harms its other users. The first run
compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import argparse
import datetime
import os
import resource
import signal
import socket
import sys
from pathlib import Path

os.environ.setdefault("DS_ACCELERATOR", "cpu")

PARTS = ("fail", "torchrun", "fix", "limit")


def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return str(probe.getsockname()[1])


def launch(part):
    """Become the launcher of two ranks."""
    launcher = ["deepspeed.launcher.runner", "--num_gpus", "2"]
    if part == "torchrun":
        launcher = ["torch.distributed.run", "--nproc-per-node", "2"]
    options = ["--master_port", free_port(), os.path.abspath(__file__), part]
    os.execv(sys.executable, [sys.executable, "-m", *launcher, *options])


def limit_memory():
    import torch

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 100 * 2**20, resource.RLIM_INFINITY))
    torch.zeros(2**28)


def work(part):
    import deepspeed
    import torch
    import torch.distributed as dist

    deepspeed.init_distributed("gloo", timeout=datetime.timedelta(seconds=30))
    rank = dist.get_rank()
    dist.all_reduce(torch.ones(1))
    print(f"rank {rank} pid {os.getpid()}: allocating optimizer states", flush=True)
    if part in ("fail", "torchrun") and rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    if part == "limit" and rank == 0:
        limit_memory()
    dist.all_reduce(torch.ones(1))
    if part == "fix" and rank == 0:
        print("repaired: no rank is killed", flush=True)
    print(f"rank {rank}: done", flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--local_rank", type=int, default=0)
    part = parser.parse_args().part
    if "RANK" in os.environ:
        work(part)
    else:
        launch(part)


if __name__ == "__main__":
    main()
