# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let launchers pass an option that the script's parser does not know, and show three repairs.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two processes, no process group.

    python repro.py fail        deepspeed appends --local_rank=N, the parser does not know it
    python repro.py dash        torch.distributed.launch appends --local-rank=N, the parser knows the underscore only
    python repro.py deepspeed   --deepspeed and --deepspeed_config without deepspeed.add_config_arguments
    python repro.py typo        somebody's misspelt option; the launcher's is accepted
    python repro.py fix         the parser knows both spellings
    python repro.py flag        --no_local_rank, and the number is read from LOCAL_RANK

No part compiles anything.
"""

import argparse
import os
import socket
import subprocess
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

DEEPSPEED = ["deepspeed.launcher.runner", "--num_gpus", "2"]
TORCH = ["torch.distributed.launch", "--nproc-per-node", "2"]
RUNS = {
    "fail": (DEEPSPEED, ["--epochs", "1"]),
    "dash": (TORCH, ["--epochs", "1"]),
    "deepspeed": (DEEPSPEED, ["--epochs", "1", "--deepspeed", "--deepspeed_config", "ds_config.json"]),
    "typo": (DEEPSPEED, ["--epoch_count", "1"]),
    "fix": (TORCH, ["--epochs", "1"]),
    "flag": ([*DEEPSPEED, "--no_local_rank"], ["--epochs", "1"]),
}
SPELLINGS = {
    "fail": [],
    "dash": ["--local_rank"],
    "deepspeed": ["--local_rank"],
    "typo": ["--local_rank"],
    "fix": ["--local_rank", "--local-rank"],
    "flag": [],
}


def worker(name, arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    if SPELLINGS[name]:
        parser.add_argument(*SPELLINGS[name], type=int, default=-1)
    parser.parse_args(arguments)
    print(f"local rank {os.environ['LOCAL_RANK']} parsed its arguments", flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return str(probe.getsockname()[1])


def main():
    if os.environ.get("REPRO_PART"):
        worker(os.environ["REPRO_PART"], sys.argv[1:])
        return
    if len(sys.argv) != 2 or sys.argv[1] not in RUNS:
        sys.exit(f"usage: python repro.py {'|'.join(RUNS)}")
    launcher, arguments = RUNS[sys.argv[1]]
    port = ["--master_port", free_port()]
    command = [sys.executable, "-m", *launcher, *port, os.path.abspath(__file__), *arguments]
    code = subprocess.run(command, env={**os.environ, "REPRO_PART": sys.argv[1]}).returncode
    if sys.argv[1] == "fix" and code == 0:
        print("repaired: both processes parsed their arguments")
    sys.exit(code)


if __name__ == "__main__":
    main()
