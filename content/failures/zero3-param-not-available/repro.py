# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let ZeRO-3 expect a weight that it never gathers, because the weight has no elements; on a CPU.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail       a module owns nothing but a parameter of zero elements
    python repro.py copied     a new parameter was made from the data of a partitioned one: empty without looking so
    python repro.py companion  the empty parameter shares its module with a real one: torch.cat() fails
    python repro.py buffer     the empty parameter became a buffer: no error
    python repro.py fix        the copy is made inside GatheredParameters: no error, right size
    python repro.py replaced   the look-alike: a parameter replaced under a running engine has no ds_status

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "copied", "companion", "buffer", "fix", "replaced")
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
    "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
}


def network(mode):
    import deepspeed
    import torch

    class Prompt(torch.nn.Module):
        def __init__(self):
            super().__init__()
            empty = torch.empty(0)
            if mode == "buffer":
                self.register_buffer("extra", empty)
            else:
                self.extra = torch.nn.Parameter(empty)
            if mode == "companion":
                self.scale = torch.nn.Parameter(torch.ones(1))

        def forward(self, x):
            return x * getattr(self, "scale", 1.0) + self.extra.sum()

    class Head(torch.nn.Module):
        def __init__(self, weight):
            super().__init__()
            self.weight = torch.nn.Parameter(weight)

        def forward(self, x):
            if mode == "replaced":
                self.weight = torch.nn.Parameter(torch.nn.functional.normalize(self.weight))
            return torch.nn.functional.linear(x, self.weight)

    body = torch.nn.Linear(8, 8)
    if mode in ("fail", "companion", "buffer"):
        return torch.nn.Sequential(body, Prompt())
    if mode == "replaced":
        return torch.nn.Sequential(body, Head(torch.ones(8, 8)))
    with deepspeed.zero.Init(config_dict_or_path=CONFIG):
        source = torch.nn.Linear(8, 8)
    if mode == "fix":
        with deepspeed.zero.GatheredParameters(source.weight):
            return torch.nn.Sequential(body, Head(source.weight.detach().clone()))
    return torch.nn.Sequential(body, Head(source.weight.detach().clone()))


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    mode = sys.argv[1]
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), mode])

    import deepspeed
    import torch

    deepspeed.init_distributed("gloo")
    model = network(mode)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIG)
    for _ in range(2):
        engine.backward(engine(torch.ones(1, 8)).sum())
        engine.step()
    sizes = {name: tuple(p.ds_shape) for name, p in engine.module.named_parameters()}
    if mode == "fix" and engine.global_rank == 0:
        print("repaired: trained two steps", flush=True)
    print(f"[rank{engine.global_rank}] {mode}: two steps; {sizes}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
