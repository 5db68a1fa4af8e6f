# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""DeepSpeed's MoE layer and an optimizer whose groups are not marked, and what else stops such a model at start.

deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail     one group of all parameters: None of the param groups are marked as MoE
    python repro.py frozen   the groups are split, but no expert is trainable: the same message
    python repro.py mixed    one group of all parameters, marked: All params in MoE group must be MoE params
    python repro.py unnamed  the splitting function gets a group without a name: KeyError
    python repro.py large    ep_size above the number of ranks: 2 is not divisible by 4
    python repro.py stage3   split groups under ZeRO-3: refused
    python repro.py stage0   one group without ZeRO: trains, nothing is said
    python repro.py fix      repaired: groups split before the optimizer is made
    python repro.py auto     repaired: no client optimizer, DeepSpeed splits the groups itself

The first run compiles DeepSpeed's extensions, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
WIDTH = 8


def split(parameters, name="dense"):
    from deepspeed.moe.utils import split_params_into_different_moe_groups_for_optimizer

    group = {"params": list(parameters)}
    if name:
        group["name"] = name
    return split_params_into_different_moe_groups_for_optimizer(group)


def run(groups, stage=2, ep_size=RANKS, freeze=False, client=True):
    """Train one step of a dense layer and a MoE layer; `groups` makes the optimizer's groups."""
    import deepspeed
    import torch
    from deepspeed.moe.layer import MoE

    deepspeed.init_distributed(dist_backend="gloo")
    torch.manual_seed(0)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.dense = torch.nn.Linear(WIDTH, WIDTH)
            self.moe = MoE(
                WIDTH, torch.nn.Linear(WIDTH, WIDTH), num_experts=4, ep_size=ep_size, min_capacity=0
            )

        def forward(self, x):
            out, aux, _ = self.moe(self.dense(x))
            return out.sum() + aux

    model = Model()
    if freeze:
        for name, parameter in model.named_parameters():
            parameter.requires_grad = "deepspeed_experts" not in name
    trainable = [p for p in model.parameters() if p.requires_grad]
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "zero_optimization": {"stage": stage},
        "zero_allow_untested_optimizer": True,
    }
    passed = {"optimizer": torch.optim.AdamW(groups(trainable), lr=1e-3)} if client else {}
    if not client:
        config["optimizer"] = {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}}
        passed = {"model_parameters": trainable}
    engine, *_ = deepspeed.initialize(model=model, config=config, **passed)
    engine.backward(engine(torch.ones(4, WIDTH)))
    engine.step()
    if engine.global_rank == 0:
        marks = [(g.get("name"), g.get("moe", False)) for g in engine.optimizer.param_groups]
        print(f"{'stepped' if stage == 0 else 'repaired'}: groups (name, moe): {marks}", flush=True)


def plain(parameters):
    return [{"params": parameters}]


def marked(parameters):
    return [{"params": parameters, "moe": True, "name": f"ep_size_{RANKS}"}]


def main():
    parts = {
        "fail": lambda: run(plain),
        "frozen": lambda: run(split, freeze=True),
        "mixed": lambda: run(marked),
        "unnamed": lambda: run(lambda parameters: split(parameters, name=None)),
        "large": lambda: run(split, ep_size=4),
        "stage3": lambda: run(split, stage=3),
        "stage0": lambda: run(plain, stage=0),
        "fix": lambda: run(split),
        "auto": lambda: run(None, client=False),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            str(RANKS),
        ]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()
    import torch

    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
