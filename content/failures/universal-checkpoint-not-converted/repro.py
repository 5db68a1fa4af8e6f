# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Convert and load universal checkpoints wrongly, then rightly.

Saves on two ranks, loads on one; gloo, no GPU.

    python repro.py fail       ZeRO-2, converted without --inject_missing_state: the converter refuses
    python repro.py missing    load_universal for a folder that was never converted
    python repro.py tag        load_universal with the tag of the ordinary folder
    python repro.py setting    the converted folder by its tag, load_universal not set
    python repro.py nested     --input_folder is the parent of the tag
    python repro.py fix        converted with --inject_missing_state, loaded with load_universal

The first run compiles an extension, about a minute; later runs take about half a minute.
"""

import os
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

PARTS = ("fail", "missing", "tag", "setting", "nested", "fix")
CONVERTED = ("setting", "fix")
TAGS = {"tag": "global_step1", "setting": "global_step1_universal"}


def worker(part, task, folder):
    import deepspeed
    import torch

    torch.manual_seed(0 if task == "save" else 1)  # the loading run starts from other weights
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True, "lr": 0.1}},
        "zero_optimization": {"stage": 2},
        "checkpoint": {"load_universal": task == "load" and part != "setting"},
    }
    model = torch.nn.Linear(8, 8)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    if task == "save":
        engine.backward(engine(torch.ones(1, 8)).sum())
        engine.step()
        engine.save_checkpoint(folder, tag="global_step1")
    else:
        engine.load_checkpoint(folder, tag=TAGS.get(part))
    if engine.global_rank == 0:
        total = round(sum(p.double().abs().sum().item() for p in model.parameters()), 4)
        word = "repaired" if part == "fix" and task == "load" else task
        print(f"{word}: step {engine.global_steps}, sum of |weights| {total}", flush=True)
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


def launch(ranks, *arguments):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    return subprocess.run([*launcher, os.path.abspath(__file__), *arguments], check=False).returncode


def convert(part, folder):
    source = folder if part == "nested" else f"{folder}/global_step1"
    command = [sys.executable, "-m", "deepspeed.checkpoint.ds_to_universal", "--input_folder", source]
    command += ["--output_folder", f"{folder}/global_step1_universal"]
    command += ["--num_extract_workers", "1", "--num_merge_workers", "1"]
    command += [] if part == "fail" else ["--inject_missing_state"]
    return subprocess.run(command, check=False).returncode


def main():
    if "RANK" in os.environ:
        worker(*sys.argv[1:])
    if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
        sys.exit(f"usage: python repro.py {'|'.join(PARTS)}")
    part = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="ckpt-") as folder:
        if launch(2, part, "save", folder):
            sys.exit("nothing was saved")
        if part in ("fail", "nested"):
            sys.exit(convert(part, folder))
        if part in CONVERTED and convert(part, folder):
            sys.exit("nothing was converted")
        sys.exit(launch(1, part, "load", folder))


if __name__ == "__main__":
    main()
