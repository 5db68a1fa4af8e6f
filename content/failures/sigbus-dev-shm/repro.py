# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Fill a small /dev/shm: one rank dies of SIGBUS without a word, and PyTorch's DataLoader gets an error instead.

Written for torch 2.13.0+cpu, deepspeed 0.19.8, Python 3.11. Linux, with the right to make a user and mount namespace
(`unshare --map-root-user --mount true` succeeds); /dev/shm of the machine itself is not touched. Two ranks, no GPU.

    python repro.py fail        /dev/shm of 16 MiB, 64 MiB mapped by rank 1, DeepSpeed launcher: return code = -7
    python repro.py torchrun    the same under torchrun: exitcode -7, Signal 7 (SIGBUS)
    python repro.py dataloader  a DataLoader worker in the same /dev/shm: an error with the file's name, no signal
    python repro.py truncated   the same signal with ample /dev/shm: a mapped file was cut short by somebody else
    python repro.py fix         the first script with /dev/shm of 160 MiB
"""

import os
import subprocess
import sys
import time

MIB = 2**20
SIZES = {"fail": 16, "torchrun": 16, "dataloader": 16, "truncated": 160, "fix": 160}


def map_and_write():
    """What a communication library does: set a file's length in /dev/shm, map it, write. Rank 0 waits."""
    from multiprocessing.shared_memory import SharedMemory

    rank = int(os.environ["RANK"])
    if rank == 1:
        segment = SharedMemory(create=True, size=64 * MIB)
        print("rank 1: 64 MiB of shared memory mapped", flush=True)
        segment.buf[:] = bytes(64 * MIB)
        print("repaired: rank 1 wrote 64 MiB of shared memory", flush=True)
        segment.close()
        segment.unlink()
    elif SIZES[os.environ["REPRO_PART"]] == 16:
        time.sleep(20)


def read_truncated_file():
    """Map a file, cut it as another process would that rewrites it, and read on."""
    import mmap
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(bytes(MIB))
        file.flush()
        view = mmap.mmap(file.fileno(), MIB)
        os.ftruncate(file.fileno(), 0)
        print("the file is shorter than its mapping", flush=True)
        print(view[0], flush=True)


def load_batches():
    import torch

    class Frames(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return torch.zeros(16 * MIB, dtype=torch.uint8)

    for batch in torch.utils.data.DataLoader(Frames(), batch_size=4, num_workers=1):
        print(tuple(batch.shape), flush=True)


def launch(part):
    """Start the ranks inside a mount namespace of their own, whose /dev/shm is as small as the part says."""
    if part in ("dataloader", "truncated"):
        command = [sys.executable, __file__]
    elif part == "torchrun":
        command = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            "2",
            __file__,
        ]
    else:
        command = [sys.executable, "-m", "deepspeed.launcher.runner", "--num_accelerators", "2", __file__]
    shell = f'mount -t tmpfs -o size={SIZES[part]}m tmpfs /dev/shm && exec "$@"'
    namespace = ["unshare", "--map-root-user", "--mount", "sh", "-c", shell, "sh"]
    environment = {"DS_ACCELERATOR": "cpu", **os.environ, "REPRO_PART": part}
    sys.exit(subprocess.run([*namespace, *command], env=environment, check=False).returncode)


def main():
    if "REPRO_PART" not in os.environ:
        if len(sys.argv) != 2 or sys.argv[1] not in SIZES:
            sys.exit(f"usage: python repro.py {'|'.join(SIZES)}")
        launch(sys.argv[1])
    elif os.environ["REPRO_PART"] == "dataloader":
        load_batches()
    elif os.environ["REPRO_PART"] == "truncated":
        read_truncated_file()
    else:
        map_and_write()


if __name__ == "__main__":
    main()
