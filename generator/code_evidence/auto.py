"""What the Trainer puts in the place of 'auto' in a DeepSpeed configuration.

DeepSpeed itself knows no 'auto': transformers (``integrations/deepspeed.py``) and Accelerate fill it in from
their own arguments before DeepSpeed sees the file. The values are the Trainer's defaults, and a model with a
hidden size of 1024. Where both precisions say 'auto', it is a run with ``--bf16``.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

_HIDDEN = 1024
_VALUES: Mapping[str, Any] = {
    "train_micro_batch_size_per_gpu": 8,
    "gradient_accumulation_steps": 1,
    "gradient_clipping": 1.0,
    "bf16.enabled": True,
    "fp16.enabled": True,
    "optimizer.params.lr": 5e-5,
    "optimizer.params.betas": [0.9, 0.999],
    "optimizer.params.eps": 1e-8,
    "optimizer.params.weight_decay": 0.0,
    "scheduler.params.warmup_min_lr": 0,
    "scheduler.params.warmup_max_lr": 5e-5,
    "scheduler.params.warmup_num_steps": 1,
    "scheduler.params.total_num_steps": 1000,
    "zero_optimization.reduce_bucket_size": _HIDDEN * _HIDDEN,
    "zero_optimization.stage3_prefetch_bucket_size": int(0.9 * _HIDDEN * _HIDDEN),
    "zero_optimization.stage3_param_persistence_threshold": 10 * _HIDDEN,
}


def fill(configuration: Mapping[str, Any], ranks: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The configuration as DeepSpeed gets it, and the keys that were filled in.

    An 'auto' that neither library fills stays, and is DeepSpeed's to judge.
    """
    filled: dict[str, Any] = copy.deepcopy(dict(configuration))
    keys = [path for path, value in _VALUES.items() if _replace(filled, path, value)]
    if "bf16.enabled" in keys and "fp16.enabled" in keys:
        filled["fp16"]["enabled"] = False
    if filled.get("train_batch_size") == "auto":
        micro, steps = (
            filled.get(key, default)
            for key, default in (("train_micro_batch_size_per_gpu", 8), ("gradient_accumulation_steps", 1))
        )
        filled["train_batch_size"] = micro * steps * ranks
        keys.append("train_batch_size")
    return filled, tuple(sorted(keys))


def _replace(configuration: dict[str, Any], path: str, value: Any) -> bool:
    *above, key = path.split(".")
    node: Any = configuration
    for name in above:
        node = node.get(name) if isinstance(node, dict) else None
    if not isinstance(node, dict) or node.get(key) != "auto":
        return False
    node[key] = value
    return True
