# SPDX-License-Identifier: Apache-2.0
"""Trains a small network with PyTorch; what it prints is the same in each run."""
import torch

torch.manual_seed(1)
torch.set_num_threads(2)

inputs = torch.randn(512, 32)
targets = (inputs[:, :4].sum(dim=1) > 0).long()
model = torch.nn.Sequential(
    torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = torch.nn.CrossEntropyLoss()

for epoch in range(10):
    for i in range(0, len(inputs), 64):
        optimizer.zero_grad()
        loss = criterion(model(inputs[i:i + 64]), targets[i:i + 64])
        loss.backward()
        optimizer.step()

accuracy = (model(inputs).argmax(dim=1) == targets).float().mean().item()
print(f"torch: loss {loss.item():.3f}, accuracy {accuracy:.3f}")
assert accuracy > 0.9
