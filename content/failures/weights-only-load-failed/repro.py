# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.15.4", "huggingface-hub==2.4.0"]
# ///
"""Save a ZeRO checkpoint with DeepSpeed 0.15.4, load it on a torch that unpickles weights only, and show repairs.

DeepSpeed 0.15.4 is the last release whose torch.load calls leave weights_only to torch. Two ranks, gloo, no GPU.
The exporting script imports huggingface_hub, here 2.4.0.

    python repro.py fail        Weights only load failed, LossScaler
    python repro.py allowlist   only the class of the message is allowed: the next one is refused
    python repro.py export      the copy of zero_to_fp32.py in the checkpoint folder fails alike
    python repro.py truncated   a look-alike: the files may be unpickled, the one of rank 1 is cut short
    python repro.py fix         repaired for this run: TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1
    python repro.py allow       repaired in the script: all three classes are allowed

Each part trains one step, saves, and loads in new processes. The first run compiles an extension, about a minute.
"""

import os
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

PARTS = ("fail", "allowlist", "export", "truncated", "fix", "allow")


def worker(part, task, folder):
    import deepspeed
    import torch

    if part in ("allowlist", "allow"):
        from deepspeed.runtime.fp16.loss_scaler import LossScaler
        from deepspeed.runtime.zero.config import ZeroStageEnum
        from deepspeed.utils.tensor_fragment import fragment_address

        classes = [LossScaler] if part == "allowlist" else [LossScaler, ZeroStageEnum, fragment_address]
        torch.serialization.add_safe_globals(classes)
    torch.manual_seed(0 if task == "save" else 1)  # the loading run starts from other weights
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"torch_adam": True, "lr": 0.1}},
        "zero_optimization": {"stage": 2},
    }
    model = torch.nn.Linear(8, 8)
    deepspeed.utils.logger.setLevel("WARNING")  # leaves out the dump of the configuration
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    deepspeed.utils.logger.setLevel("INFO")
    if task == "save":
        engine.backward(engine(torch.ones(1, 8)).sum())
        engine.step()
        engine.save_checkpoint(folder, tag="global_step1")
    else:
        path, _ = engine.load_checkpoint(folder)
        if engine.global_rank == 0:
            word = "repaired" if part in ("fix", "allow") else "rank 0"
            print(f"{word}: loaded {os.path.relpath(path, folder)}, step {engine.global_steps}", flush=True)
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


def launch(part, task, folder):
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        os.path.abspath(__file__),
    ]
    environment = dict(os.environ)
    if task == "load" and part in ("fix", "truncated"):
        environment["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
    return subprocess.run([*command, part, task, folder], env=environment, check=False).returncode


def main():
    if "RANK" in os.environ:
        worker(*sys.argv[1:])
    if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
        sys.exit(f"usage: python repro.py {'|'.join(PARTS)}")
    part = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="ckpt-") as folder:
        if launch(part, "save", folder):
            sys.exit("nothing was saved")
        if part == "truncated":
            shard = f"{folder}/global_step1/zero_pp_rank_1_mp_rank_00_optim_states.pt"
            os.truncate(shard, os.path.getsize(shard) // 2)
        if part == "export":
            script = [sys.executable, f"{folder}/zero_to_fp32.py", folder, f"{folder}/exported"]
            sys.exit(subprocess.run(script, check=False).returncode)
        sys.exit(launch(part, "load", folder))


if __name__ == "__main__":
    main()
