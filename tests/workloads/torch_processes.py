# SPDX-License-Identifier: Apache-2.0
"""Work in other processes by way of torch: DataLoaders with workers that are forked and spawned, torch.multiprocessing.
Each kind allocates blocks of a size of its own, at a line that says so."""
import ctypes
import sys

import torch
import torch.multiprocessing

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.memset.argtypes = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
torch.set_num_threads(1)


def keep(size):
    libc.memset(libc.malloc(ctypes.c_size_t(size)), 1, size)


class Items(torch.utils.data.Dataset):
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return 12

    def __getitem__(self, i):
        keep(self.size)  # in a worker
        return torch.full((4,), float(i))


def spawned(rank, size):
    keep(size + rank)  # in a process of torch.multiprocessing


def main():
    for method, size in (("fork", 3000001), ("spawn", 3100001)):
        loader = torch.utils.data.DataLoader(Items(size), batch_size=3, num_workers=2, multiprocessing_context=method)
        print(method, sum(batch.sum().item() for batch in loader))
    torch.multiprocessing.spawn(spawned, args=(3200001,), nprocs=2)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
