# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Start DeepSpeed without the five variables that a launcher sets, and show the repairs.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU, and no mpi4py in the environment.

    python repro.py fail       no launcher, no variable set: No module named 'mpi4py'
    python repro.py four       RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set by hand, LOCAL_RANK forgotten
    python repro.py no-guess   auto_mpi_discovery=False: PyTorch names the missing variable
    python repro.py fix        repaired: all five set
    python repro.py group      repaired: PyTorch's process group is adopted, LOCAL_RANK is set besides
    python repro.py launcher   repaired: started by torchrun, two ranks

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import socket
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

ALONE = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return str(probe.getsockname()[1])


def initialize(said="initialized", **options):
    import deepspeed
    import torch

    if options:
        deepspeed.init_distributed(**options)
    model = torch.nn.Linear(8, 1)
    optimizer = {"type": "Adam", "params": {"torch_adam": True}}
    config = {"train_micro_batch_size_per_gpu": 1, "optimizer": optimizer}
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    print(f"{said}: rank {engine.global_rank} of {engine.world_size}", flush=True)
    torch.distributed.destroy_process_group()


def four():
    os.environ.update(ALONE, MASTER_PORT=free_port())
    del os.environ["LOCAL_RANK"]
    initialize()


def fix():
    os.environ.update(ALONE, MASTER_PORT=free_port())
    initialize("repaired")


def group():
    import torch

    os.environ["LOCAL_RANK"] = "0"
    rendezvous = f"tcp://127.0.0.1:{free_port()}"
    torch.distributed.init_process_group("gloo", init_method=rendezvous, rank=0, world_size=1)
    initialize()


def launcher():
    if "RANK" not in os.environ:
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
        os.execv(sys.executable, [*command, os.path.abspath(__file__), "launcher"])
    initialize()


def main():
    parts = {
        "fail": initialize,
        "four": four,
        "no-guess": lambda: initialize(auto_mpi_discovery=False),
        "fix": fix,
        "group": group,
        "launcher": launcher,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
