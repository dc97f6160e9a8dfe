"""Makes a tiny model in FOLDER that can only call the tool `act`, to try `grpo.py` without a GPU.

python examples/tiny_model.py FOLDER [STEPS]
"""

import random
import sys

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl.chat_template_utils import qwen3_chat_template

from presage.trl import TextEnvironment

ACTIONS = ["look around", "activate lantern", "open box", "go to hall", "pick up key"]
WORDS = "This room is called the kitchen hall . In it , you see : a key box lantern which is open closed".split()
STEPS, BATCH = int(sys.argv[2]) if len(sys.argv) > 2 else 200, 4

torch.manual_seed(0)
random.seed(0)
texts = [" ".join(WORDS), *ACTIONS, qwen3_chat_template, str(get_json_schema(TextEnvironment.act))]
pieces = ByteLevelBPETokenizer()
pieces.train_from_iterator(texts * 50, vocab_size=800)
pieces.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=pieces._tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
)
tokenizer.chat_template = qwen3_chat_template
model = Qwen3ForCausalLM(
    Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=24,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
)


def said() -> str:
    return " ".join(random.choices(WORDS, k=random.randrange(10, 120)))


def rollout() -> tuple[str, str]:
    """A prompt for the model, and the call that it should make."""
    messages = [{"role": "user", "content": said()}]
    for _ in range(random.randrange(3)):
        function = {"name": "act", "arguments": {"action": random.choice(ACTIONS)}}
        messages.append({"role": "assistant", "tool_calls": [{"type": "function", "function": function}]})
        messages.append({"role": "tool", "name": "act", "content": said()})
    tools = [TextEnvironment.act]
    told = tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=True, tokenize=False)
    call = f'{{"name": "act", "arguments": {{"action": "{random.choice(ACTIONS)}"}}}}'
    return told, f"<tool_call>\n{call}\n</tool_call><|im_end|>"


optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(STEPS):
    rollouts = [rollout() for _ in range(BATCH)]
    batch = tokenizer([told + call for told, call in rollouts], return_tensors="pt", padding=True)
    labels = batch["input_ids"].clone()
    for row, (_, call) in enumerate(rollouts):
        labels[row, : -len(tokenizer(call)["input_ids"])] = -100
    loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1}: loss {loss.item():.2f}", flush=True)
model.save_pretrained(sys.argv[1])
tokenizer.save_pretrained(sys.argv[1])
