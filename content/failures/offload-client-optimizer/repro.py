# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Hand an optimizer of one's own to DeepSpeed with ZeRO-Offload, meet both gates, and pass them.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail    torch.optim.AdamW with offload_optimizer: the ZeRORuntimeException
    python repro.py gate    the same with SGD and zero_force_ds_cpu_optimizer false: the next assertion
    python repro.py fix     three ways through: named in the ds_config, forced, forced and untested

The first run of any part compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}},
}


def initialize(optimizer_class=None, **settings):
    """Returns an engine whose optimizer is a client's instance, or the one that the settings name."""
    import deepspeed
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
    client = optimizer_class(model.parameters(), lr=1e-3) if optimizer_class else None
    engine, *_ = deepspeed.initialize(
        model=model, model_parameters=model.parameters(), optimizer=client, config={**CONFIG, **settings}
    )
    return engine


def step(engine):
    import torch

    loss = engine(torch.randn(1, 8)).sum()
    engine.backward(loss)
    engine.step()
    return type(engine.basic_optimizer).__name__


def fail():
    import torch

    initialize(torch.optim.AdamW)


def gate():
    import torch

    initialize(torch.optim.SGD, zero_force_ds_cpu_optimizer=False)


def fix():
    import deepspeed
    import torch

    named = {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}
    passed = [
        step(initialize(optimizer=named)),
        step(initialize(torch.optim.AdamW, zero_force_ds_cpu_optimizer=False)),
        step(
            initialize(torch.optim.SGD, zero_force_ds_cpu_optimizer=False, zero_allow_untested_optimizer=True)
        ),
    ]
    if deepspeed.comm.get_rank() == 0:
        print(f"repaired: stepped with {', '.join(passed)}")
    deepspeed.comm.destroy_process_group()


def main():
    parts = {"fail": fail, "gate": gate, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
