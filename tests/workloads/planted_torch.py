# SPDX-License-Identifier: Apache-2.0
"""
planted_torch.py FOLDER KIND STEPS READY GO: a training loop with a leak that torch's users plant, at the line marked "LEAK kind". FOLDER
has tprof.py. At the end it makes the file READY, and waits for the file GO.
"""
import gc
import os
import sys
import time

sys.path.insert(0, sys.argv[1])
import torch  # noqa: E402
import tprof  # noqa: E402  the folder has it

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(256, 64), torch.randint(0, 10, (256,))
total, views, losses = 0, [], []


def total_kind(out, loss):
    global total
    total = total + loss  # LEAK total


def view_kind(out, loss):
    views.append(torch.zeros(3000)[:1])  # LEAK view


def hook_kind(out, loss):
    data = bytearray(2500)  # LEAK hook
    model[1].register_forward_hook(lambda *_: len(data) and None)


def losses_kind(out, loss):
    losses.append(loss)  # LEAK losses


KINDS = {name[:-5]: function for name, function in list(globals().items()) if name.endswith("_kind")}


def step():
    out = model(x)
    loss = torch.nn.functional.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    KINDS[sys.argv[2]](out, loss)


gc.disable()
for number in range(int(sys.argv[3])):
    step()
    tprof.step()
open(sys.argv[4], "w").close()
while not os.path.exists(sys.argv[5]):  # is searched meanwhile
    time.sleep(0.01)
os._exit(0)
