# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""ZeRO++ settings that DeepSpeed refuses: a second zero.Init under hpZ, qgZ without reduce-scatter, odd sizes.

deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks (three for `ranks`), gloo.

    python repro.py fail      two zero.Init contexts with zero_hpz_partition_size 2
    python repro.py scatter   zero_quantized_gradients with reduce_scatter false
    python repro.py ranks     zero_hpz_partition_size 2 on three ranks: 3 is not divisible by 2
    python repro.py multiple  the size check of quantized weights, called by itself: its kernels need CUDA
    python repro.py one       repaired: one zero.Init around both models
    python repro.py fix       repaired: the second context is given the group that exists
    python repro.py once      repaired: the group is created only if there is none, for a zero.Init in a library

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

WIDTH = 16


def settings(**zero):
    return {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}},
        "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0, **zero},
    }


def linear():
    import torch

    return torch.nn.Linear(WIDTH, WIDTH)


def train(model, config, said):
    import deepspeed
    import torch

    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    engine.backward(engine(torch.ones(1, WIDTH)).sum())
    engine.step()
    if engine.global_rank == 0:
        print(said, flush=True)


def two_contexts(second_group=lambda: None):
    import deepspeed
    import torch

    config = settings(zero_hpz_partition_size=2)
    with deepspeed.zero.Init(config_dict_or_path=config):
        first = linear()
    with deepspeed.zero.Init(config_dict_or_path=config, zero_param_parallel_group=second_group()):
        second = linear()
    train(torch.nn.Sequential(first, second), config, "repaired: both models are in the hpZ group")


def existing():
    from deepspeed.utils import groups

    return groups._get_zero_param_intra_parallel_group()


def once():
    from deepspeed import comm as dist
    from deepspeed.utils import groups

    create = groups._create_zero_param_parallel_group

    def create_once(size):
        size = min(size, dist.get_world_size())
        if groups._get_zero_param_intra_parallel_group() is None:
            create(size)
        elif groups._get_zero_param_intra_parallel_group_world_size() != size:
            raise ValueError(f"an hpZ group of another size exists, not {size}")

    groups._create_zero_param_parallel_group = create_once
    two_contexts()


def one():
    import deepspeed
    import torch

    config = settings(zero_hpz_partition_size=2)
    with deepspeed.zero.Init(config_dict_or_path=config):
        model = torch.nn.Sequential(linear(), linear())
    train(model, config, "repaired: both models are in one context")


def multiple():
    import torch
    from deepspeed.runtime.zero.partition_parameters import CUDAQuantizer

    CUDAQuantizer.quantize(object.__new__(CUDAQuantizer), torch.empty(2305))


def main():
    parts = {
        "fail": two_contexts,
        "scatter": lambda: train(
            linear(), settings(zero_quantized_gradients=True, reduce_scatter=False), "not reached"
        ),
        "ranks": lambda: train(linear(), settings(zero_hpz_partition_size=2), "not reached"),
        "multiple": multiple,
        "one": one,
        "fix": lambda: two_contexts(existing),
        "once": once,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        ranks = "3" if sys.argv[1] == "ranks" else "2"
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    import deepspeed
    import torch

    deepspeed.init_distributed(dist_backend="gloo")
    parts[sys.argv[1]]()
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
