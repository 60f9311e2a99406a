# SPDX-License-Identifier: Apache-2.0
"""A training loop that remembers what it should forget."""
import torch

torch.set_num_threads(1)
history = []


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 128)
        self.second = torch.nn.Linear(128, 10)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def remember(output):
    history.append(output.detach().clone())  # the leak


def train(steps):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    x, y = torch.ones(256, 64), torch.zeros(256, dtype=torch.long)
    for _ in range(steps):
        output = net(x)
        loss = torch.nn.functional.cross_entropy(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        remember(output)
    return loss.item()


print("loss", round(train(30), 3))
