# SPDX-License-Identifier: Apache-2.0
"""What tprof.op can decorate, used in each way it could be before. `FOLDER`: where tprof.py is."""
import abc
import asyncio
import copy
import dataclasses
import enum
import functools
import inspect
import math
import pickle
import sys
import types
sys.path.insert(0, sys.argv[1])
import tprof
op = tprof.op
class C:
    def __init__(self): self._v = 1
    @op("property")
    @property
    def v(self):
        "doc of v"
        return self._v
    @v.setter
    def v(self, x): self._v = x
    @op("both")
    @property
    def w(self): return 1
    @op("cached property")
    @functools.cached_property
    def cp(self): return 5
    @op("cached method")
    @functools.lru_cache(maxsize=10)
    def cm(self, x): return x
    @op("partial method")
    @functools.partialmethod
    def nothing(self): pass
    pm = op("partialmethod")(functools.partialmethod(lambda self, a, b: (a, b), 3))
    @op("dispatch")
    @functools.singledispatchmethod
    def sd(self, x): return "any"
    @sd.register
    def _(self, x: int): return "int"
    size = op("builtin")(len)
    @op("abstract")
    @property
    @abc.abstractmethod
    def ab(self): pass
print(isinstance(vars(C)["v"], property), C.v.__doc__, vars(C)["ab"].__isabstractmethod__)
c = C()
c.v = 7
print(c.v, c.v, c.w, c.cp, c.cp, type(vars(C)["cp"]).__name__)
print(c.cm(1), c.cm(1), c.cm.cache_info(), C.cm.cache_info(), C.cm.cache_parameters(), isinstance(vars(C)["cm"], functools._lru_cache_wrapper))
print(c.pm(4), c.sd(1), c.sd("x"), c.size([1, 2]), inspect.signature(c.pm))
@op("cached")
@functools.lru_cache
def fib(n: int) -> int:
    "f"
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(10), fib.cache_info(), fib.__name__, fib.__doc__, inspect.signature(fib), pickle.loads(pickle.dumps(fib)) is fib, fib.__wrapped__ is not fib)
fib.cache_clear(); print(fib.cache_info())
s = op("sqrt")(math.sqrt)
print(s(4.0), pickle.loads(pickle.dumps(s)) is math.sqrt, isinstance(s, types.BuiltinFunctionType), copy.copy(s)(9.), repr(s))
p = op("partial")(functools.partial(pow, 2))
print(p(3), isinstance(p, functools.partial), p.args, p.func, inspect.signature(p), pickle.loads(pickle.dumps(p))(4))
class Call:
    def __init__(self): self.n = 0
    def __call__(self, x, *, k=2): self.n += 1; return x * k
    def __len__(self): return 42
    def __add__(self, o): return self.n + o
k = op("callable")(Call())
print(k(3), k.n, k + 1, len(k), isinstance(k, Call), inspect.signature(k), callable(k)); k.n = 10; print(k.n, type(k).__name__)
@op("class")
class D:
    def __init__(self, a, b=2): self.a, self.b = a, b
class E(D):
    def __init__(self): super().__init__(1)
print(isinstance(D, type), D(1).b, isinstance(E(), D), inspect.signature(D), pickle.loads(pickle.dumps(D(5))).a, D.__name__, issubclass(E, D))
@op("dataclass")
@dataclasses.dataclass
class DC:
    x: int
    y: int = 3
@dataclasses.dataclass
@op("not yet")
class DC2(DC):
    z: int = 1
print(DC(1), DC2(1, 2, 3), dataclasses.replace(DC(1), x=5))
@op("new")
class N(int):
    def __new__(cls, v): return super().__new__(cls, v + 1)
print(N(3), pickle.loads(pickle.dumps(N(3))))
@op("enum")
class Color(enum.Enum):
    RED = 1
    def __init__(self, v): self.v = v
print(Color(1), Color.RED.v, list(Color))
print(op("int")(int) is int)
@op("generator")
def g():
    yield 1
@op("coroutine")
async def co(): return 2
pc = op("partial coroutine")(functools.partial(co))
class ACall:
    async def __call__(self): return 3
ac = op("async callable")(ACall())
print(inspect.isgeneratorfunction(g), inspect.iscoroutinefunction(co), inspect.iscoroutinefunction(pc), list(g()), asyncio.run(co()), asyncio.run(pc()), asyncio.run(ac()))
@functools.singledispatch
def disp(x): return "o"
disp = op("singledispatch")(disp)
@disp.register
def _(x: int): return "i"
print(disp(1), disp("a"))
m = op("bound")(c.cm)
print(m(2), m.__self__ is c)
def outer(n):
    @op("closure")
    def inner(x): return x + n
    n += 1
    return inner
print(outer(1)(1), inspect.getsource(outer(1)).strip().splitlines()[1].strip())
