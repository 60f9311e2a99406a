# SPDX-License-Identifier: Apache-2.0
"""Uses some of PyTorch, numpy and OpenBLAS: training, linear algebra, exceptions. Prints a digest of the results."""
import hashlib

import numpy
import torch

torch.manual_seed(0)
torch.set_num_threads(1)
found = []

model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                            torch.nn.Linear(4 * 36, 10))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(20):
    loss = torch.nn.functional.cross_entropy(model(torch.randn(16, 1, 8, 8)), torch.randint(0, 10, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
found.append(loss.item())
a = torch.randn(40, 40, dtype=torch.float64)
found += [torch.linalg.svd(a)[1].sum().item(), torch.linalg.qr(a)[1].abs().sum().item(), torch.fft.fft(a).abs().sum().item()]
found += [torch.sort(a.flatten())[0][:5].tolist(), torch.einsum("ij,jk->ik", a, a).sum().item(), torch.linalg.eigh(a @ a.T)[0].sum().item()]
lstm = torch.nn.LSTM(6, 5, 2)
found.append(lstm(torch.randn(7, 3, 6))[0].sum().item())
try:
    torch.randn(3) + torch.randn(4)
except RuntimeError as e:
    found.append(str(e))
b = numpy.random.RandomState(1).rand(30, 30)
found += [numpy.linalg.solve(b, b[0]).sum(), numpy.linalg.det(b), numpy.fft.rfft(b[1]).sum(), numpy.linalg.lstsq(b, b[1], rcond=None)[0].sum()]
found += [(b @ b.T).trace(), numpy.sort(b, axis=None)[:4].tolist()]
print(hashlib.md5(repr(found).encode()).hexdigest(), len(found))
