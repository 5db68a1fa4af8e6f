# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.5"]
# ///
"""Give ZeRO-1 and ZeRO-2 a trainable parameter of zero elements, in two places of the parameter group.

Written for deepspeed 0.19.5, the last release that fails, and torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks,
gloo.

    python repro.py fail      inside a rank's partition: fragment start 8 should be < fragment_end 8, in initialize
    python repro.py trailing  at the group's end: KeyError in backward
    python repro.py unused    at the group's end but not in the loss: no error
    python repro.py own       a KeyError of the script's own, after a good step
    python repro.py fix       repaired: parameters of zero elements are frozen before the optimizer is made
    python repro.py buffer    repaired: the empty tensor is a buffer

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
PARTS = ("fail", "trailing", "unused", "own", "fix", "buffer")
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
    "zero_optimization": {"stage": 1},
}


def network(part):
    import torch

    class Network(torch.nn.Module):
        """32 elements: two ranks own 16 each, and an empty parameter after the first 8 lies inside rank 0's."""

        def __init__(self):
            super().__init__()
            self.before = torch.nn.Parameter(torch.ones(8))
            if part not in ("trailing", "unused"):
                self.place()
            self.after = torch.nn.Parameter(torch.ones(24))
            if part in ("trailing", "unused"):
                self.place()

        def place(self):
            if part == "buffer":
                self.register_buffer("empty", torch.empty(0))
            else:
                self.empty = torch.nn.Parameter(torch.empty(0))

        def forward(self):
            loss = self.before.square().mean() + self.after.square().mean()
            return loss if part == "unused" else loss + self.empty.sum()

    return Network()


def train(part):
    import deepspeed

    model = network(part)
    if part in ("fix", "own"):
        for parameter in model.parameters():
            if parameter.numel() == 0:
                parameter.requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    engine, *_ = deepspeed.initialize(model=model, model_parameters=trained, config=CONFIG)
    for _ in range(2):
        engine.backward(engine())
        engine.step()
    if engine.global_rank == 0:
        said = "repaired" if part in ("fix", "buffer") else "trained"
        print(f"{said}: two steps, {sum(p.numel() for p in trained)} trainable elements", flush=True)
    if part == "own":
        names = dict(enumerate(["before", "after"]))
        print(names[2])


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
        sys.exit(f"usage: python repro.py {'|'.join(PARTS)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        os.execv(
            sys.executable, [*launcher, f"--nproc-per-node={RANKS}", os.path.abspath(__file__), sys.argv[1]]
        )
    import torch

    train(sys.argv[1])
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
