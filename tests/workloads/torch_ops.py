# SPDX-License-Identifier: Apache-2.0
"""torch_ops.py MODEL: three training steps under torch.profiler, between two marks in the trace. How often each aten op was
called, in all and with tensors of which sizes, goes to the file that TRUTH_FILE names, with torch's schemas: by its qualified
name (aten::add.Tensor), each one's own."""
import collections
import json
import os
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import tprof  # noqa: E402


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 32)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 2)
        self.head = nn.Linear(32, 10)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens)).mean(1))


MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 10)),
            lambda: torch.randn(16, 64)),
    "cnn": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                  nn.Linear(8 * 7 * 7, 10)),
            lambda: torch.randn(4, 3, 16, 16)),
    "transformer": (Transformer, lambda: torch.randint(0, 50, (4, 12))),
}


def train(model, batch, labels, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(steps):
        optimizer.zero_grad()
        functional.cross_entropy(model(batch), labels).backward()
        optimizer.step()


def schemas():
    """An op's qualified name -> its name, as the profiler has it."""
    return {schema.name + ("." + schema.overload_name if schema.overload_name else ""): schema.name
            for schema in torch._C._jit_get_all_schemas()}


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    make, data = MODELS[sys.argv[1]]
    model, batch = make(), data()
    labels = torch.randint(0, 10, (batch.shape[0],))
    train(model, batch, labels, 1)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        tprof.mark("begin")
        train(model, batch, labels, 3)
        tprof.mark("end")
    # Not key_averages(): it takes an op within an op of the same name (div.Scalar calls div.Tensor) out.
    events = [event for event in profiler.profiler.kineto_results.events() if event.name().startswith("aten::")]
    counts = collections.Counter(event.name() for event in events)
    shapes = collections.Counter((event.name(), json.dumps(event.shapes())) for event in events)
    if "TRUTH_FILE" in os.environ:
        with open(os.environ["TRUTH_FILE"], "w", encoding="utf-8") as file:
            json.dump({"counts": counts, "schemas": schemas(),
                       "shapes": [[name, json.loads(sizes), calls] for (name, sizes), calls in shapes.items()]}, file)
    print("torch_ops:", sys.argv[1])


main()
