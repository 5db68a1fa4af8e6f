# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Let the HF Trainer refuse a ds_config that contradicts its arguments, in four ways, and show the repair.

Written for transformers 5.24.0, accelerate 1.15.0, deepspeed 0.19.8, torch 2.13.0+cpu; needs no GPU and no
network: the model is made from a configuration. Two ranks, gloo.

    python repro.py fail      micro-batch and learning rate differ between file and arguments
    python repro.py string    "1.0" in quotes against 1.0: both sides print the same number
    python repro.py twice     a second train() with another number of steps on the same Trainer
    python repro.py evaluate  ZeRO-3, evaluate() before train(): total_num_steps=0 against the real number
    python repro.py absent    keys that the file does not have are not compared
    python repro.py fix       every shared value is "auto"

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys
import tempfile

os.environ.setdefault("DS_ACCELERATOR", "cpu")

RANKS = 2
AUTO = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "optimizer": {"type": "AdamW", "params": {"lr": "auto", "weight_decay": "auto", "torch_adam": True}},
    "scheduler": {
        "type": "WarmupDecayLR",
        "params": {
            "total_num_steps": "auto",
            "warmup_min_lr": "auto",
            "warmup_max_lr": "auto",
            "warmup_num_steps": "auto",
        },
    },
    "zero_optimization": {"stage": 2},
}


def make_trainer(config, **arguments):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

    tiny = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
    model = LlamaForCausalLM(LlamaConfig(**tiny, num_attention_heads=2, num_key_value_heads=2))
    rows = [{"input_ids": torch.arange(8), "labels": torch.arange(8)} for _ in range(64)]
    settings = {
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 4,
        "learning_rate": 1e-4,
        "max_steps": 1,
    }
    args = TrainingArguments(
        tempfile.mkdtemp(),
        use_cpu=True,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
        deepspeed=config,
        **{**settings, **arguments},
    )
    return Trainer(model, args, train_dataset=rows)


def fail():
    optimizer = {"type": "AdamW", "params": {"lr": 3e-5, "torch_adam": True}}
    config = {**AUTO, "train_batch_size": 16, "train_micro_batch_size_per_gpu": 4, "optimizer": optimizer}
    make_trainer(config).train()


def string():
    optimizer = {"type": "AdamW", "params": {"lr": "1e-4", "torch_adam": True}}
    make_trainer({**AUTO, "optimizer": optimizer, "gradient_clipping": "1.0"}).train()


def twice():
    trainer = make_trainer(AUTO)
    trainer.train()
    trainer.args.max_steps = 2
    trainer.train()


def evaluate():
    trainer = make_trainer({**AUTO, "zero_optimization": {"stage": 3}})
    trainer.evaluate(trainer.train_dataset)
    trainer.train()


def absent():
    config = {k: v for k, v in AUTO.items() if not k.startswith(("train_", "gradient_"))}
    trainer = make_trainer({**config, "train_micro_batch_size_per_gpu": 2})
    trainer.train()
    report(trainer)


def fix():
    trainer = make_trainer(AUTO)
    trainer.train()
    report(trainer, "repaired")


def report(trainer, said="accepted"):
    engine = trainer.accelerator.deepspeed_engine_wrapped.engine
    if trainer.args.process_index == 0:
        print(
            f"{said}: micro {engine.train_micro_batch_size_per_gpu()}, "
            f"accumulation {engine.gradient_accumulation_steps()} (arguments: "
            f"{trainer.args.gradient_accumulation_steps}), clipping {engine.gradient_clipping()} "
            f"(arguments: {trainer.args.max_grad_norm})"
        )


def main():
    parts = {
        "fail": fail,
        "string": string,
        "twice": twice,
        "evaluate": evaluate,
        "absent": absent,
        "fix": fix,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(f"usage: python repro.py {'|'.join(parts)}")
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), sys.argv[1]])
    parts[sys.argv[1]]()


if __name__ == "__main__":
    main()
