# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let DeepSpeed refuse fp16 for a device that it counts as unable, and show what is accepted.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo. The refusal needs a CPU
for which torch.ops.mkldnn._is_mkldnn_fp16_supported() is false; on others the parts fail, undetected and inference pass.

    python repro.py fail        the CPU is chosen on purpose: Type fp16 is not supported on your device.
    python repro.py undetected  no device is named and no GPU found: a warning long before the same error
    python repro.py inference   init_inference with dtype half
    python repro.py both        fp16 and bf16 enabled: another error, from the configuration
    python repro.py inputs      bf16 is accepted, then an fp32 batch meets bf16 weights
    python repro.py fix         bf16 instead

The first run compiles DeepSpeed's shm_comm extension; later runs take seconds.
"""

import os
import sys

RANKS = 2


def initialize(inputs=None, repaired=False, **precision):
    import deepspeed
    import torch

    deepspeed.init_distributed(dist_backend="gloo")
    model = torch.nn.Linear(8, 1)
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": {"stage": 1},
        **precision,
    }
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    if torch.distributed.get_rank() == 0:
        print(f"accepted: {next(engine.parameters()).dtype}", flush=True)
    if inputs is not None:
        out = engine(torch.zeros(1, 8, dtype=getattr(torch, inputs)))
    if repaired and torch.distributed.get_rank() == 0:
        print(f"repaired: a forward pass in {out.dtype}", flush=True)
    torch.distributed.destroy_process_group()


def inference():
    import deepspeed
    import torch

    deepspeed.init_inference(torch.nn.Linear(8, 8), dtype=torch.half)


def main():
    enabled = {"enabled": True}
    parts = {
        "fail": lambda: initialize(fp16=enabled),
        "undetected": lambda: initialize(fp16=enabled),
        "inference": inference,
        "both": lambda: initialize(fp16=enabled, bf16=enabled),
        "inputs": lambda: initialize(inputs="float32", bf16=enabled),
        "fix": lambda: initialize(inputs="bfloat16", repaired=True, bf16=enabled),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    if sys.argv[1] == "undetected":
        os.environ.pop("DS_ACCELERATOR", None)
    else:
        os.environ["DS_ACCELERATOR"] = "cpu"
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
