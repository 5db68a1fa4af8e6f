# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "huggingface-hub==2.4.0"]
# ///
"""Export a ZeRO checkpoint whose optimizer files don't add up, and export it once they do.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. gloo.
The exporting script imports huggingface_hub, here 2.4.0.

    python repro.py fail       saved on two ranks, rank 1's file did not arrive: Expected 2, found 1
    python repro.py stale      the tag saved on two ranks, then again on one rank: Expected 1, found 2
    python repro.py mixed      a repeated save lost rank 1's new file, the old one is there: no message, mixed weights
    python repro.py nolatest   the look-alike: the script was given the tag's folder
    python repro.py fix        both files there: the export succeeds

Each part saves anew into a folder that is deleted at the end. The first run compiles DeepSpeed's shm_comm
extension, about a minute; later runs take about 20 seconds.
"""

import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "stale", "mixed", "nolatest", "fix")
TAG = "global_step1"
SHARD = "zero_pp_rank_1_mp_rank_00_optim_states.pt"


def save(folder, value):
    """Every rank: a model whose weights all have ``value``, saved under ``TAG``."""
    import deepspeed
    import torch

    model = torch.nn.Linear(8, 8, bias=False)
    torch.nn.init.constant_(model.weight, float(value))
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": {"stage": 2},
    }
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    engine.save_checkpoint(folder, tag=TAG)
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


def launch(ranks, folder, value):
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    subprocess.run([*command, os.path.abspath(__file__), "save", folder, str(value)], check=True)


def export(checkpoint, output):
    """Run the script that DeepSpeed has put into the checkpoint's folder."""
    script = os.path.join(checkpoint.removesuffix(TAG), "zero_to_fp32.py")
    return subprocess.run([sys.executable, script, checkpoint, output], check=False).returncode


def show(mode, output):
    import torch

    weight = torch.load(os.path.join(output, "pytorch_model.bin"))["weight"]
    found = sorted(set(weight.flatten().tolist()))
    said = "repaired" if mode == "fix" and found == [1.0] else "exported"
    print(f"{said}: weights {found}", flush=True)


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if "RANK" in os.environ:
        save(sys.argv[2], sys.argv[3])
    if mode not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    with tempfile.TemporaryDirectory(prefix="ckpt-") as folder:
        shard = os.path.join(folder, TAG, SHARD)
        launch(2, folder, 1)
        if mode == "fail":
            os.remove(shard)
        if mode == "stale":
            launch(1, folder, 2)
        if mode == "mixed":
            old = shutil.copy(shard, os.path.join(folder, "old"))
            launch(2, folder, 2)
            shutil.move(old, shard)
        output = os.path.join(folder, "out")
        code = export(os.path.join(folder, TAG) if mode == "nolatest" else folder, output)
        if code == 0:
            show(mode, output)
        sys.exit(code)


if __name__ == "__main__":
    main()
