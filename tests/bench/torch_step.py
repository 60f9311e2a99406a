# SPDX-License-Identifier: Apache-2.0
"""torch_step.py STEPS: the time of a training step, in nanoseconds: {"ns": median}."""
import statistics
import sys
import time

import torch

torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.LayerNorm(512),
                            torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
criterion = torch.nn.CrossEntropyLoss()
inputs, targets = torch.randn(128, 256), torch.randint(0, 10, (128,))
times = []
for step in range(10 + int(sys.argv[1])):
    start = time.perf_counter_ns()
    optimizer.zero_grad()
    criterion(model(inputs), targets).backward()
    optimizer.step()
    times.append(time.perf_counter_ns() - start)
print(f'{{"ns": {statistics.median(times[10:])}}}')
