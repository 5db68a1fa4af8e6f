# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.14.5"]
# ///
"""Send DeepSpeedEngine.__getattr__ into endless recursion on a CPU, and the contexts that used to do it.

Raised with deepspeed 0.14.5, torch 2.13.0+cpu, Python 3.11; with deepspeed 0.19.8 `fail` passes. The nested contexts
failed up to 0.9.0 (on a GPU; these releases have no CPU path) and pass with 0.14.5 and 0.19.8. One rank, gloo, no GPU.

    python repro.py fail    an engine's attribute is asked for before torch.nn.Module.__init__ ran: the recursion itself
    python repro.py fix     the same engine class, with the base constructor called first
    python repro.py hidden  a property of the engine fails inside: `return getattr(self, name)` repeats
    python repro.py nested  zero.Init inside zero.Init, then deepspeed.initialize
    python repro.py around  zero.Init around deepspeed.initialize
    python repro.py plain   the look-alike: a module that calls itself, without any engine

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
os.environ.setdefault("LOCAL_SIZE", "1")  # old releases would ask numactl

MODES = ("fail", "fix", "hidden", "nested", "around", "plain")
CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
    "zero_optimization": {"stage": 3},
}


def step(engine):
    import torch

    engine.backward(engine(torch.ones(1, 4)).sum())
    engine.step()


def build(mode, model):
    import deepspeed
    from deepspeed.runtime.engine import DeepSpeedEngine

    class LabelledEngine(DeepSpeedEngine):
        def __init__(self, *args, **kwargs):
            if mode == "fail":
                self.__dict__["label"] = f"{getattr(self, 'label', 'unnamed')} engine"
            super().__init__(*args, **kwargs)
            self.label = "unnamed engine"

    if mode not in ("fail", "fix"):
        return deepspeed.initialize(model=model, model_parameters=model.parameters(), config=CONFIG)[0]
    config_class = deepspeed.DeepSpeedConfig(CONFIG)
    return LabelledEngine(
        args=None, model=model, model_parameters=model.parameters(), config=CONFIG, config_class=config_class
    )


def hidden():
    """Read a property whose body raises AttributeError; the engine needs no model for that."""
    import torch
    from deepspeed.runtime.engine import DeepSpeedEngine

    class NamedEngine(DeepSpeedEngine):
        def __init__(self):
            torch.nn.Module.__init__(self)

        def __del__(self):
            """Nothing was built."""

        @property
        def label(self):
            return self.nowhere

    print(NamedEngine().label)


def run(mode):
    import deepspeed
    import torch

    class Wrapper(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.forward(x) if mode == "plain" else self.inner(x)

    init = deepspeed.zero.Init
    if mode == "nested":
        with init(config_dict_or_path=CONFIG):
            with init(config_dict_or_path=CONFIG):
                inner = torch.nn.Linear(4, 4)
            model = Wrapper(inner)
        return build(mode, model)
    if mode == "around":
        with init(config_dict_or_path=CONFIG):
            return build(mode, Wrapper(torch.nn.Linear(4, 4)))
    return build(mode, Wrapper(torch.nn.Linear(4, 4)))


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    mode = sys.argv[1]
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1"]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), mode])
    if mode == "hidden":
        return hidden()

    import deepspeed
    import torch

    deepspeed.init_distributed("gloo")
    step(run(mode))
    said = "repaired" if mode == "fix" else mode
    print(f"{said}: trained a step with deepspeed {deepspeed.__version__}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
