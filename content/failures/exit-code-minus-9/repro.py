"""A rank is killed with SIGKILL, as the kernel's OOM killer does, and the launcher reports return code -9.

Versions: torch 2.13.0+cpu, deepspeed 0.19.8, two processes, gloo. Ends by itself in under a minute (the very
first DeepSpeed run on a CPU compiles shm_comm, about a minute more).

    DS_ACCELERATOR=cpu deepspeed --num_gpus 2 repro.py fail   # exits with return code = -9; the shell sees 247
    DS_ACCELERATOR=cpu deepspeed --num_gpus 2 repro.py fix    # both ranks finish; the shell sees 0
    DS_ACCELERATOR=cpu deepspeed --num_gpus 2 repro.py limit  # a ulimit instead: an exception and return code 1

No memory is exhausted here: filling a machine until its kernel kills something harms its other users.
"""

import argparse
import datetime
import os
import resource
import signal
from pathlib import Path

import deepspeed
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("part", choices=["fail", "fix", "limit"])
parser.add_argument("--local_rank", type=int, default=0)
part = parser.parse_args().part

deepspeed.init_distributed("gloo", timeout=datetime.timedelta(seconds=30))
rank = dist.get_rank()
dist.all_reduce(torch.ones(1))
print(f"rank {rank} pid {os.getpid()}: allocating optimizer states", flush=True)

if part == "fail" and rank == 0:
    os.kill(os.getpid(), signal.SIGKILL)
if part == "limit" and rank == 0:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 100 * 2**20, resource.RLIM_INFINITY))
    torch.zeros(2**28)

dist.all_reduce(torch.ones(1))
print(f"rank {rank}: done", flush=True)
dist.destroy_process_group()
