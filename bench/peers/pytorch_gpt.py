"""The language model of `muster-bench gpt` in PyTorch: asked on standard input for "one" or "all" and a number of
seconds, answers with tokens of training a second. It is eager: compiling has to gain more than it takes in such a run."""
import os
import sys
import time

import torch
from torch import nn

LAYERS, WIDTH, HEADS, POSITIONS, BATCH, VOCABULARY = 6, 384, 6, 256, 8, 50257
CORES = len(os.sched_getaffinity(0))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.heads, self.joined = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.inner, self.outer = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        shape = (x.shape[0], POSITIONS, HEADS, WIDTH // HEADS)
        q, k, v = (part.view(shape).transpose(1, 2) for part in self.heads(self.norm_1(x)).split(WIDTH, dim=2))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.joined(y.transpose(1, 2).reshape(x.shape))
        return x + self.outer(nn.functional.gelu(self.inner(self.norm_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.blocks, self.norm = nn.Sequential(*(Block() for _ in range(LAYERS))), nn.LayerNorm(WIDTH)

    def forward(self, x):
        y = self.tokens(x) + self.positions.weight
        return self.norm(self.blocks(y)) @ self.tokens.weight.T


def main():
    torch.manual_seed(1)
    model = Gpt()
    for weight in model.parameters():
        if weight.ndim == 2:
            nn.init.normal_(weight, std=0.02)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0003, weight_decay=0.01, fused=True)
    numbers = torch.arange(BATCH * POSITIONS).reshape(BATCH, POSITIONS)
    x, y = numbers * 7919 % VOCABULARY, (numbers + 1) * 7919 % VOCABULARY

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x).view(-1, VOCABULARY), y.view(-1)).backward()
        optimizer.step()

    for line in sys.stdin:
        name, seconds = line.split()
        torch.set_num_threads(1 if name == "one" else CORES)
        count, began = 0, time.perf_counter()
        while count == 0 or time.perf_counter() - began < float(seconds):
            step()
            count += 1
        print(count * BATCH * POSITIONS / (time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
