# SPDX-License-Identifier: Apache-2.0
"""Ranks that train by DistributedDataParallel with gloo, of which one has a larger batch: `torch_ddp.py DIRECTORY of tprof.py LATE STEPS
ONLY`. RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set. ONLY: the step in which its batch is larger; 0: in all.

Writes log.RANK, a line for each step: when its last gradient was computed, when the backward pass came to its end, before the reducer
waits, and when it was over (CLOCK_REALTIME, ns)."""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.autograd import Variable

sys.path.insert(0, sys.argv[1])
import tprof  # pylint: disable=wrong-import-position

late, steps, only = map(int, sys.argv[2:5])
rank = int(os.environ["RANK"])
torch.manual_seed(0)
dist.init_process_group("gloo")
layers = [torch.nn.Linear(256, 256) for _ in range(12)]
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.3)
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
times = {}


def note_end():
    times["end"] = time.time_ns()


def note_gradient(gradient):
    if "gradient" not in times:
        Variable._execution_engine.queue_callback(note_end)  # pylint: disable=protected-access
    times["gradient"] = time.time_ns()
    return gradient


def forward(batch):
    return model(batch).square().mean()  # the batch


for parameter in model.parameters():
    parameter.register_hook(note_gradient)
with open(f"log.{rank}", "w", encoding="utf-8") as log:
    for step in range(1, steps + 1):
        large = rank == late and only in (0, step)
        times.clear()
        optimizer.zero_grad()
        forward(torch.ones((24000 if only else 12000) if large else 100, 256)).backward()  # the batch
        log.write(f"{times['gradient']} {times['end']} {time.time_ns()}\n")
        optimizer.step()
        tprof.step()
dist.barrier()
