# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.14.5"]
# ///
"""Leave prefetched ZeRO-3 weights in flight on a CPU, by a branch that depends on the data.

Needs deepspeed <= 0.15.2 for the failure; raised with deepspeed 0.14.5, torch 2.13.0+cpu, Python 3.11. With deepspeed
0.15.3 or later the same script ends well (tried with 0.19.8). No GPU. Two ranks, gloo.

    python repro.py fail       the last layer is skipped from the fourth batch on, after its weights were prefetched
    python repro.py eval       the same while the model is in evaluation mode
    python repro.py fix        the skipped layer runs all the same, with its output multiplied by zero
    python repro.py noprefetch stage3_prefetch_bucket_size 0: nothing is in flight
    python repro.py ranks      the look-alike: rank 1 alone takes the branch; the ranks disagree about the order

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
os.environ.setdefault("LOCAL_SIZE", "2")  # old releases would ask numactl

MODES = ("fail", "eval", "fix", "noprefetch", "ranks")
STEPS = 6


def network(mode):
    import torch

    class Branching(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.adapter = (torch.nn.Linear(64, 64) for _ in range(3))

        def forward(self, x, use_adapter):
            x = self.second(torch.relu(self.first(x)))
            if mode == "fix":
                y = self.adapter(x).sum()
                return y if use_adapter else x.sum() + 0 * y
            return self.adapter(x).sum() if use_adapter else x.sum()

    torch.manual_seed(0)
    return Branching()


def settings(mode):
    return {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": {
            "stage": 3,
            "stage3_param_persistence_threshold": 0,
            "stage3_prefetch_bucket_size": 0 if mode == "noprefetch" else 1_000_000,
        },
    }


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    mode = sys.argv[1]
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), mode])

    import deepspeed
    import torch

    model = network(mode)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=settings(mode))
    if mode == "eval":
        engine.eval()
    x = torch.ones(1, 64)
    for step in range(STEPS):
        use_adapter = step < 3 or (mode == "ranks" and engine.global_rank == 0)
        if mode == "eval":
            with torch.no_grad():
                engine(x, use_adapter)
        else:
            engine.backward(engine(x, use_adapter))
            engine.step()
        if engine.global_rank == 0:
            print(f"step {step} done", flush=True)
    if mode == "fix" and engine.global_rank == 0:
        print(f"repaired: {STEPS} steps", flush=True)
    print(
        f"[rank{engine.global_rank}] {mode}: {STEPS} steps with deepspeed {deepspeed.__version__}", flush=True
    )
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


if __name__ == "__main__":
    main()
