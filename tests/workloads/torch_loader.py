# SPDX-License-Identifier: Apache-2.0
"""A DataLoader with two forked workers beside a thread that allocates: profilers have hung here."""
import threading

import torch

torch.manual_seed(1)
torch.set_num_threads(1)
stop = threading.Event()


def allocate():
    while not stop.is_set():
        bytearray(100000)


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, i):
        return torch.full((8,), float(i * i))


if __name__ == "__main__":
    thread = threading.Thread(target=allocate)
    thread.start()
    total = 0.0
    for epoch in range(2):
        for batch in torch.utils.data.DataLoader(Squares(), batch_size=10, num_workers=2):
            total += batch.sum().item()
    stop.set()
    thread.join()
    print(f"loader: {total:.0f}")
