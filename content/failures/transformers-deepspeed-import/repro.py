# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Import the DeepSpeed glue of transformers from where it was up to 4.45, and from where it is.

Written for transformers 5.24.0 (any from 4.46.0), deepspeed 0.19.8, Python 3.11; needs no GPU. Two ranks.

    python repro.py fail   from transformers.deepspeed import ...: No module named 'transformers.deepspeed'
    python repro.py name   from transformers import HfDeepSpeedConfig: a name that is not at the top
    python repro.py fix    repaired: from transformers.integrations import ...
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2


def fail():
    from transformers.deepspeed import is_deepspeed_zero3_enabled

    print(is_deepspeed_zero3_enabled(), flush=True)


def name():
    from transformers import HfDeepSpeedConfig

    print(HfDeepSpeedConfig, flush=True)


def fix():
    from transformers.integrations import HfDeepSpeedConfig, is_deepspeed_zero3_enabled

    kept = HfDeepSpeedConfig({"zero_optimization": {"stage": 3}})  # transformers holds it weakly
    if kept and os.environ["RANK"] == "0":
        print(f"repaired: ZeRO-3 is seen: {is_deepspeed_zero3_enabled()}", flush=True)


def main():
    parts = {"fail": fail, "name": name, "fix": fix}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc-per-node",
            str(RANKS),
        ]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
