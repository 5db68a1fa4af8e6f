# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0"]
# ///
"""init_inference cuts linear layers among two ranks and misses one: mat1 and mat2 shapes cannot be multiplied.

deepspeed 0.19.8, torch 2.13.0+cpu, transformers 5.24.0, Python 3.11; needs no GPU. Two ranks, gloo. DeepSpeed
imports transformers to cut a model, any model. What kernel injection does needs CUDA and is not shown.

    python repro.py fail     automatic tensor parallelism finds one of the two layers that have to be summed
    python repro.py policy   an injection_policy that names only one of them: the same
    python repro.py unknown  a model whose name says nothing: Not able to determine model policy automatically
    python repro.py tokens   a prompt over max_out_tokens: refused since 0.11.0
    python repro.py fix      repaired: both layers named, the result equals that of the whole model

The first run compiles DeepSpeed's shm_comm extension; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
WIDTH = 16


def network(name="TinyModel"):
    """Blocks as in GPT-NeoX: the norm stands before the attention, so none follows attention.dense."""
    import torch

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.value = torch.nn.Linear(WIDTH, WIDTH)
            self.dense = torch.nn.Linear(WIDTH, WIDTH)

        def forward(self, x):
            return self.dense(self.value(x))

    class Mlp(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
            self.down = torch.nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x):
            return self.down(torch.relu(self.up(x)))

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = Attention()
            self.mlp = Mlp()
            self.norm = torch.nn.LayerNorm(WIDTH)

        def forward(self, x):
            normed = self.norm(x)
            return x + self.attention(normed) + self.mlp(normed)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([Block(), Block()])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

        def generate(self, input_ids):
            return input_ids

    torch.manual_seed(0)
    Network.__name__ = name
    return Network(), Block


def serve(policy=None, name="TinyModel"):
    import deepspeed
    import torch

    model, block = network(name)
    whole = network()[0](torch.ones(1, WIDTH))
    chosen = {} if policy is None else {"injection_policy": {block: policy}}
    engine = deepspeed.init_inference(
        model,
        tensor_parallel={"tp_size": RANKS},
        dtype=torch.float32,
        replace_with_kernel_inject=False,
        **chosen,
    )
    with torch.no_grad():
        difference = (engine(torch.ones(1, WIDTH)) - whole).abs().max().item()
    if torch.distributed.get_rank() == 0:
        print(f"repaired: differs from the whole model by {difference:.1e}", flush=True)


def tokens():
    import deepspeed
    import torch

    engine = deepspeed.init_inference(network()[0], dtype=torch.float32)
    engine.generate(input_ids=torch.zeros(1, 1100, dtype=torch.long))


def main():
    parts = {
        "fail": serve,
        "policy": lambda: serve(("mlp.down",)),
        "unknown": lambda: serve(name="Tiny"),
        "tokens": tokens,
        "fix": lambda: serve(("attention.dense", "mlp.down")),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        # DeepSpeed's sum over CPU ranks reads it; torchrun does not set it, and without it the process crashes.
        os.environ.setdefault("LOCAL_SIZE", str(RANKS))
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        os.execv(
            sys.executable,
            [*launcher, "--nproc-per-node", str(RANKS), os.path.abspath(__file__), sys.argv[1]],
        )
    import deepspeed
    import torch

    deepspeed.init_distributed(dist_backend="gloo")
    parts[sys.argv[1]]()
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
