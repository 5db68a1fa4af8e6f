# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let two ranks take different experts under ZeRO-3 on a CPU: a stall, or weights mixed from two experts.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo, a limit of 15 seconds.

    python repro.py fail      rank 0 needs one expert more than rank 1: the ranks' gathers no longer pair up
    python repro.py mixed     as many experts on each rank, but other ones: no error in the first pass, wrong weights
    python repro.py traced    the same over several steps: DeepSpeed notices when it compares the recorded orders
    python repro.py fix       the block is a leaf module: all its weights are gathered together, on every rank
    python repro.py touch     every expert runs on every rank, unused ones on a zero weight
    python repro.py config    leaf modules from the configuration (deepspeed 0.18.0 or later)

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import datetime
import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "mixed", "traced", "fix", "touch", "config")
STEPS = {"mixed": 1, "traced": 3}


def chosen(mode, rank):
    """Which experts the tokens of a rank go to."""
    return ({0}, {1})[rank] if mode in ("mixed", "traced") else ({0, 1}, {0})[rank]


def network(mode, rank):
    import torch

    class SparseBlock(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.experts = torch.nn.ModuleList(torch.nn.Linear(64, 64, bias=False) for _ in range(4))

        def forward(self, x):
            out = torch.zeros_like(x)
            for i, expert in enumerate(self.experts):
                if i in chosen(mode, rank):
                    out = out + expert(x)
                elif mode == "touch":
                    out = out + 0.0 * expert(x)
            return out

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.block, self.last = torch.nn.Linear(64, 64), SparseBlock(), torch.nn.Linear(64, 8)

        def forward(self, x):
            return self.last(self.block(self.first(x)))

    torch.manual_seed(0)
    return Model()


def settings(mode):
    zero = {"stage": 3, "stage3_param_persistence_threshold": 0}
    if mode == "config":
        zero["leaf_module"] = {"classes": ["SparseBlock"]}
    return {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": zero,
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

    rank = int(os.environ["RANK"])
    deepspeed.init_distributed("gloo", timeout=datetime.timedelta(seconds=15))
    x = torch.ones(1, 64)
    expected = network(mode, rank)(x).detach()
    model = network(mode, rank)
    if mode == "fix":
        block = type(model.block)
        deepspeed.utils.set_z3_leaf_modules(model, [block])
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=settings(mode))
    for step in range(STEPS.get(mode, 3)):
        out = engine(x)
        if step == 0:
            same = torch.allclose(out.detach(), expected, atol=1e-5)
            repaired = mode == "fix" and same
            print(f"[rank{rank}] {mode}: first output equals the unpartitioned model's: {same}", flush=True)
        engine.backward(out.sum())
        engine.step()
    if rank == 0 and repaired:
        print("repaired: all steps end, and the output is right", flush=True)
    print(f"[rank{rank}] {mode}: done", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
