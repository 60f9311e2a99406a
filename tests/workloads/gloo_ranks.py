# SPDX-License-Identifier: Apache-2.0
"""Ranks of torch.distributed with gloo, each with a log of its own, as mpi_ranks.c: `gloo_ranks.py RANK SIZE FILE LOG`."""
import sys

import torch
import torch.distributed as dist

rank, size, file, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
log = open(f"{path}.{rank}", "w")
calls = {"world": 0, "half": 0}


def say(what, name, at, members, sequence, peer, tag, sent, received):
    print(what, name, at, members, sequence, peer, tag, sent, received, file=log)


def together(what, name, root, sent, received):
    calls[name] += 1
    at, members = (rank, size) if name == "world" else (rank // 2, size // 2)
    say(what, name, at, members, calls[name], root, -1, sent, received)


for n in range(1, 20):  # from which the layout of tensors is known
    torch.empty(n, n + 1)
dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
say("init", "world", rank, size, 0, -1, -1, 0, 0)
a = torch.ones(10)
dist.all_reduce(a)
together("allreduce", "world", -1, 40, 40)
assert a[0] == size
b = torch.zeros(3, 4, dtype=torch.float64)
dist.broadcast(b, 1)
together("bcast", "world", 1, 96 if rank == 1 else 0, 0 if rank == 1 else 96)
dist.reduce(a, 2)
together("reduce", "world", 2, 40, 40 if rank == 2 else 0)
outputs = [torch.zeros(5, dtype=torch.int64) for _ in range(size)]
dist.all_gather(outputs, torch.ones(5, dtype=torch.int64))
together("allgather", "world", -1, 40, 40 * size)
dist.gather(a, [torch.zeros(10) for _ in range(size)] if rank == 0 else None, dst=0)
together("gather", "world", 0, 40, 40 * size if rank == 0 else 0)
c = torch.zeros(2)
dist.scatter(c, [torch.ones(2) for _ in range(size)] if rank == 3 else None, src=3)
together("scatter", "world", 3, 8 * size if rank == 3 else 0, 8)
work = dist.all_reduce(torch.ones(100), async_op=True)
together("allreduce", "world", -1, 400, 400)
work.wait()
if rank % 2:
    dist.recv(c, rank - 1, tag=7)
    say("recv", "world", rank, size, 0, rank - 1, 7, 0, 8)
else:
    dist.send(c, rank + 1, tag=7)
    say("send", "world", rank, size, 0, rank + 1, 7, 8, 0)
groups = [dist.new_group([r for r in range(size) if r % 2 == half]) for half in (0, 1)]
dist.all_reduce(a, group=groups[rank % 2])
together("allreduce", "half", -1, 40, 40)
dist.barrier()
together("barrier", "world", -1, 0, 0)
log.close()
dist.destroy_process_group()
