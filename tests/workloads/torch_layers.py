# SPDX-License-Identifier: Apache-2.0
"""torch_layers.py WHAT DIRECTORY_OF_TPROF: layers whose backward passes are known. In each, nodes of the graph say in which
module's forward they were made: as their backward runs they are ops of that name."""
import collections
import contextlib
import dataclasses
import gc
import itertools
import random
import sys
import threading
import types
import weakref

sys.path.insert(0, sys.argv[2])
import torch  # noqa: E402
import tprof  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

torch.set_num_threads(1)
WIDTH = 6


class Made(torch.autograd.Function):
    """The identity; its backward is the op "in NAME"."""

    @staticmethod
    def forward(ctx, x, name):
        ctx.name = name
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        if not ctx.name:
            return grad * 1, None
        with tprof.op("in " + ctx.name):
            return grad * 1, None


@dataclasses.dataclass
class Both:
    first: torch.Tensor
    second: torch.Tensor
    rest: object = None


class Block(nn.Module):
    """What it does with its children says its kind."""

    def __init__(self, kind, children, dice):
        super().__init__()
        self.name, self.kind, self.wrap = "", kind, dice.randrange(len(WRAP))
        self.linear = nn.Linear(WIDTH, WIDTH) if not children else None
        self.parts = nn.ModuleList(children)
        self.order = dice.sample(range(len(children)), len(children))

    def made(self, x):
        return Made.apply(x, self.name)

    def run(self, x):
        x = self.made(x)
        if not self.parts:
            return self.made(torch.tanh(self.made(torch.nn.functional.linear(x, self.linear.weight, self.linear.bias))))
        return getattr(self, self.kind)(x)

    def chain(self, x):
        for part in self.parts:
            x = plain(part(x))
        return x

    def glued(self, x):
        for part in self.parts:
            x = self.made(plain(part(self.made(x))) * 0.5)
        return x

    def beside(self, x):
        return self.made(sum(plain(self.parts[i](x)) for i in self.order))

    def residual(self, x):
        for part in self.parts:
            x = x + plain(part(x))
        return self.made(x)

    def by_keyword(self, x):
        for part in self.parts:
            x = self.made(plain(part(x=self.made(x))) * 0.5)
        return x

    def twice(self, x):
        return self.made(plain(self.parts[0](plain(self.parts[0](x)))))

    def in_place(self, x):
        for part in self.parts:
            x = self.made(torch.relu_(plain(part(x)).add_(0.1)))
        return x

    def again(self, x):
        for part in self.parts:
            x = checkpoint(lambda x, part=part: plain(part(x)), x)
        return self.made(x)

    def again_without(self, x):
        for part in self.parts:
            x = checkpoint(lambda x, part=part: plain(part(x)), x, use_reentrant=False)
        return self.made(x)

    def forward(self, x):
        return WRAP[self.wrap](self.run(plain(x)), self)


WRAP = [lambda x, _: x, lambda x, _: x, lambda x, own: (x, own.made(x)), lambda x, own: {"a": x, "none": None, "b": own.made(x)},
        lambda x, own: Both(own.made(x), x), lambda x, own: collections.OrderedDict(logits=own.made(x), hidden=(x,)),
        lambda x, own: [own.made(x), [x.detach()]], lambda x, own: own.made(x).split(WIDTH // 2, 1)]


def plain(value):
    """One tensor of what a block returns."""
    if isinstance(value, torch.Tensor):
        return value
    values = vars(value).values() if isinstance(value, Both) else value.values() if isinstance(value, dict) else value
    flat = [v for v in values if isinstance(v, torch.Tensor)]
    return torch.cat(flat, 1) if flat[0].shape[1] < WIDTH else sum(flat)


KINDS = ["chain", "glued", "by_keyword", "beside", "residual", "twice", "in_place", "again", "again_without"]


def random_block(dice, depth):
    count = dice.randint(1, 3) if depth and dice.random() < 0.8 else 0
    return Block(dice.choice(KINDS), [random_block(dice, depth - 1) for _ in range(count)], dice)


def random_model(seed):
    dice = random.Random(seed)
    torch.manual_seed(seed)
    return nn.Sequential(*[random_block(dice, 3) for _ in range(dice.randint(1, 3))])


@contextlib.contextmanager
def watched(model):
    """With the blocks' names the modules'; unwatched they have none."""
    for name, module in model.named_modules():
        if isinstance(module, Block):
            module.name = name
    with tprof.watch(model):
        yield
    for module in model.modules():
        if isinstance(module, Block):
            module.name = ""


def backward_of(model, times=1):
    torch.manual_seed(1)
    x = torch.randn(4, WIDTH, requires_grad=True)
    model.zero_grad(set_to_none=True)
    y = plain(model(x))
    for i in range(times):
        y.pow(2).sum().backward(retain_graph=i + 1 < times)
    return [x.grad] + [p.grad for p in model.parameters()]


def equal(left, right):
    return all((a is None) == (b is None) and (a is None or torch.equal(a, b)) for a, b in zip(left, right))


def random_models():
    """Twice without, then with: the same gradients to the bit."""
    for seed in range(44):
        model = random_model(seed)
        for times in (1, 2):
            bare = backward_of(model, times)
            with watched(model):
                assert equal(bare, backward_of(model, times)), seed
            assert equal(bare, backward_of(model, times)), seed


def flops():
    """Products of sizes of their own."""
    model = nn.Sequential(collections.OrderedDict(
        first=nn.Linear(30, 50), one=nn.ReLU(inplace=True),
        inner=nn.Sequential(collections.OrderedDict(second=nn.Linear(50, 70), third=nn.Linear(70, 110), two=nn.Tanh())),
        last=nn.Linear(110, 20)))
    tprof.watch(model)
    for _ in range(3):
        model(torch.ones(17, 30)).sum().backward()
        tprof.step()


class Raises(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, x):
        return x * 1

    @staticmethod
    def backward(_ctx, _grad):
        raise ValueError("on purpose")


class Failing(nn.Module):
    def __init__(self, where):
        super().__init__()
        self.inner, self.where = nn.Linear(WIDTH, WIDTH), where

    def forward(self, x):
        if self.where == "forward":
            raise ValueError("on purpose")
        return self.inner(Raises.apply(self.inner(x)))


def failures():
    """An exception ends the layers that it leaves: ops behind it are in none."""
    for where in ("backward", "forward"):
        model = nn.Sequential(nn.Linear(WIDTH, WIDTH), Failing(where))
        with tprof.watch(model):
            for round in range(3):
                with contextlib.suppress(ValueError), tprof.op("try " + where):
                    model(torch.ones(2, WIDTH)).sum().backward()
                with tprof.op("behind " + where):
                    torch.ones(3, 3)
                try:
                    model(torch.ones(2, WIDTH)).sum().backward()
                except ValueError:
                    with tprof.op("in except " + where):
                        torch.ones(3, 3)
                with tprof.op("after " + where):
                    torch.ones(3, 3)


class Penalty(nn.Module):
    """Gradients in a forward pass, and of them."""

    def __init__(self):
        super().__init__()
        self.inner = Block("chain", [], random.Random(1))

    def forward(self, x):
        y = plain(self.inner(x))
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return y + slope


class Hooked(nn.Module):
    """A program that has hooks of its own, on a tensor that is another in place by then."""

    def __init__(self):
        super().__init__()
        self.linear, self.relu, self.seen = nn.Linear(WIDTH, WIDTH), nn.ReLU(inplace=True), []

    def forward(self, x):
        y = self.linear(x)
        y = self.relu(y)
        y.register_hook(lambda grad: self.seen.append(grad.clone()))
        y.retain_grad()
        self.kept = y
        y.mul(2).register_hook(lambda grad: grad * 3)
        z = y * 2
        z.register_hook(lambda grad: grad * 3)
        return z


class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.jit.script(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()))

    def forward(self, x):
        return self.body(x)


def others():
    """The program notices nothing: results, hooks of its own, copies, files, scripts, threads."""
    import copy
    import io
    import warnings
    warnings.simplefilter("error")
    for make in (Penalty, Hooked, Scripted, lambda: nn.LSTM(WIDTH, WIDTH, 2), lambda: nn.MultiheadAttention(WIDTH, 2)):
        torch.manual_seed(3)
        model = make()

        def run():
            torch.manual_seed(1)
            x = torch.randn(4, WIDTH, requires_grad=True)
            model.zero_grad(set_to_none=True)
            y = model(x, x, x)[0] if isinstance(model, nn.MultiheadAttention) else plain(model(x))
            y.pow(2).sum().backward()
            seen, kept = getattr(model, "seen", []), getattr(model, "kept", None)
            more = [*seen, *([kept.grad] if kept is not None else [])]
            model.seen, model.kept = [], None
            return [y.detach(), x.grad, *more, *(p.grad for p in model.parameters())]

        bare = [run() for _ in range(4)][-1]  # scripts are compiled anew at the second and third
        with watched(model):
            assert equal(bare, run()), type(model)
            copied = copy.deepcopy(model)
            torch.save(model.state_dict() if isinstance(model, Scripted) else model, io.BytesIO())
            if isinstance(model, nn.LSTM):
                torch.jit.script(model)
            with torch.no_grad():
                model.eval()
                model(*[torch.ones(4, WIDTH)] * (3 if isinstance(model, nn.MultiheadAttention) else 1)) \
                    if not isinstance(model, (Penalty, Hooked)) else None
                model.train()
            y = model._replicate_for_data_parallel() if not isinstance(model, Scripted) else None
            del copied, y
        assert equal(bare, run()), type(model)
    intermediate = Hooked()
    with tprof.watch(intermediate):
        y = intermediate.linear(torch.ones(2, WIDTH))
        assert y._backward_hooks is None
        torch.save(y, io.BytesIO())  # a tensor with hooks would warn


def memory():
    """No graph lives longer, no call is kept, and of a model that goes nothing stays."""
    bare = nn.Module.__call__
    model = random_model(5)
    tprof.watch(model)
    gc.collect()
    gc.disable()
    died = []
    for _ in range(3):
        x = torch.randn(4, WIDTH, requires_grad=True)
        y = plain(model(x))
        node = weakref.ref(y)
        y.sum().backward()
        del y
        died.append(node() is None)
    first = sum(type(o) in (tprof._Call, tprof._Pass, tprof._PassEnd) for o in gc.get_objects())
    assert all(died) and first == 0, (died, first)
    y = plain(model(x))  # never run backward
    del y
    assert not sum(type(o) is tprof._Call for o in gc.get_objects())
    gc.enable()
    del model
    gc.collect()
    assert nn.Module.__call__ is bare


def several():
    """Watches that end in any order, and somebody else who changes what a call of a module is: in the end all is bare."""
    bare, model = nn.Module.__call__, nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Sequential(nn.Tanh(), nn.Linear(WIDTH, WIDTH)))
    right = backward_of(model)
    for order in itertools.permutations(range(3)):
        watches = [tprof.watch(part) for part in (model, model[1], model)]
        for number in order:
            assert equal(right, backward_of(model))
            watches[number].remove()
            watches[number].remove()
        assert nn.Module.__call__ is bare and not tprof._watches
    for is_removed_within in (False, True):
        watch = tprof.watch(model)
        ours = nn.Module.__call__
        nn.Module.__call__ = lambda self, *args, **kwargs: ours(self, *args, **kwargs)
        inner = tprof.watch(model)
        if is_removed_within:
            watch.remove()
            assert equal(right, backward_of(model))
            inner.remove()
        else:
            inner.remove()
            watch.remove()
        assert equal(right, backward_of(model))
        nn.Module.__call__ = ours
        tprof.watch(model).remove()  # what could not be taken out goes now
        assert nn.Module.__call__ is bare and not tprof._watches
    removed = []
    model[0].register_forward_hook(lambda *_: removed.append(watch.remove()))
    watch = tprof.watch(model)
    assert equal(right, backward_of(model)) and removed  # in the middle of a call
    with tprof.op("after several"):
        assert nn.Module.__call__ is bare


def idle():
    """Without libtprof.so nothing is there at all."""
    from torch.nn.modules import module as modules
    model = random_model(3)
    before = [nn.Module.__call__, type(model).__call__, *({**vars(module)} for module in model.modules())]
    with tprof.watch(model) as watch:
        y = plain(model(torch.ones(4, WIDTH)))
        after = [nn.Module.__call__, type(model).__call__, *({**vars(module)} for module in model.modules())]
        nodes = [y.grad_fn]
        while nodes:
            node = nodes.pop()
            assert not node.metadata
            nodes += [outer for outer, _ in node.next_functions if outer is not None]
    assert not tprof.active() and after == before and not watch.layers
    assert not any(hooks for name, hooks in vars(modules).items() if name.startswith("_global_") and isinstance(hooks, dict))


def threads():
    """A model of its own in each thread: each thread's layers are its own."""
    def work(model):
        with watched(model):
            for _ in range(3):
                backward_of(model)

    several = [threading.Thread(target=work, args=(random_model(seed),)) for seed in range(8)]
    for one in several:
        one.start()
    for one in several:
        one.join()


def other_hooks():
    """As if a node had none but the public ones."""
    before = tprof._hook_before
    tprof._hook_before = lambda node, hook: before(types.SimpleNamespace(register_prehook=node.register_prehook), hook)
    random_models()


globals()[sys.argv[1]]()
print("good")
