# SPDX-License-Identifier: Apache-2.0
"""Ranks of torch.distributed with gloo, of which one loads slowly: `torch_straggler.py RANK SIZE FILE LATE [sleep]`."""
import sys
import time

import torch
import torch.distributed as dist

rank, size, file, late = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])


def load_batch(seconds):
    end, total = time.thread_time() + seconds, 0
    while time.thread_time() < end:
        total += sum(range(2000))  # the loader
    return total


def fetch_batch(seconds):
    time.sleep(seconds)  # the disk


load = fetch_batch if rank == late and "sleep" in sys.argv else load_batch
dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
gradients = torch.ones(1000)
for step in range(10):
    load(0.1 if rank == late else 0.001)
    dist.all_reduce(gradients)
dist.barrier()
