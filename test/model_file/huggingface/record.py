"""Prints what huggingface_test.c expects: the logits of transformers for networks whose weights follow from a formula.

    build/peers/bin/python test/model_file/huggingface/record.py

Needs transformers with PyTorch (scripts/peers transformers).
"""

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

TOKENS = [3, 1, 4, 0]


def formula(name, shape):
    """As `fill` of huggingface_test.c."""
    i = np.arange(int(np.prod(shape)))
    n = i * i * 31 + i * 37 + sum(name.encode()) * 101
    return torch.from_numpy(((n % 199 - 99).astype(np.float32) / np.float32(150)).reshape(shape))


def record(name, model):
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.copy_(formula(key, parameter.shape))
        logits = model.eval()(torch.tensor([TOKENS])).logits.flatten().tolist()
    print(f"static const float {name}_logits[] = {{" + ", ".join(f"{x:.7g}F" for x in logits) + "};")


record("gpt2", GPT2LMHeadModel(GPT2Config(vocab_size=5, n_positions=4, n_embd=4, n_layer=1, n_head=2,
                                           bos_token_id=1, eos_token_id=1)))
record("llama", LlamaForCausalLM(LlamaConfig(vocab_size=5, hidden_size=8, intermediate_size=6, num_hidden_layers=1,
                                             num_attention_heads=4, num_key_value_heads=2, head_dim=4,
                                             rope_parameters={"rope_type": "default", "rope_theta": 100.0},
                                             max_position_embeddings=4)))
