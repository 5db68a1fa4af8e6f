# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Raise transformers' refusal of device_map under DeepSpeed ZeRO-3 on a CPU, and load without it.

Written for transformers 5.24.0, deepspeed 0.19.8, torch 2.13.0+cpu, accelerate 1.15.0, Python 3.11; no GPU. Two ranks.

    python repro.py fail      TrainingArguments with a stage 3 configuration, then from_pretrained(device_map="auto")
    python repro.py low       the same with low_cpu_mem_usage=True: accepted and ignored by transformers 5
    python repro.py late      the model first, TrainingArguments after it: no error, and every rank holds all weights
    python repro.py fix       TrainingArguments first, no device_map: each rank holds its share
    python repro.py negative  the look-alike: device_map=-1, refused by the same function for another reason

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

MODES = ("fail", "low", "late", "fix", "negative")
DS_CONFIG = {
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
    "zero_allow_untested_optimizer": True,
}


def save_small_model(folder):
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=64, n_positions=16, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    GPT2LMHeadModel(config).save_pretrained(folder)


def arguments():
    from transformers import TrainingArguments

    return TrainingArguments(output_dir="out", use_cpu=True, deepspeed=DS_CONFIG, report_to=[])


def load(mode, folder):
    from transformers import AutoModelForCausalLM

    extra = {
        "fail": {"device_map": "auto"},
        "low": {"low_cpu_mem_usage": True},
        "negative": {"device_map": -1},
    }
    return AutoModelForCausalLM.from_pretrained(folder, **extra.get(mode, {}))


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    mode = sys.argv[1]
    if "RANK" not in os.environ:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            save_small_model(folder)
            launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
            os.environ["MODEL_FOLDER"] = folder
            sys.exit(os.spawnv(os.P_WAIT, sys.executable, [*launcher, os.path.abspath(__file__), mode]))

    folder = os.environ["MODEL_FOLDER"]
    if mode == "late":
        model, args = load(mode, folder), arguments()
    else:
        args = arguments()
        model = load(mode, folder)
    held = sum(p.numel() for p in model.parameters())
    total = sum(getattr(p, "ds_numel", p.numel()) for p in model.parameters())
    print(f"[rank{args.process_index}] {mode}: {held} of {total} weights whole on this rank", flush=True)
    if mode == "fix" and args.process_index == 0 and held < total:
        print("repaired: the weights are partitioned", flush=True)

    import torch

    if torch.distributed.is_initialized():
        torch.distributed.barrier()
        os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


if __name__ == "__main__":
    main()
