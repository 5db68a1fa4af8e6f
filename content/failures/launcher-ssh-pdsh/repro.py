# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8"]
# ///
"""Let the deepspeed runner fail between hostfile and ssh, in six ways, and start two nodes without ssh.

Written for deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs an ssh client, no server, pdsh only where it says so, no GPU. The host
names end in .invalid, which never resolves.

    python repro.py fail         the check of the first host: was not reachable via ssh
    python repro.py one-host     the same with a hostfile of one line, on a single machine
    python repro.py address      --no_ssh_check without --master_addr: ssh is asked for the address
    python repro.py no-pdsh      check skipped, address given, and pdsh is not installed
    python repro.py pdsh         the same where pdsh is installed: it reports ssh's exit code 255 for each host
    python repro.py bad-line     a line that is not 'host slots=N'
    python repro.py script       the launch is fine, the script on one node is not
    python repro.py fix          --no_ssh: the command is started once per node, and both meet

No part compiles anything.
"""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

TWO = "node-a.invalid slots=1\nnode-b.invalid slots=1\n"


def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return str(probe.getsockname()[1])


def command(hostfile, *options, part="worker"):
    path = pathlib.Path(tempfile.mkdtemp()) / "hostfile"
    path.write_text(hostfile)
    runner = [sys.executable, "-m", "deepspeed.launcher.runner", "--hostfile", str(path), "--no_local_rank"]
    return [*runner, *options, os.path.abspath(__file__), part]


def run(hostfile, *options):
    sys.exit(subprocess.run(command(hostfile, *options)).returncode)


def nodes(part):
    """Both nodes' commands on this machine, as an orchestrator would start one on each."""
    common = ["--no_ssh", "--master_addr", "127.0.0.1", "--master_port", free_port()]
    started = [subprocess.Popen(command(TWO, *common, "--node_rank", str(n), part=part)) for n in range(2)]
    code = max(node.wait() for node in started)
    if part == "worker" and code == 0:
        print("repaired: both nodes' ranks met, without ssh")
    sys.exit(code)


def worker(fails):
    import torch.distributed as dist

    dist.init_process_group("gloo")
    print(f"rank {dist.get_rank()} of {dist.get_world_size()} met", flush=True)
    if fails and dist.get_rank() == 1:
        raise FileNotFoundError("/data/train.bin is not on this node")
    dist.destroy_process_group()


def main():
    parts = {
        "fail": lambda: run(TWO),
        "one-host": lambda: run("node-a.invalid slots=1\n"),
        "address": lambda: run(TWO, "--no_ssh_check"),
        "no-pdsh": lambda: run(TWO, "--no_ssh_check", "--master_addr", "192.0.2.1"),
        "pdsh": lambda: run(TWO, "--no_ssh_check", "--master_addr", "192.0.2.1"),
        "bad-line": lambda: run("node-a.invalid:1\n"),
        "script": lambda: nodes("failing-worker"),
        "fix": lambda: nodes("worker"),
        "worker": lambda: worker(fails=False),
        "failing-worker": lambda: worker(fails=True),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
