# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Combine a PipelineModule with ZeRO-2 or ZeRO-3, see it refused, and run what is allowed.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail     two pipeline stages with ZeRO-2
    python repro.py single   one pipeline stage, ZeRO-3: refused alike, the class of the model decides
    python repro.py forward  a look-alike: calling the pipeline engine instead of train_batch()
    python repro.py fix      two pipeline stages with ZeRO-1
    python repro.py plain    the same layers with ZeRO-2 and no pipeline

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2


def layers():
    import torch

    return [torch.nn.Linear(8, 8) for _ in range(4)]


def config(zero_stage):
    return {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": 4,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": {"stage": zero_stage},
    }


def pipeline_engine(stages, zero_stage):
    import deepspeed
    import torch
    from deepspeed.pipe import PipelineModule

    deepspeed.init_distributed(dist_backend="gloo")
    model = PipelineModule(layers=layers(), num_stages=stages, loss_fn=torch.nn.MSELoss())
    return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config(zero_stage))[
        0
    ]


def fail():
    pipeline_engine(stages=2, zero_stage=2)


def single():
    pipeline_engine(stages=1, zero_stage=3)


def forward():
    import torch

    pipeline_engine(stages=2, zero_stage=1)(torch.randn(1, 8))


def fix():
    import deepspeed
    import torch

    engine = pipeline_engine(stages=2, zero_stage=1)
    batches = iter([(torch.randn(1, 8), torch.randn(1, 8)) for _ in range(4)])
    engine.train_batch(data_iter=batches)
    report(deepspeed, engine)


def plain():
    import deepspeed
    import torch

    model = torch.nn.Sequential(*layers())
    engine = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config(2))[0]
    for _ in range(4):
        engine.backward(torch.nn.functional.mse_loss(engine(torch.randn(1, 8)), torch.randn(1, 8)))
        engine.step()
    report(deepspeed, engine)


def report(deepspeed, engine):
    if deepspeed.comm.get_rank() == 0:
        stage = engine.zero_optimization_stage()
        print(f"repaired: {type(engine).__name__}, ZeRO-{int(stage)}, optimizer steps {engine.global_steps}")
    deepspeed.comm.destroy_process_group()


def main():
    parts = {"fail": fail, "single": single, "forward": forward, "fix": fix, "plain": plain}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
