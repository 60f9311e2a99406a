# SPDX-License-Identifier: Apache-2.0
"""torch_shapes.py: tensors of every kind, behind a mark: views, without a dimension, of more dimensions than are kept in
place, empty ones, undefined ones, lists, sparse ones, which keep their sizes elsewhere; each call four times."""
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import tprof  # noqa: E402


def warm_up():
    """So many sizes that where they are kept is known, and that it is for an optional tensor."""
    for dims in range(1, 5):
        torch.empty([2 + dim for dim in range(dims)])
    for _ in range(4):
        torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))


def calls():
    deep = torch.ones(2, 1, 3, 1, 2, 5)
    table = torch.arange(24.0).view(4, 6)
    torch.exp(table.t())
    torch.exp(table[1:3, ::2])
    torch.exp(table[:, 1].expand(7, 4))
    torch.exp(torch.tensor(2.0))
    torch.exp(deep)
    torch.exp(deep.squeeze().unsqueeze(0))
    torch.exp(torch.ones(0, 3, dtype=torch.float64))
    torch.exp(torch.ones(2, dtype=torch.bfloat16))
    torch.mul(table, torch.ones(6, dtype=torch.int64))
    table.index_select(1, torch.tensor([3, 1]))
    torch.cat([table, table[:2]])
    torch.stack([deep, deep, deep])
    torch.nn.functional.linear(table, torch.ones(3, 6))
    torch.nn.functional.linear(table, torch.ones(3, 6), torch.ones(3))
    torch.batch_norm(table, None, None, torch.zeros(6), torch.ones(6), True, 0.1, 1e-5, False)
    torch.maximum(table, table, out=torch.empty(4, 6))
    torch.nn.functional.relu_(table.bool().int().float())
    torch.equal(table, table)
    torch.sparse.mm(torch.eye(4).to_sparse(), table)


torch.set_num_threads(1)
warm_up()
tprof.mark("begin")
for _ in range(4):
    calls()
tprof.mark("end")
