# SPDX-License-Identifier: Apache-2.0
"""torch_many_shapes.py THREADS SIZES: each thread calls one operator with tensors of all sizes, twice, at the same time as the
others."""
import sys
import threading

import torch

torch.set_num_threads(1)
threads, sizes = map(int, sys.argv[1:3])
values = torch.ones(sizes)
for dims in range(1, 5):  # where sizes are kept is learned from what makes tensors
    torch.empty([2 + dim for dim in range(dims)])
torch.neg(values[:1])
together = threading.Barrier(threads)


def work():
    together.wait()
    for _ in range(2):
        for size in range(2, sizes):
            torch.neg(values[:size])


several = [threading.Thread(target=work) for _ in range(threads)]
for one in several:
    one.start()
for one in several:
    one.join()
