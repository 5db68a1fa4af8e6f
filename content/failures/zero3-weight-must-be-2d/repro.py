# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Use a weight that ZeRO-3 has put away, in five ways, and show repairs.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail     a frozen model built under zero.Init and never given to deepspeed.initialize
    python repro.py outside  a weight of a trained engine, used by a function outside any forward
    python repro.py bypass   a submodule's forward() called directly outside the engine, so no hook runs
    python repro.py inflight a second forward takes another path and meets a weight that is being prefetched
    python repro.py load     a full state dict loaded into an initialized model
    python repro.py layers   what other layers say of the same empty weight; ends normally
    python repro.py fix      the uses of fail, outside and bypass, repaired

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
    "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
}
FROZEN_CONFIG = {key: value for key, value in CONFIG.items() if key != "optimizer"}


def build_model():
    import torch

    return torch.nn.Sequential(torch.nn.Embedding(16, 8), torch.nn.Linear(8, 16))


def frozen_model():
    import deepspeed

    with deepspeed.zero.Init(config_dict_or_path=FROZEN_CONFIG):
        return build_model().eval().requires_grad_(False)


def engine():
    import deepspeed

    model = build_model()
    return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIG)[0]


def token_ids():
    import torch

    return torch.tensor([[1, 2, 3]])


def fail():
    reference = frozen_model()
    weight = reference[0].weight
    print(f"embedding weight: shape {tuple(weight.shape)}, ds_shape {tuple(weight.ds_shape)}", flush=True)
    reference(token_ids())


def outside():
    import torch

    torch.nn.functional.embedding(token_ids(), engine().module[0].weight)


def bypass():
    trained = engine()
    trained(token_ids())
    trained.module[0].forward(token_ids())


def inflight():
    import deepspeed
    import torch

    class TwoPaths(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(16, 8)
            self.head = torch.nn.Linear(8, 16)

        def forward(self, ids, by_function):
            if by_function:
                print(f"status at use: {self.table.weight.ds_status}", flush=True)
                hidden = torch.nn.functional.embedding(ids, self.table.weight)
            else:
                hidden = self.table(ids)
            return self.head(hidden)

    model = TwoPaths()
    trained = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIG)[0]
    trained(token_ids(), by_function=False)
    trained(token_ids(), by_function=True)


def load():
    import deepspeed

    model = build_model()
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    trained = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIG)[0]
    trained.module.load_state_dict(weights)


def layers():
    import deepspeed
    import torch

    inputs = torch.randn(1, 8, 8)
    modules = {
        "Linear": torch.nn.Linear(8, 8),
        "Linear, no bias": torch.nn.Linear(8, 8, bias=False),
        "LayerNorm": torch.nn.LayerNorm(8),
        "RMSNorm": torch.nn.RMSNorm(8),
        "Conv1d": torch.nn.Conv1d(8, 8, 3),
        "Conv2d": torch.nn.Conv2d(1, 8, 3),
    }
    for name, module in modules.items():
        partitioned = deepspeed.zero.Init(module=module, config_dict_or_path=FROZEN_CONFIG) and module
        try:
            partitioned(inputs)
        except RuntimeError as error:
            print(f"{name}: {error}", flush=True)


def fix():
    import deepspeed
    import torch

    frozen = deepspeed.initialize(model=frozen_model(), config=FROZEN_CONFIG)[0]
    logits = frozen(token_ids())
    trained = engine()
    weight = trained.module[0].weight
    with deepspeed.zero.GatheredParameters([weight]):
        looked_up = torch.nn.functional.embedding(token_ids(), weight)
    called = trained.module[0](token_ids())
    if deepspeed.comm.get_rank() == 0:
        shapes = [tuple(tensor.shape) for tensor in (logits, looked_up, called)]
        print(f"repaired: frozen engine {shapes[0]}, gathered weight {shapes[1]}, called module {shapes[2]}")
    deepspeed.comm.destroy_process_group()


def main():
    parts = {"fail": fail, "outside": outside, "bypass": bypass, "inflight": inflight}
    parts |= {"load": load, "layers": layers, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
