# SPDX-License-Identifier: Apache-2.0
"""tprof.op on what torch.jit compiles. `FOLDER`: where tprof.py is."""
import sys
sys.path.insert(0, sys.argv[1])
import torch, tprof
import torch.nn.functional as F
def helper(x):
    return x + 1
def outer():
    def local_help(x):
        return x * 2
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = tprof.op("inner module")(torch.nn.Linear(2, 2))
        @tprof.op("forward")
        def forward(self, x):
            return self.more(local_help(F.relu(helper(x)))) + self.inner(x).sum() * 0
        @torch.jit.export
        @tprof.op("more")
        def more(self, x):
            return x + 1
    return M
@tprof.op("f")
def f(x):
    return F.relu(helper(x))
def g(x):
    return f(x) * 2
one = torch.ones(2)
print(f(one), torch.jit.script(f)(one), torch.jit.script(g)(one))
m = outer()()
print(m(one), torch.jit.script(m)(one), torch.jit.script(torch.nn.Sequential(m))(one))
sf = tprof.op("script")(torch.jit.script(helper))
def h(x):
    return sf(x)
print(sf(one), torch.jit.script(h)(one), type(sf).__name__)
@torch.jit.script
@tprof.op("script class")
class S:
    def __init__(self, x: int):
        self.x = x
    def get(self) -> int:
        return self.x
@torch.jit.script
def use(x: int) -> int:
    return S(x).get()
print(use(4))
print(torch.jit.trace(f, (one,))(one))
seq = tprof.op("whole")(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
seq(one)
import copy, pickle
print(type(seq).__name__, isinstance(copy.deepcopy(seq), torch.nn.Sequential), pickle.loads(pickle.dumps(seq))(one).shape, len(seq))
print(torch.jit.script(seq)(one).shape)
