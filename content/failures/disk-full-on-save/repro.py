# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let one rank's checkpoint file outgrow its limit: what torch.save says, what is left behind, what a resume meets.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU and no rights. Two ranks, ZeRO-1, gloo. A limit
on the size of files (RLIMIT_FSIZE) on rank 1 stands for the full disk: the write fails in the same place, and PyTorch's
zip writer does not print which error the system gave. `tmpfs` does it with a file system that is really full, and needs the right
to make a mount namespace.

    python repro.py fail    rank 1 cannot write its shard: unexpected pos; afterwards latest names the broken tag
    python repro.py tmpfs   torch.save alone, onto a full file system of 8 MiB, in both formats
    python repro.py inodes  the same onto a file system without a free inode: open file failed
    python repro.py resume  the broken tag is loaded: failed finding central directory
    python repro.py fix     space is checked first on all ranks; the tag before is loaded

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

PARTS = ("fail", "tmpfs", "inodes", "resume", "fix")
LIMIT = 1_000_000


def build():
    import deepspeed
    import torch

    torch.manual_seed(0)
    model = torch.nn.Linear(512, 512)
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "optimizer": {"type": "Adam", "params": {"lr": 1e-3, "torch_adam": True}},
        "zero_optimization": {"stage": 1},
    }
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    engine.backward(engine(torch.ones(1, 512)).sum())
    engine.step()
    return engine


def listing(folder):
    for root, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(root, name)
            size = os.path.getsize(path)
            print(f"{size:9d} {os.path.relpath(path, folder)}", flush=True)
    latest = os.path.join(folder, "latest")
    with open(latest) as file:
        print("latest:", file.read(), flush=True)


def save_with_little_space():
    engine = build()
    engine.save_checkpoint("ckpt", tag="step1")
    if engine.global_rank == 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    engine.save_checkpoint("ckpt", tag="step2")


def save_if_it_fits(engine, folder, tag, space):
    """Save only if every rank has room for its shard; otherwise nobody starts."""
    import torch

    need = 3 * 4 * sum(p.numel() for p in engine.module.parameters()) // engine.dp_world_size
    fits = torch.tensor([int(space > 2 * need)])
    torch.distributed.all_reduce(fits, torch.distributed.ReduceOp.MIN)
    if fits.item():
        engine.save_checkpoint(folder, tag=tag)
    return bool(fits.item())


def check_then_save():
    import torch

    engine = build()
    engine.save_checkpoint("ckpt", tag="step1")
    space = LIMIT if engine.global_rank == 1 else shutil.disk_usage("ckpt").free
    saved = save_if_it_fits(engine, "ckpt", "step2", space)
    path, _ = engine.load_checkpoint("ckpt")
    if engine.global_rank == 0:
        print(f"repaired: second save started: {saved}; loaded {path}", flush=True)
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


def save_in_both_formats(folder):
    import torch

    weights = {f"w{i}": torch.ones(1024 * 1024) for i in range(3)}
    for zip_format in (True, False):
        path = os.path.join(folder, "weights.pt")
        try:
            torch.save(weights, path, _use_new_zipfile_serialization=zip_format)
        except (RuntimeError, OSError) as error:
            stays = os.path.getsize(path) if os.path.exists(path) else "no"
            kind = "zip" if zip_format else "legacy"
            print(f"{kind} format: {error.__context__} / {error}; {stays} bytes stay", flush=True)
            if os.path.exists(path):
                os.remove(path)
    sys.exit(1)


def launch(part):
    with tempfile.TemporaryDirectory() as folder:
        ranks = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        command = [*ranks, os.path.abspath(__file__)]
        if part in ("tmpfs", "inodes"):
            options = "size=8m" if part == "tmpfs" else "size=8m,nr_inodes=1"
            shell = f'mount -t tmpfs -o {options} tmpfs {folder} && exec "$@"'
            namespace = ["unshare", "--map-root-user", "--mount", "sh", "-c", shell, "sh"]
            command = [*namespace, sys.executable, os.path.abspath(__file__)]
        step = "fail" if part == "resume" else part
        result = subprocess.run(
            [*command, step], env={**os.environ, "REPRO": folder}, cwd=folder, check=False
        )
        if part in ("fail", "resume"):
            listing(os.path.join(folder, "ckpt"))
        if part == "resume":
            result = subprocess.run(
                [*command, part], env={**os.environ, "REPRO": folder}, cwd=folder, check=False
            )
        return result.returncode


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
        sys.exit(f"usage: python repro.py {'|'.join(PARTS)}")
    part = sys.argv[1]
    if "REPRO" not in os.environ:
        sys.exit(launch(part))
    if part in ("tmpfs", "inodes"):
        save_in_both_formats(os.environ["REPRO"])
    elif part == "fail":
        save_with_little_space()
    elif part == "resume":
        build().load_checkpoint("ckpt")
    else:
        check_then_save()


if __name__ == "__main__":
    main()
