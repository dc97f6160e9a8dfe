"""Trains an agent with TRL's GRPO trainer in an environment of Presage.

    pip install './clients/python[trl]'
    PRESAGE_API_KEY=psg_… python clients/python/examples/grpo.py MODEL

Run both in the root of a clone of Presage.
MODEL must have been trained to call tools, such as Qwen/Qwen3-0.6B. `tiny_model.py` makes one to try without a GPU.
"""

import sys

import torch
from trl import GRPOConfig, GRPOTrainer

from presage.trl import environment, tasks

has_gpu = torch.cuda.is_available()
trainer = GRPOTrainer(
    model=sys.argv[1],
    train_dataset=tasks("sandbox"),
    environment_factory=environment("sandbox"),
    args=GRPOConfig("trained", max_steps=8, num_generations=4, logging_steps=1, bf16=has_gpu, use_cpu=not has_gpu),
)
trainer.train()
