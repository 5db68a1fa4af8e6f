# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0"]
# ///
"""Have DeepSpeed's setup.py ask for an op that it cannot build, as it does on Windows by itself.

Written for deepspeed 0.8.3, torch 2.13.0, Python 3.11, Linux with a C compiler; needs no GPU. pip downloads
the source archive and runs its setup.py for the metadata; nothing is installed. Linux asks for async_io only
where DS_BUILD_AIO or DS_BUILD_OPS is set; an empty libaio.a found first stands in for the library that is
missing. Run it where only torch is installed: setup.py imports part of DeepSpeed, which fails earlier with
pydantic 2.

    python repro.py fail   DS_BUILD_AIO=1 and no libaio: Unable to pre-compile async_io
    python repro.py torch  DS_BUILD_OPS=1 and no torch: Unable to pre-compile ops without torch installed
    python repro.py fix    repaired: DS_BUILD_AIO=0, and setup.py gets through
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def metadata(**variables):
    """What ``pip install`` does first: run setup.py egg_info. Returns pip's exit code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DS_")}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "libaio.a").write_bytes(b"!<arch>\n")
        environment |= {"LDFLAGS": f"-L{folder}", **variables}
        download = ["download", "--no-deps", "--no-build-isolation", "--no-binary", ":all:", "--dest", folder]
        command = [sys.executable, "-m", "pip", *download, "--no-cache-dir", "deepspeed==0.8.3"]
        return subprocess.run(command, env=environment).returncode


def without_torch():
    """A torch that cannot be imported, before the real one on the path."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "torch.py").write_text("raise ImportError('hidden by repro.py')\n")
        return metadata(DS_BUILD_OPS="1", PYTHONPATH=folder)


def fix():
    if (code := metadata(DS_BUILD_AIO="0")) == 0:
        print("repaired: setup.py wrote its metadata without async_io", flush=True)
    return code


def main():
    parts = {"fail": lambda: metadata(DS_BUILD_AIO="1"), "torch": without_torch, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    sys.exit(parts[sys.argv[1]]())


if __name__ == "__main__":
    main()
