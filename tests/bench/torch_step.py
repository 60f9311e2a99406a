# SPDX-License-Identifier: Apache-2.0
"""torch_step.py MODEL: training steps, as many as each line of its input says; answers each with the nanoseconds that one
took, of the processor's time and by the clock: {"cpu": mean, "wall": mean}. What a turn begins with is not measured: who had
the processor meanwhile left its own things in the caches. `N start` and `N stop` first let tprof record or pause."""
import sys
import time

import torch
from torch import nn

BEFORE = 3  # steps of a turn that are not measured


def mlp():
    """A few ms a step, with 830 allocations and 400 calls of operators in it."""
    return (nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.LayerNorm(512), nn.Linear(512, 512), nn.ReLU(),
                          nn.Linear(512, 10)), torch.randn(128, 256))


def cnn():
    """Images of 32 by 32 pixels in three colours, in batches of 32: 3,600 allocations, 700 calls."""
    layers = []
    for come, go in ((3, 32), (32, 64), (64, 128)):
        layers += [nn.Conv2d(come, go, 3, padding=1), nn.BatchNorm2d(go), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 16, 10)), torch.randn(32, 3, 32, 32)


class Encoder(nn.Module):
    """Of texts: tokens, two layers of attention, a class."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 128)
        layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(128, 10)

    def forward(self, tokens):
        return self.head(self.layers(self.embed(tokens)).mean(1))


def transformer():
    """Texts of 64 tokens, in batches of 16: 8,600 allocations, 8,600 calls."""
    return Encoder(), torch.randint(0, 1000, (16, 64))


def mnist():
    """The first of PyTorch's own examples (pytorch/examples, mnist): its layers, its batch of 64 images. 2,300 allocations,
    500 calls."""
    return (nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
                          nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)),
            torch.randn(64, 1, 28, 28))


torch.manual_seed(1)
torch.set_num_threads(1)
model, inputs = {"mlp": mlp, "cnn": cnn, "transformer": transformer, "mnist": mnist}[sys.argv[1]]()
targets = torch.randint(0, 10, (len(inputs),))
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
criterion = nn.CrossEntropyLoss()


def steps(count):
    for _ in range(count):
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()


for line in sys.stdin:
    line, *switch = line.split()
    if switch:
        import tprof
        {"start": tprof.start, "stop": tprof.stop}[switch[0]]()
    steps(BEFORE)
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    steps(int(line))
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    print(f'{{"cpu": {cpu / int(line)}, "wall": {wall / int(line)}}}', flush=True)
