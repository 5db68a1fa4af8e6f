# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""A pipeline of two stages whose micro-batches differ in size: the engine keeps the shape of the first.

deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail     8 samples, then 4: Expected input batch_size (8) to match target batch_size (4)
    python repro.py loss     the same with a loss that ignores labels: the first stage fails instead, in backward
    python repro.py longer   4 samples, then 8: gloo refuses the longer message, and the receiver aborts
    python repro.py eval     8 samples, then 4 in eval_batch, a loss without labels: no error, another number
    python repro.py labels   the same words without a pipeline fault: labels shorter than their own inputs
    python repro.py between  repaired: sizes differ only between steps, and reset_activation_shape() is called
    python repro.py fix      repaired: PipelineModule(dynamic_shape=True)

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
WIDTH = 16


def batches(*sizes, labels=None):
    import torch

    torch.manual_seed(0)
    return iter([(torch.randn(n, WIDTH), torch.zeros(labels or n, dtype=torch.long)) for n in sizes])


def engine(dynamic=False, with_labels=True):
    import deepspeed
    import torch
    from deepspeed.pipe import PipelineModule

    deepspeed.init_distributed(dist_backend="gloo")
    torch.manual_seed(0)
    model = PipelineModule(
        layers=[torch.nn.Linear(WIDTH, WIDTH) for _ in range(2)],
        num_stages=2,
        loss_fn=torch.nn.CrossEntropyLoss() if with_labels else lambda outputs, labels: outputs.mean(),
        dynamic_shape=dynamic,
    )
    config = {
        "train_micro_batch_size_per_gpu": 8,
        "gradient_accumulation_steps": 2,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
    }
    return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)[0]


def evaluate(dynamic):
    made = engine(dynamic, with_labels=False)
    return made.eval_batch(batches(8, 4)).item()


def between():
    made = engine()
    for size in (8, 4):
        made.reset_activation_shape()
        made.train_batch(batches(size, size))
    report(made)


def fix():
    made = engine(dynamic=True)
    for sizes in ((8, 4), (4, 8)):
        made.train_batch(batches(*sizes))
    report(made)


def report(made):
    if made.global_rank == 0:
        print(f"repaired: {made.global_steps} steps, dynamic_shape {made.dynamic_shape}", flush=True)


def compare():
    import deepspeed

    kept, true = evaluate(dynamic=False), evaluate(dynamic=True)
    if deepspeed.comm.get_rank() == 0:
        print(
            f"no error: loss {kept:.6f} with the first shape kept, {true:.6f} with the true shapes",
            flush=True,
        )


def main():
    parts = {
        "fail": lambda: engine().train_batch(batches(8, 4)),
        "loss": lambda: engine(with_labels=False).train_batch(batches(8, 4)),
        "longer": lambda: engine().train_batch(batches(4, 8)),
        "eval": compare,
        "labels": lambda: engine().train_batch(batches(8, 8, labels=4)),
        "between": between,
        "fix": fix,
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
