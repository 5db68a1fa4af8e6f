# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Raise the batch-size assertion on a CPU, in three ways, and show the repair.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.
The trainer part needs transformers 5.24.0 and accelerate 1.15.0 as well.

    python repro.py fail    three numbers written down for four ranks, run on two: 32 != 4 * 2 * 2
    python repro.py early   zero.Init reads the configuration before deepspeed.comm exists: 16 != 2 * 4 * 1
    python repro.py zero    only train_batch_size given, smaller than the world: micro-batch 0
    python repro.py derive  what comes of other combinations and other worlds, printed; ends normally
    python repro.py trainer HF arguments against a half-auto ds_config under ZeRO-3: 64 != 8 * 1 * 2
    python repro.py fix     two numbers given, the third derived; comm initialized first

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2


def build_model():
    import torch

    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))


def initialize(config):
    import deepspeed

    model = build_model()
    optimizer = {"type": "Adam", "params": {"torch_adam": True}}
    engine, *_ = deepspeed.initialize(
        model=model, model_parameters=model.parameters(), config={**config, "optimizer": optimizer}
    )
    return engine


def fail():
    initialize(
        {"train_batch_size": 32, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}
    )


def early():
    import deepspeed

    config = {
        "train_batch_size": 16,  # 2 * 4 * 2 ranks: the arithmetic is right
        "train_micro_batch_size_per_gpu": 2,
        "gradient_accumulation_steps": 4,
        "zero_optimization": {"stage": 3},
    }
    with deepspeed.zero.Init(config_dict_or_path=config):
        build_model()


def zero():
    initialize({"train_batch_size": 1})


def derive():
    import deepspeed
    import deepspeed.comm as dist
    from deepspeed.runtime.config import DeepSpeedConfig

    class OneReplica:
        def get_data_parallel_world_size(self):
            return 1

    deepspeed.init_distributed(dist_backend="gloo")
    full = {
        "train_batch_size": 16,
        "train_micro_batch_size_per_gpu": 2,
        "gradient_accumulation_steps": 4,
    }
    cases = [
        ({"train_batch_size": 7}, None),
        ({"train_batch_size": 7, "train_micro_batch_size_per_gpu": 2}, None),
        ({"train_batch_size": 4, "train_micro_batch_size_per_gpu": 4}, None),
        ({"gradient_accumulation_steps": 4}, None),
        (full, OneReplica()),
        ({**full, "sequence_parallel_size": 2}, None),
        ({**full, "train_batch_size": 8, "tensor_parallel": {"autotp_size": 2}}, None),
    ]
    for config, mpu in cases:
        try:
            DeepSpeedConfig(config, mpu=mpu)
        except AssertionError as error:
            if dist.get_rank() == 0:
                print(f"{config}{' with an mpu' if mpu else ''}: {error}", flush=True)
    dist.destroy_process_group()


def trainer():
    import deepspeed
    from transformers import AutoModelForCausalLM, LlamaConfig, TrainingArguments

    deepspeed.init_distributed(dist_backend="gloo")
    arguments = TrainingArguments(
        "out",
        use_cpu=True,
        report_to="none",
        per_device_train_batch_size=8,
        gradient_accumulation_steps=4,
        deepspeed={
            "train_batch_size": "auto",
            "train_micro_batch_size_per_gpu": "auto",
            "gradient_accumulation_steps": 1,
            "zero_optimization": {"stage": 3},
        },
    )
    shape = LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=1)
    AutoModelForCausalLM.from_config(shape)
    print(f"not raised with {arguments.deepspeed}")


def fix():
    import deepspeed
    import deepspeed.comm as dist

    deepspeed.init_distributed(dist_backend="gloo")
    config = {"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}
    with deepspeed.zero.Init(config_dict_or_path={**config, "zero_optimization": {"stage": 3}}):
        build_model()
    engine = initialize(config)
    if dist.get_rank() == 0:
        print(
            f"repaired: train_batch_size {engine.train_batch_size()} = "
            f"{engine.train_micro_batch_size_per_gpu()} * {engine.gradient_accumulation_steps()} "
            f"* {engine.dp_world_size}"
        )
    dist.destroy_process_group()


def main():
    parts = {"fail": fail, "early": early, "zero": zero, "fix": fix}
    parts |= {"derive": derive, "trainer": trainer}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
