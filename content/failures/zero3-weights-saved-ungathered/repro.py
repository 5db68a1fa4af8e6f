# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Save ZeRO-3 weights without gathering them, and with; on a CPU.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, transformers 5.24.0, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail      rank 0 saves module.state_dict(); loading it fails with torch.Size([0])
    python repro.py report    save_pretrained, then from_pretrained of transformers 5: a report, then RuntimeError
    python repro.py partial   default persistence threshold: small weights are whole, large ones empty
    python repro.py refused   save_16bit_model without the gather setting: no file, one log line
    python repro.py fix       save_16bit_model with the setting: the file loads and holds the trained weights
    python repro.py gather    GatheredParameters around state_dict(): the same
    python repro.py reverse   the look-alike: a whole file loaded into a ZeRO-3 model

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "report", "partial", "refused", "fix", "gather", "reverse")
WIDTH = (
    400  # 400 x 400 weights are over the default persistence threshold of 100,000 elements, biases are under
)


def build():
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH))


def build_bert():
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    return BertModel(BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=1, num_attention_heads=2))


def start(mode):
    import deepspeed

    zero = {"stage": 3, "stage3_gather_16bit_weights_on_model_save": mode == "fix"}
    if mode != "partial":
        zero["stage3_param_persistence_threshold"] = 0
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": zero,
    }
    model = build_bert() if mode == "report" else build()
    return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)[0]


def step(engine, mode):
    import torch

    x = torch.arange(8).reshape(1, 8) if mode == "report" else torch.ones(1, WIDTH)
    out = engine(x)
    engine.backward((out.last_hidden_state if mode == "report" else out).sum())
    engine.step()


def save(engine, mode, path):
    import deepspeed
    import torch

    rank0 = engine.global_rank == 0
    if mode in ("fix", "refused"):
        print(f"save_16bit_model returned {engine.save_16bit_model(*os.path.split(path))}", flush=True)
    elif mode == "gather":
        with deepspeed.zero.GatheredParameters(list(engine.module.parameters())):
            if rank0:
                torch.save({k: v.clone() for k, v in engine.module.state_dict().items()}, path)
    elif rank0 and mode == "report":
        engine.module.save_pretrained(os.path.dirname(path))
    elif rank0:
        torch.save(engine.module.state_dict(), path)


def load(mode, path):
    import torch

    if mode == "report":
        from transformers import BertModel

        BertModel.from_pretrained(os.path.dirname(path))
    state = torch.load(path)
    empty = [name for name, tensor in state.items() if tensor.numel() == 0]
    print(f"{os.path.getsize(path)} bytes; empty: {empty}", flush=True)
    fresh = build()
    before = fresh[0].weight.clone()
    fresh.load_state_dict(state)
    trained = not torch.equal(before, fresh[0].weight)
    if mode == "fix" and trained:
        print("repaired: the file loads and holds trained weights", flush=True)
    print(f"{mode}: loads; weights differ from the untrained ones: {trained}", flush=True)


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    mode = sys.argv[1]
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), mode])

    import torch

    engine = start(mode)
    step(engine, mode)
    if mode == "reverse":
        engine.module.load_state_dict(build().state_dict())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pytorch_model.bin")
        save(engine, mode, path)
        torch.distributed.barrier()
        if engine.global_rank == 0 and mode != "refused":
            load(mode, path)
        torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
