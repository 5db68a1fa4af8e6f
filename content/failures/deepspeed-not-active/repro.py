# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""One script, two ways to start it: without DeepSpeed each rank holds all optimizer state, with it a slice.

Written for torch 2.13.0+cpu, deepspeed 0.19.8, accelerate 1.15.0, Python 3.11; needs no GPU. Two ranks, gloo.
accelerate 1.15.0 asks for the version of transformers (here 5.24.0) when it prepares for DeepSpeed, so that is needed.

    python repro.py fail   torchrun alone: the model is a DistributedDataParallel, and the guard stops the run
    python repro.py fix    the same with what `accelerate launch --use_deepspeed` puts into the environment

Both parts write the same ds_config.json; only in `fix` somebody reads it. The first run of
`fix` compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import json
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
DS_CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2},
    "zero_allow_untested_optimizer": True,
}


def state_elements(optimizer):
    """Elements of Adam's moments that this rank holds after a step."""
    import torch

    inner = getattr(optimizer, "optimizer", optimizer)
    inner = getattr(inner, "optimizer", inner)
    tensors = (value for state in inner.state.values() for value in state.values())
    return sum(value.numel() for value in tensors if torch.is_tensor(value) and value.ndim)


def guard(model):
    name = type(model).__name__
    if name != "DeepSpeedEngine":
        raise RuntimeError(f"DeepSpeed is not active: the prepared model is a {name}")


def train():
    import torch
    from accelerate import Accelerator

    accelerator = Accelerator(cpu="ACCELERATE_USE_DEEPSPEED" not in os.environ)
    model = torch.nn.Linear(256, 256)
    total = 2 * sum(parameter.numel() for parameter in model.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.utils.data.DataLoader(torch.randn(8, 256), batch_size=1)
    model, optimizer, data = accelerator.prepare(model, optimizer, data)
    accelerator.backward(model(next(iter(data)).to(next(model.parameters()).dtype)).float().sum())
    optimizer.step()
    held = state_elements(optimizer)
    kind = accelerator.distributed_type.value
    rank = torch.distributed.get_rank()
    # In one write, so that the ranks' lines don't mix.
    sys.stdout.write(f"rank {rank}: {kind}, {held} of {total} moment elements\n")
    sys.stdout.flush()
    guard(model)
    if rank == 0:
        print(f"repaired: {type(model).__name__}, ZeRO-{model.zero_optimization_stage()}", flush=True)
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("fail", "fix"):
        sys.exit("usage: python repro.py fail|fix")
    if "RANK" in os.environ:
        train()
        return
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
    command = [*launcher, os.path.abspath(__file__), sys.argv[1]]
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "ds_config.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(DS_CONFIG, file)
        environment = dict(os.environ)
        if sys.argv[1] == "fix":  # what accelerate's launcher sets when DeepSpeed was chosen
            environment["ACCELERATE_USE_DEEPSPEED"] = "true"
            environment["ACCELERATE_DEEPSPEED_CONFIG_FILE"] = config
        code = subprocess.run(command, env=environment, check=False).returncode
    sys.exit(code)


if __name__ == "__main__":
    main()
