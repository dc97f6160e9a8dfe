"""Makes a tiny model with random weights, to try train.py on a processor: python make_tiny_model.py DIRECTORY"""

import pathlib
import sys

import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<think>", "</think>"]
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(letters)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
fast.add_special_tokens({"additional_special_tokens": special[1:2] + special[3:]})
fast.chat_template = (pathlib.Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja").read_text()
config = Qwen3Config(
    vocab_size=len(fast),
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
    eos_token_id=fast.eos_token_id,
    pad_token_id=fast.pad_token_id,
)
Qwen3ForCausalLM(config).save_pretrained(sys.argv[1])
fast.save_pretrained(sys.argv[1])
