# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = ["nvidia-nccl-cu12==2.28.9"]
# ///
"""Ask NCCL for a communicator's id, as rank 0 does, where no interface fits, and where one does.

Written for the NCCL 2.28.9 of nvidia-nccl-cu12, Python 3.11, Linux. Needs no GPU: NCCL looks for its interface before it
looks for one. `empty` needs the right to make a network namespace (`unshare --map-root-user --net true` succeeds).

    python repro.py fail    NCCL_SOCKET_IFNAME names an interface that is not there
    python repro.py space   a list with `lo` behind a space, which belongs to the name
    python repro.py family  `lo` is there, and IPv6 is asked for: its only IPv6 address is a loopback
    python repro.py empty   a network without any address, and no variable
    python repro.py fix     a list with one name that is there
"""

import ctypes
import importlib.util
import os
import subprocess
import sys

VALUES = {
    "fail": {"NCCL_SOCKET_IFNAME": "absent0"},
    "space": {"NCCL_SOCKET_IFNAME": "absent0, lo"},
    "family": {"NCCL_SOCKET_IFNAME": "lo", "NCCL_SOCKET_FAMILY": "AF_INET6"},
    "empty": {},
    "fix": {"NCCL_SOCKET_IFNAME": "absent0,lo"},
}


def ask():
    """End as the rank would, with NCCL's words."""
    folder = importlib.util.find_spec("nvidia.nccl").submodule_search_locations[0]
    nccl = ctypes.CDLL(os.path.join(folder, "lib", "libnccl.so.2"))
    nccl.ncclGetErrorString.restype = nccl.ncclGetLastError.restype = ctypes.c_char_p
    result = nccl.ncclGetUniqueId(ctypes.create_string_buffer(128))
    if result:
        said = nccl.ncclGetErrorString(result).decode(), nccl.ncclGetLastError(None).decode()
        sys.exit("NCCL error: {}\nLast error:\n{}".format(*said))
    print("repaired: NCCL made an id")


def main():
    if sys.argv[1:] == ["ask"]:
        ask()
        return
    if len(sys.argv) != 2 or sys.argv[1] not in VALUES:
        sys.exit(f"usage: python repro.py {'|'.join(VALUES)}")
    part = sys.argv[1]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NCCL_")}
    command = [sys.executable, os.path.abspath(__file__), "ask"]
    if part == "empty":
        command = ["unshare", "--map-root-user", "--net", *command]
    sys.exit(subprocess.run(command, env={**clean, **VALUES[part], "NCCL_DEBUG": "INFO"}).returncode)


if __name__ == "__main__":
    main()
