# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Use a parameter that ZeRO-3 never registered, on a CPU: 'Parameter' object has no attribute 'ds_...'.

Written for deepspeed 0.19.8, transformers 5.24.0, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail       a head replaces its parameter in its first evaluation pass
    python repro.py resize     resize_token_embeddings after deepspeed.initialize
    python repro.py count      the trainable parameters are counted by ds_numel while no engine exists
    python repro.py fix        the head normalizes at each use and keeps its parameter
    python repro.py order      resize first, then deepspeed.initialize
    python repro.py empty      the look-alike: a parameter without elements has the attributes, and is not available

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "resize", "count", "fix", "order", "empty")
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
    "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
}


def small_network(mode):
    import torch

    class NormalizedHead(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(8, 8))
            self.first_evaluation = True

        def forward(self, x):
            weight = torch.nn.functional.normalize(self.weight)
            if mode == "fail" and not self.training and self.first_evaluation:
                self.first_evaluation = False
                self.weight = torch.nn.Parameter(weight)
            return torch.nn.functional.linear(x, weight).sum()

    layers = [torch.nn.Linear(8, 8), NormalizedHead()]
    if mode == "empty":
        layers.insert(1, torch.nn.Linear(8, 0, bias=False))
    return torch.nn.Sequential(*layers)


def small_llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2
    )
    return LlamaForCausalLM(config)


def start(model):
    import deepspeed

    return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIG)[0]


def run_llama(mode):
    import torch
    from transformers.integrations import HfDeepSpeedConfig

    announced = HfDeepSpeedConfig(CONFIG)  # transformers keeps a weak reference: hold on to it
    model = small_llama()
    if mode == "order":
        model.resize_token_embeddings(70, mean_resizing=False)
    engine = start(model)
    if mode == "resize":
        model.resize_token_embeddings(70, mean_resizing=False)
    x = torch.arange(8).reshape(1, 8)
    engine.backward(engine(input_ids=x, labels=x).loss)
    engine.step()
    return engine, announced


def run_small(mode):
    import torch

    model = small_network(mode)
    if mode == "count":
        print(f"trainable: {sum(p.ds_numel for p in model.parameters() if p.requires_grad)}", flush=True)
    engine = start(model)
    x = torch.ones(1, 8)
    for _ in range(2):
        engine.train()
        engine.backward(engine(x).sum())
        engine.step()
        engine.eval()
        with torch.no_grad():
            engine(x)
    return engine, None


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
    engine, _ = run_llama(mode) if mode in ("resize", "order") else run_small(mode)
    if mode == "fix" and engine.global_rank == 0:
        print("repaired: training and evaluation alternate", flush=True)
    print(f"[rank{engine.global_rank}] {mode}: done", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
