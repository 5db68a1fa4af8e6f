# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.18.9"]
# ///
"""DeepSpeedCPUAdam whose op does not build: 'object has no attribute ds_opt_adam' is printed at the end, from __del__.

Versions: torch 2.13.0+cpu, deepspeed 0.18.9 (0.3.14 to 0.19.7 print the AttributeError; 0.19.8 no longer does), one process.

    python repro.py fail   # ninja is hidden: RuntimeError, then the AttributeError; exit code 1
    python repro.py fix    # with ninja and a C++ compiler: the op is built (a minute, once) and loads
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

import torch
from deepspeed.ops.adam import DeepSpeedCPUAdam

if sys.argv[1:] == ["fail"]:
    os.environ["PATH"] = "/nonexistent"  # what an environment without ninja looks like to torch

parameter = torch.nn.Parameter(torch.zeros(8))
parameter.grad = torch.ones(8)
optimizer = DeepSpeedCPUAdam([parameter], lr=0.1)
optimizer.step()
print(f"repaired: loaded and stepped, {parameter.detach().tolist()}")
