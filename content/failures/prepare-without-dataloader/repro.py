# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Call accelerate's prepare() under DeepSpeed without what it needs to fill "auto", and show the repairs.

Written for accelerate 1.15.0, deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.
accelerate 1.15.0 asks for the version of transformers (here 5.24.0) when it prepares for DeepSpeed, so that is needed.

    python repro.py fail      prepare(model, optimizer), the micro-batch is "auto"
    python repro.py foreign   a loader that is no torch DataLoader does not count
    python repro.py sampler   a DataLoader with a batch sampler has batch_size None: the sibling message
    python repro.py apart     the loader in a call of its own does not help the call without it
    python repro.py smaller   loaders of 8 and 2 samples: the engine is told 2
    python repro.py number    repaired: an integer in the configuration
    python repro.py fix       repaired: the loader in the same call

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2


class Batches:
    """A loader of its own kind, as some data libraries have: it knows its batch size, but is no DataLoader."""

    batch_size = 4

    def __iter__(self):
        import torch

        return iter(torch.zeros(4, self.batch_size, 8))


def loader(batch_size, **options):
    import torch

    data = torch.utils.data.TensorDataset(torch.zeros(64, 8))
    return torch.utils.data.DataLoader(data, **(options or {"batch_size": batch_size}))


def accelerator(micro="auto"):
    from accelerate import Accelerator, DeepSpeedPlugin

    config = {"train_micro_batch_size_per_gpu": micro, "zero_optimization": {"stage": 2}}
    return Accelerator(deepspeed_plugin=DeepSpeedPlugin(hf_ds_config=config))


def prepare(accelerator, *loaders, said="prepared"):
    import torch

    model = torch.nn.Linear(8, 1)
    engine, *_ = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), *loaders)
    if os.environ["RANK"] == "0":
        print(f"{said}: micro-batch {engine.train_micro_batch_size_per_gpu()}", flush=True)
    accelerator.end_training()


def fail():
    prepare(accelerator())


def foreign():
    prepare(accelerator(), Batches())


def sampler():
    import torch

    order = torch.utils.data.SequentialSampler(range(64))
    prepare(accelerator(), loader(None, batch_sampler=torch.utils.data.BatchSampler(order, 4, False)))


def apart():
    one = accelerator()
    one.prepare(loader(4))
    prepare(one)


def smaller():
    prepare(accelerator(), loader(8), loader(2))


def number():
    prepare(accelerator(micro=4))


def fix():
    prepare(accelerator(), loader(4), said="repaired")


def main():
    parts = [fail, foreign, sampler, apart, smaller, number, fix]
    by_name = {part.__name__: part for part in parts}
    if len(sys.argv) != 2 or sys.argv[1] not in by_name:
        sys.exit(f"usage: python repro.py {'|'.join(by_name)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    by_name[sys.argv[1]]()


if __name__ == "__main__":
    main()
