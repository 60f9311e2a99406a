# SPDX-License-Identifier: Apache-2.0
"""The twins of mlp.c, cnn.c and transformer.c: torch_models.py MODEL [--batch N] [--depth N] [--width N] ... learns the
digits with PyTorch. --profile: torch.profiler's own count of FLOP, by operator, goes to standard output as JSON."""
import argparse
import json
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
import tprof  # noqa: E402 pylint: disable=wrong-import-position

TRAINED, SIDE, CLASSES = 1500, 8, 10


def mlp(options):
    widths = [SIDE * SIDE] + [options.width] * options.depth
    layers = [layer for a, b in zip(widths, widths[1:]) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(options.width, CLASSES))


class Cnn(nn.Module):
    def __init__(self, options):
        super().__init__()
        channels = [1] + [options.width] * options.depth
        self.convolutions = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in zip(channels, channels[1:]))
        self.dense = nn.Linear(options.width * SIDE * SIDE, CLASSES)

    def forward(self, images):
        x = images.view(-1, 1, SIDE, SIDE)
        for convolution in self.convolutions:
            x = functional.relu(convolution(x))
        return self.dense(x.flatten(1))


class Block(nn.Module):
    """Normalised before each part; attention by plain products."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2).reshape(batch * self.heads, length, -1)
                   for part in self.qkv(self.norm1(x)).chunk(3, -1))
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) * q.shape[-1] ** -0.5, -1)
        mixed = torch.bmm(weights, v).view(batch, self.heads, length, -1).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(mixed)
        return x + self.down(functional.relu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.rows = torch.arange(options.length) % SIDE
        self.embed = nn.Linear(SIDE, options.width)
        self.positions = nn.Parameter(0.1 * torch.randn(options.length, options.width))
        self.blocks = nn.Sequential(*(Block(options.width, options.heads) for _ in range(options.depth)))
        self.head = nn.Linear(options.width, CLASSES)

    def forward(self, images):
        tokens = images.view(-1, SIDE, SIDE)[:, self.rows]
        return self.head(self.blocks(self.embed(tokens) + self.positions).mean(1))


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=("mlp", "cnn", "transformer"))
    parser.add_argument("--data", default=HERE / "data/digits.csv")
    for name, standard in (("batch", 32), ("steps", 30), ("depth", 2), ("width", 32), ("heads", 2), ("length", 16)):
        parser.add_argument(f"--{name}", type=int, default=standard)
    parser.add_argument("--profile", action="store_true")
    return parser.parse_args()


def train(model, options, images, labels):
    """Loss of the first and the last step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    losses = []
    for step in range(options.steps):
        chosen = torch.arange(step * options.batch, (step + 1) * options.batch) % TRAINED
        with tprof.op("forward", "phase"):
            loss = functional.cross_entropy(model(images[chosen]), labels[chosen])
        optimizer.zero_grad()
        with tprof.op("backward", "phase"):
            loss.backward()
        with tprof.op("optimizer", "phase"):
            optimizer.step()
        losses.append(loss.item())
        tprof.step(items=options.batch)
    return losses[0], losses[-1]


def main():
    options = read_options()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    rows = [[int(word) for word in line.split(",")] for line in open(options.data, encoding="ascii")]
    table = torch.tensor(rows, dtype=torch.float32)
    images, labels = table[:, :-1] / 16, table[:, -1].long()
    model = {"mlp": mlp, "cnn": Cnn, "transformer": Transformer}[options.model](options)
    tprof.value("parameters", sum(parameter.numel() for parameter in model.parameters()))
    if options.profile:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_flops=True) as profile:
            train(model, options, images, labels)
        print(json.dumps({event.key: event.flops for event in profile.key_averages() if event.flops}))
        return
    first, last = train(model, options, images, labels)
    print(f"{options.model}: loss {first:.3f} to {last:.3f}")
    assert last < first


main()
