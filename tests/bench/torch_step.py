# SPDX-License-Identifier: Apache-2.0
"""torch_step.py: training steps, as many as each line of its input says; answers each with the nanoseconds that one took,
of the processor's time and by the clock: {"cpu": mean, "wall": mean}. What a turn begins with is not measured: who had the
processor meanwhile left its own things in the caches."""
import sys
import time

import torch

BEFORE = 3  # steps of a turn that are not measured

torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.LayerNorm(512),
                            torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
criterion = torch.nn.CrossEntropyLoss()
inputs, targets = torch.randn(128, 256), torch.randint(0, 10, (128,))


def steps(count):
    for _ in range(count):
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()


for line in sys.stdin:
    steps(BEFORE)
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    steps(int(line))
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    print(f'{{"cpu": {cpu / int(line)}, "wall": {wall / int(line)}}}', flush=True)
