# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let rank 0 find its rendezvous port taken, in three ways, and show what is not a reason and what repairs it.

Written for torch 2.13.0+cpu, deepspeed 0.19.8, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail       another process listens on the port
    python repro.py twice      the same launcher command started twice on one node, as srun does with two tasks
    python repro.py source     the port is the source port of somebody's outgoing connection
    python repro.py time-wait  a port with accepted connections in TIME_WAIT is taken without complaint
    python repro.py fix        a free port is chosen first

No part compiles anything.
"""

import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time

os.environ.setdefault("DS_ACCELERATOR", "cpu")


def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def listener(port):
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("", port))
        server.listen()
        yield server


def command(port):
    launcher = [sys.executable, "-m", "deepspeed.launcher.runner", "--num_gpus", "2", "--no_local_rank"]
    return [*launcher, "--master_port", str(port), os.path.abspath(__file__), "worker"]


def run(port):
    """Start the launcher and end as it does."""
    code = subprocess.run(command(port)).returncode
    if code:
        sys.exit(code)


def fail():
    port = free_port()
    with listener(port):
        run(port)


def twice():
    port = free_port()
    os.environ["HOLD_SECONDS"] = "12"  # as long as a real run holds its store, in small
    both = [subprocess.Popen(command(port)) for _ in range(2)]
    for launcher in both:
        try:
            launcher.wait(timeout=60)
        except subprocess.TimeoutExpired:
            launcher.terminate()
            launcher.wait()
    sys.exit(max(launcher.returncode for launcher in both))


def source():
    port = free_port()
    with listener(0) as server, socket.socket() as client:
        client.bind(("127.0.0.1", port))
        client.connect(("127.0.0.1", server.getsockname()[1]))
        run(port)


def time_wait():
    port = free_port()
    with listener(port) as server, socket.create_connection(("127.0.0.1", port)) as client:
        connection, _ = server.accept()
        connection.close()  # the side that closes first keeps TIME_WAIT
        client.recv(1)
    rows = [row.split() for row in pathlib.Path("/proc/net/tcp").read_text().splitlines()]
    waiting = [row for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "06"]
    print(f"{len(waiting)} connection in TIME_WAIT on the port", flush=True)
    run(port)


def fix():
    port = free_port()
    run(port)
    print("repaired: two ranks met on a port that was free")


def worker():
    import torch.distributed as dist

    dist.init_process_group("gloo")
    print(f"rank {dist.get_rank()} of {dist.get_world_size()} met", flush=True)
    time.sleep(float(os.environ.get("HOLD_SECONDS", "0")))
    dist.destroy_process_group()


def main():
    parts = {
        "fail": fail,
        "twice": twice,
        "source": source,
        "time-wait": time_wait,
        "fix": fix,
        "worker": worker,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
