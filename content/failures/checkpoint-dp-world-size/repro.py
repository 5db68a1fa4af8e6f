# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Save a ZeRO checkpoint on two ranks, load it on one, and see what each way out does.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. gloo.

    python repro.py fail [STAGE]       the message (STAGE 1, 2 or 3; 2 if not given)
    python repro.py elastic [STAGE]    elastic_checkpoint on: the same message
    python repro.py weights [STAGE]    load_optimizer_states=False: weights right, moments gone
    python repro.py module [STAGE]     load_module_only=True: under stage 3 nothing is loaded, without an error
    python repro.py missing [STAGE]    the look-alike: two ranks again, one shard deleted
    python repro.py fix [STAGE]        converted to a universal checkpoint: continues exactly

Each part saves anew into a folder that is deleted at the end. The first run compiles DeepSpeed's shm_comm
extension, about a minute; later runs take about 20 seconds.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "elastic", "weights", "module", "missing", "fix")
ARGUMENTS = {"weights": {"load_optimizer_states": False}, "module": {"load_module_only": True}}


def settings(mode, stage):
    zero = {"stage": stage, "stage3_param_persistence_threshold": 0}
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True, "lr": 0.1}},
        "zero_optimization": zero,
    }
    if mode == "elastic":
        zero["elastic_checkpoint"] = True
    if mode == "fix":
        config["checkpoint"] = {"load_universal": True}
    return config


def worker(mode, stage, folder):
    import deepspeed
    import torch

    torch.manual_seed(0 if mode == "save" else 1)  # a loading run starts from other weights
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
    engine, *_ = deepspeed.initialize(
        model=model, model_parameters=model.parameters(), config=settings(mode, stage)
    )

    def weights():
        with deepspeed.zero.GatheredParameters(list(engine.module.parameters())):
            return round(sum(p.double().abs().sum().item() for p in engine.module.parameters()), 4)

    def step():
        engine.backward(engine(torch.ones(1, 8)).sum())
        engine.step()

    if mode == "save":
        for _ in range(3):
            step()
        engine.save_checkpoint(folder, tag="global_step3")
    else:
        engine.load_checkpoint(folder, **ARGUMENTS.get(mode, {}))
    loaded = weights()
    step()
    stepped = weights()  # on every rank: it gathers
    expected = Path(folder, "expected.json")
    if mode == "save" and engine.global_rank == 0:
        expected.write_text(json.dumps([loaded, stepped]))
    if engine.global_rank == 0:
        print(f"{mode}: sum of |weights| {loaded}, after one more step {stepped}", flush=True)
    if mode == "fix" and json.loads(expected.read_text()) == [loaded, stepped]:
        print("repaired: one rank continues exactly where two ranks saved", flush=True)
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


def launch(ranks, mode, stage, folder):
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
    result = subprocess.run([*command, os.path.abspath(__file__), mode, str(stage), folder], check=False)
    return result.returncode


def convert(folder, stage):
    command = [sys.executable, "-m", "deepspeed.checkpoint.ds_to_universal"]
    folders = [
        "--input_folder",
        f"{folder}/global_step3",
        "--output_folder",
        f"{folder}/global_step3_universal",
    ]
    subprocess.run([*command, *folders, *(["--inject_missing_state"] if stage < 3 else [])], check=True)


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    stage = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    if "RANK" in os.environ:
        worker(mode, stage, sys.argv[3])
        return
    if mode not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)} [STAGE]")
    with tempfile.TemporaryDirectory(prefix="ckpt-") as folder:
        launch(2, "save", stage, folder)
        if mode == "missing":
            os.remove(f"{folder}/global_step3/zero_pp_rank_1_mp_rank_00_optim_states.pt")
        if mode == "fix":
            convert(folder, stage)
        sys.exit(launch(2 if mode == "missing" else 1, mode, stage, folder))


if __name__ == "__main__":
    main()
