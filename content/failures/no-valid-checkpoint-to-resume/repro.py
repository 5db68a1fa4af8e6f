# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Resume where no DeepSpeed state was saved: with the Trainer, with DeepSpeed alone, and without DeepSpeed.

Two ranks, gloo, no GPU.

    python repro.py fail     saved with save_only_model: Can't find a valid checkpoint at …
    python repro.py latest   the global_step folder is there, the file latest is not: failed to resume
    python repro.py silent   DeepSpeed alone without latest: a warning, (None, None), and training from scratch
    python repro.py plain    the same words without DeepSpeed, from a folder without weights
    python repro.py fix      saved with everything: resumes at step 2
    python repro.py warm     what can be done with weights alone: the optimizer starts anew

The first run compiles an extension, about a minute; later runs take about half a minute.
"""

import os
import subprocess
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

PARTS = ("fail", "latest", "silent", "plain", "fix", "warm")
CONFIG = {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 2}}


def say(text):
    if os.environ["RANK"] == "0":
        print(text, flush=True)


def small_model():
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=32, **sizes))


def with_trainer(part, task, folder):
    import torch
    from transformers import LlamaForCausalLM, Trainer, TrainingArguments

    saved = f"{folder}/checkpoint-2"
    arguments = TrainingArguments(
        output_dir=folder,
        max_steps=2 if task == "save" else 4,
        save_steps=2,
        per_device_train_batch_size=1,
        save_only_model=part in ("fail", "warm"),
        deepspeed=None if part == "plain" else CONFIG | {"zero_allow_untested_optimizer": True},
        use_cpu=True,
        optim="adamw_torch",
        report_to=[],
        disable_tqdm=True,
    )
    rows = [{"input_ids": torch.arange(8), "labels": torch.arange(8)} for _ in range(16)]
    model = LlamaForCausalLM.from_pretrained(saved) if (part, task) == ("warm", "load") else small_model()
    trainer = Trainer(model=model, args=arguments, train_dataset=rows)
    trainer.train(resume_from_checkpoint=saved if task == "load" and part != "warm" else None)
    word = "repaired" if task == "load" else "saved"
    say(f"{word}: step {trainer.state.global_step}, folder holds {sorted(os.listdir(saved))}")


def with_deepspeed(folder):
    import deepspeed
    import torch

    torch.manual_seed(1)
    config = CONFIG | {"optimizer": {"type": "Adam", "params": {"torch_adam": True}}}
    model = torch.nn.Linear(8, 1)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
    returned = engine.load_checkpoint(folder)
    engine.backward(engine(torch.ones(1, 8)).sum())
    engine.step()
    say(f"load_checkpoint returned {returned}; training went on, global_steps {engine.global_steps}")


def worker(part, task, folder):
    import torch

    if part == "silent":
        with_deepspeed(folder)
    else:
        with_trainer(part, task, folder)
    torch.distributed.barrier()
    os._exit(0)  # skips gloo's teardown, which sometimes aborts a finished CPU run


def launch(part, task, folder):
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        os.path.abspath(__file__),
    ]
    return subprocess.run([*command, part, task, folder], check=False).returncode


def main():
    if "RANK" in os.environ:
        worker(*sys.argv[1:])
    if len(sys.argv) != 2 or sys.argv[1] not in PARTS:
        sys.exit(f"usage: python repro.py {'|'.join(PARTS)}")
    part = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="out-") as folder:
        if part != "silent" and launch(part, "save", folder):
            sys.exit("nothing was saved")
        if part == "latest":
            os.remove(f"{folder}/checkpoint-2/latest")
        if part == "plain":
            os.remove(f"{folder}/checkpoint-2/model.safetensors")
        sys.exit(launch(part, "load", folder))


if __name__ == "__main__":
    main()
