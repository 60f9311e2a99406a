# SPDX-License-Identifier: Apache-2.0
"""A training loop that keeps its losses, and with them their graphs: keep_losses.py keep|drop. Ends with the largest RSS in KiB."""
import sys

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters())
losses = []
for step in range(640):
    batch, target = torch.randn(128, 256), torch.randint(0, 10, (128,))
    loss = nn.functional.cross_entropy(model(batch), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss if sys.argv[1] == "keep" else loss.item())
# Not ru_maxrss: after an exec that is at least the peak of the process that called fork.
with open("/proc/self/status") as status:
    print("rss", next(line for line in status if line.startswith("VmHWM:")).split()[1])
