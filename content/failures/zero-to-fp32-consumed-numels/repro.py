# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "huggingface-hub==2.4.0"]
# ///
"""Export a ZeRO checkpoint whose shapes and slices don't belong together, and one whose do.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. gloo.

    python repro.py fail      ZeRO-2, rank 1's optimizer file is of an older save with a larger model: consumed N of M
    python repro.py short     the same with a smaller model in that file: exceeds dimension size
    python repro.py zero3     ZeRO-3, the model-states file of rank 0 is of the older save: consumed N of M
    python repro.py reader    `parameter_alignment` slices without their record, as a script sees them that doesn't read it:
                              consumed N of M
    python repro.py silent    the same, where the padding is too small for the check: exit code 0, wrong weights
    python repro.py missing   the look-alike: rank 1's optimizer file is not there
    python repro.py fix       all files of one save: the export succeeds

Each part saves anew into a folder that is deleted at the end. The first run compiles DeepSpeed's shm_comm
extension, about a minute; later runs take about 30 seconds.
The exporting script imports huggingface_hub, here 2.4.0.
"""

import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "short", "zero3", "reader", "silent", "missing", "fix")
TAG = "global_step1"
OPTIMIZER = "zero_pp_rank_{}_mp_rank_00_optim_states.pt"
MODEL = {2: "mp_rank_00_model_states.pt", 3: "zero_pp_rank_0_mp_rank_00_model_states.pt"}


def save(folder, stage, aligned, sizes):
    """Every rank: one weight vector for each size, holding 1, 2, 3 and so on, saved under ``TAG``."""
    import deepspeed
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for number, size in enumerate(sizes, start=1):
                weight = torch.nn.Parameter(torch.full((size,), float(number)))
                self.register_parameter(f"weight{number}", weight)

    model = Model()
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
        "zero_optimization": {"stage": stage, "parameter_alignment": aligned},
    }
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    engine.save_checkpoint(folder, tag=TAG)
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


def launch(folder, stage, *sizes, aligned=False):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    arguments = [os.path.abspath(__file__), "save", folder, str(stage), str(int(aligned)), *map(str, sizes)]
    subprocess.run([*command, *arguments], check=True)


def forget_paddings(folder):
    """Leave the slices as they are and take away what the script of 0.19.5 doesn't read."""
    import torch

    for rank in (0, 1):
        path = os.path.join(folder, TAG, OPTIMIZER.format(rank))
        state = torch.load(path, weights_only=False)
        print(f"rank {rank}: paddings", state["optimizer_state_dict"].pop("param_alignment_paddings"))
        torch.save(state, path)


def export(checkpoint, output):
    """Run the script that DeepSpeed has put into the checkpoint's folder."""
    script = os.path.join(checkpoint, "zero_to_fp32.py")
    return subprocess.run([sys.executable, script, checkpoint, output], check=False).returncode


def show(mode, output):
    import torch

    weights = torch.load(os.path.join(output, "pytorch_model.bin"))
    found = {name: sorted(set(weight.tolist())) for name, weight in weights.items()}
    right = all(values == [float(name.removeprefix("weight"))] for name, values in found.items())
    said = "repaired" if mode == "fix" and right else "exported"
    print(f"{said}: {found}", flush=True)


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    if "RANK" in os.environ:
        stage, aligned, *sizes = map(int, sys.argv[3:])
        save(sys.argv[2], stage, bool(aligned), sizes)
    if mode not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    with tempfile.TemporaryDirectory(prefix="ckpt-") as folder:
        stage = 3 if mode == "zero3" else 2
        of_rank_1 = os.path.join(folder, TAG, OPTIMIZER.format(1))
        of_model = os.path.join(folder, TAG, MODEL[stage])
        foreign = {
            "fail": (of_rank_1, (64, 104)),
            "short": (of_rank_1, (64, 24)),
            "zero3": (of_model, (64, 24)),
        }
        if mode in foreign:
            path, sizes = foreign[mode]
            launch(folder, stage, *sizes)
            old = shutil.copy(path, os.path.join(folder, "old"))
            launch(folder, stage, 64, 64)
            shutil.move(old, path)
        elif mode in ("reader", "silent"):
            launch(folder, stage, *((61, 61, 64) if mode == "reader" else (62, 64)), aligned=True)
            forget_paddings(folder)
        else:
            launch(folder, stage, 64, 64)
        if mode == "missing":
            os.remove(of_rank_1)
        output = os.path.join(folder, "out")
        code = export(folder, output)
        if code == 0:
            show(mode, output)
        sys.exit(code)


if __name__ == "__main__":
    main()
