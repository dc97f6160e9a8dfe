"""Trains a model with TRL's GRPO in an environment of Presage: python train-with-trl.py MODEL [ENVIRONMENT] (pip install "trl[openreward]" jmespath).

Presage's address and key come from the environment, as OpenReward's client reads them:
OPENREWARD_SESSION_URL=http://127.0.0.1:8080 OPENREWARD_API_KEY=…
"""

import os
import sys

import torch
from trl import GRPOConfig, GRPOTrainer
from trl.experimental.openreward import OpenRewardSpec

url = os.environ["OPENREWARD_SESSION_URL"]
spec = OpenRewardSpec(url, env_name=(sys.argv[2:] or ["sandbox"])[0], api_key=os.environ["OPENREWARD_API_KEY"], num_tasks=4)
config = GRPOConfig(
    output_dir="trained",
    max_steps=2,
    num_generations=2,
    per_device_train_batch_size=2,
    max_completion_length=64,
    max_tool_calling_iterations=3,
    report_to="none",
    save_strategy="no",
    bf16=torch.cuda.is_available(),
    use_cpu=not torch.cuda.is_available(),
)
trainer = GRPOTrainer(
    model=sys.argv[1],
    args=config,
    train_dataset=spec.train_dataset,
    environment_factory=spec.environment_factory,
    reward_funcs=spec.reward_funcs,
)
trainer.train()
