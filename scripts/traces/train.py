"""Two steps of TRL's trainers on each export: train.py MODEL FOLDER, with FOLDER's world, agent and pairs.jsonl"""

import math
import sys
from contextlib import redirect_stdout

from datasets import load_dataset
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

model, folder = sys.argv[1:]
same = {"max_steps": 2, "logging_steps": 1, "per_device_train_batch_size": 2, "report_to": "none", "use_cpu": True}


def train(name, trainer, config):
    lines = load_dataset("json", data_files=f"{folder}/{name}.jsonl", split="train")
    training = trainer(model=model, args=config, train_dataset=lines)
    with redirect_stdout(sys.stderr):
        training.train()
    losses = [entry["loss"] for entry in training.state.log_history if "loss" in entry]
    if len(losses) != 2 or not all(math.isfinite(loss) and loss > 0 for loss in losses):
        sys.exit(f"{name}: the losses are {losses}")
    print(f"{name} has finite losses: {losses}")


for name in ["world", "agent"]:
    train(name, SFTTrainer, SFTConfig(f"{folder}/{name}", assistant_only_loss=True, **same))
train("pairs", DPOTrainer, DPOConfig(f"{folder}/pairs", **same))
