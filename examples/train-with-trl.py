"""Trains a model with TRL's GRPO in the sandbox of Presage: python train-with-trl.py MODEL (pip install "trl[openreward]" jmespath).

Presage's address and key come from the environment, as OpenReward's client reads them:
OPENREWARD_SESSION_URL=http://127.0.0.1:8080 OPENREWARD_API_KEY=…
"""

import os
import sys

import torch
from trl import GRPOConfig, GRPOTrainer
from trl.experimental.openreward import OpenRewardSpec

has_gpu = torch.cuda.is_available()
spec = OpenRewardSpec(os.environ["OPENREWARD_SESSION_URL"], env_name="sandbox", api_key=os.environ["OPENREWARD_API_KEY"])
config = GRPOConfig("trained", max_steps=2, num_generations=2, per_device_train_batch_size=2, bf16=has_gpu, use_cpu=not has_gpu)
trainer = GRPOTrainer(sys.argv[1], spec.reward_funcs, config, spec.train_dataset, environment_factory=spec.environment_factory)
trainer.train()
