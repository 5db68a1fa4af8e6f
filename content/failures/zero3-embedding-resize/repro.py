# /// script
# requires-python = ">=3.11,<3.12"
# dependencies = ["torch==2.13.0", "deepspeed==0.19.8", "transformers==5.24.0", "accelerate==1.15.0"]
# ///
"""Lose the vocabulary size under ZeRO-3 by reading it from a partitioned embedding, on a CPU.

Written for transformers 5.24.0, deepspeed 0.19.8, torch 2.13.0+cpu, Python 3.11; needs no GPU. Two ranks, gloo.

    python repro.py fail    config.vocab_size is taken from weight.shape[0], which is 0: the loss can't reshape
    python repro.py check   prints the two sizes: weight.shape[0] is 0, num_embeddings is right
    python repro.py late    resize_token_embeddings after deepspeed.initialize: the engine does not know the new weight
    python repro.py fix     resize_token_embeddings before deepspeed.initialize, sizes from num_embeddings
    python repro.py labels  the look-alike: a width that is wrong by one; '[-1, 71]' and not '[-1, 0]'

The first run compiles DeepSpeed's shm_comm extension, about a minute; later runs take seconds.
"""

import os
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")

MODES = ("fail", "check", "late", "fix", "labels")
DS_CONFIG = {
    "train_micro_batch_size_per_gpu": 1,
    "optimizer": {"type": "Adam", "params": {"torch_adam": True}},
    "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0},
}
VOCABULARY, WITH_NEW_TOKEN = 64, 70


def partitioned_model():
    """A small Llama, built inside zero.Init as from_pretrained builds it under a stage 3 configuration."""
    import deepspeed
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    with deepspeed.zero.Init(config_dict_or_path=DS_CONFIG):
        return LlamaForCausalLM(config)


def prepare(mode, model):
    embedding = model.get_input_embeddings()
    if mode == "fail":
        model.config.vocab_size = embedding.weight.shape[0]
    elif mode == "check":
        print(
            f"weight.shape[0] {embedding.weight.shape[0]}, num_embeddings {embedding.num_embeddings}",
            flush=True,
        )
    elif mode in ("fix", "labels"):
        model.resize_token_embeddings(WITH_NEW_TOKEN, mean_resizing=False)
        print(
            f"config.vocab_size {model.config.vocab_size}, num_embeddings {embedding.num_embeddings}",
            flush=True,
        )


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: python repro.py {'|'.join(MODES)}")
    mode = sys.argv[1]
    if "RANK" not in os.environ:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
        os.execv(sys.executable, [*launcher, os.path.abspath(__file__), mode])

    import deepspeed
    import torch
    from transformers.integrations import HfDeepSpeedConfig

    deepspeed.init_distributed("gloo")
    announced = HfDeepSpeedConfig(DS_CONFIG)  # transformers keeps a weak reference: hold on to it
    model = partitioned_model()
    prepare(mode, model)
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=DS_CONFIG)
    if mode == "late":
        model.resize_token_embeddings(WITH_NEW_TOKEN, mean_resizing=False)
    x = torch.arange(8).reshape(1, 8)
    if mode == "labels":
        logits = engine(input_ids=x).logits
        logits.view(-1, model.config.vocab_size + 1)
    engine.backward(engine(input_ids=x, labels=x).loss)
    engine.step()
    if mode == "fix" and engine.global_rank == 0:
        print("repaired: trained a step with the new size", flush=True)
    print(f"[rank{engine.global_rank}] {mode}: trained a step; {announced.is_zero3()=}", flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
