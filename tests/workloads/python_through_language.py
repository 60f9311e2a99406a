# SPDX-License-Identifier: Apache-2.0
"""Ways of python_through.py that the language itself goes."""
import abc
import asyncio
import bisect
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import heapq
import io
import itertools
import json
import pickle
import random
import re
import types

from python_notes import note
from python_through_ways import Thing, way


OPERATIONS = (
    lambda t: t(), lambda t: t < t, lambda t: t == 1, lambda t: {t: 1}, lambda t: t or 1, len, range, lambda t: t + 1,
    lambda t: 1 + t, lambda t: t @ t, lambda t: 5 in t, lambda t: t[1], lambda t: t.__setitem__(1, 2), lambda t: f"{t:a}",
    lambda t: f"{t!r}", lambda t: "%r" % (t,), lambda t: list(reversed(t)), copy.copy, pickle.dumps, lambda t: t.missing,
    lambda t: setattr(t, "other", 1), lambda t: t.seen, lambda t: t.once, lambda t: isinstance(1, t), lambda t: [*t],
    lambda t: "abc"[t], lambda t: sum([t], t), lambda t: max([t, t]), lambda t: [1, t, 2].index(2), lambda t: {1: t} == {1: 2},
    lambda t: print(t, file=io.StringIO()), lambda t: (lambda *a: a)(*t), lambda t: sorted([t, t]), lambda t: list(map(t, (1,))),
    lambda t: json.dumps(object(), default=lambda _: t() and None), lambda t: re.sub("a", lambda _: t() and "" or "", "aa"),
    lambda t: t.__delitem__(1), lambda t: any(itertools.starmap(t, [()])), lambda t: next(iter(t.__call__, 5)),
)


@way
def by_operation(go):
    try:
        random.choice(OPERATIONS)(Thing(go))
    except (TypeError, IndexError):
        note()


@way
def by_warm_operation(go):
    """The same place time and again, until it is specialized: the last time goes on."""
    operation = random.choice(OPERATIONS)
    for i in range(20):
        try:
            operation(Thing(go if i == 19 else int))
        except (TypeError, IndexError):
            pass


class Slim:
    def __init__(self, go):
        self.kept = go()

    def __getitem__(self, item):
        return item()

    @property
    def seen(self):
        return self.go()

    def __getattribute__(self, name):
        if name == "asked":
            return object.__getattribute__(self, "answer")()
        return object.__getattribute__(self, name)


@way
def by_what_is_inlined(go):
    """Calls that from 3.11 on make no frame of C's: properties, subscripts, classes, attributes, generators."""
    for i in range(20):
        here = go if i == 19 else int
        thing = Slim(int)
        thing.go = thing.answer = here
        which = i % 5 if i < 19 else random.randrange(5)
        if which == 0:
            Slim(here)
        elif which == 1:
            thing[here]
        elif which == 2:
            thing.seen
        elif which == 3:
            thing.asked
        else:
            for _ in (here() for _ in range(1)):
                note() if i > 18 else None


@way
def by_recursion(go):
    def deeper(n, go):
        a, b, c = n, [n], (n, n)
        return (deeper(n - 1, go) if n else go(), a, b, c)
    deeper(random.randrange(30), go)


@way
def by_generators(go):
    def inner():
        note()
        try:
            yield go()
        finally:
            note()

    def middle():
        yield from inner()
        return note()

    def outer():
        result = yield from middle()
        yield result
    which = random.randrange(4)
    generator = outer()
    if which == 0:
        list(generator)
    elif which == 1:
        next(generator)
        with contextlib.suppress(KeyError):
            generator.throw(KeyError())
    elif which == 2:
        next(generator)
        generator.close()
    else:
        next(generator)
        del generator
        note()


@way
def by_a_thrown_one(go):
    """What is thrown into a generator that waits in others goes on in the innermost."""
    def inner():
        try:
            yield
        except KeyError:
            go()
            yield note()

    def outer():
        yield from inner()
    generator = outer()
    next(generator)
    generator.throw(KeyError())


@way
def by_comprehensions(go):
    which = random.randrange(5)
    if which == 0:
        [[go() for _ in range(1)] for _ in range(1)]
    elif which == 1:
        {note(): [go() for _ in (1,)] for _ in (1,)}
    elif which == 2:
        [(lambda i=i: go())() for i in range(1) if note(True)]
    elif which == 3:
        list((go() for _ in (1,) for _ in [note() for _ in (1,)]))
    else:
        class Inside:
            kept = [go() for _ in range(1)]
            also = {note() for _ in range(1)}
        note(Inside)


@way
def by_exec(go):
    which = random.randrange(6)
    if which == 0:
        exec("class A:\n    class B:\n        x = go()\n    y = note()\n", {"go": go, "note": note})
    elif which == 1:
        exec(compile("\n" * random.choice([0, 3, 200, 70000]) + "\nnote(go())", "<far>", "exec"), {"go": go, "note": note})
    elif which == 2:
        class A:
            exec("x = go()", {"go": go})
            y = eval("note()", {"note": note})
        note(A)
    elif which == 3:
        def told():
            go()
        code = told.__code__.replace(co_filename="/a/ümläut/" + "long/" * 60 + "x.py", co_name="näme" * 40,
                                     co_firstlineno=random.choice([1, 5, 100000]))
        types.FunctionType(code, {"go": go}, closure=told.__closure__)()
    elif which == 4:
        def one(_):
            note()

        def two(go):
            note()
            go()
            note()
        one.__code__ = two.__code__
        one(go)
    else:
        def of_no_line(go):
            go()
        lines = "co_linetable" if hasattr(of_no_line.__code__, "co_linetable") else "co_lnotab"
        of_no_line.__code__ = of_no_line.__code__.replace(**{lines: b""})
        of_no_line(go)


@way
def by_a_class(go):
    class Meta(type):
        @classmethod
        def __prepare__(mcs, *_, **__):
            note()
            return {}

        def __new__(mcs, *arguments, **_):
            note()
            return super().__new__(mcs, *arguments)

        def __call__(cls, *arguments):
            note()
            return super().__call__(*arguments)

    class Descriptor:
        def __set_name__(self, owner, name):
            if which == 1:
                go()

        def __get__(self, instance, owner):
            return go() if which == 2 else note()

    which = random.randrange(6)

    class Base(metaclass=Meta):
        told = Descriptor()

        def __init_subclass__(cls, **_):
            if which == 3:
                go()

        def __class_getitem__(cls, item):
            return item()

        def __init__(self):
            if which == 4:
                go()

        def __del__(self):
            note()

    class Derived(Base, told=note()):
        pass
    if which == 2:
        Derived().told
    elif which == 5:
        Derived[go]
    else:
        Derived()


@way
def by_standard_types(go):
    which = random.randrange(8)
    if which == 0:
        class Colour(enum.Enum):
            RED = 1

            @classmethod
            def _missing_(cls, value):
                go()
                return cls.RED
        Colour(5)
    elif which == 1:
        @dataclasses.dataclass
        class Data:
            made: int = dataclasses.field(default_factory=go)

            def __post_init__(self):
                note()
        Data()
    elif which == 2:
        collections.defaultdict(go)[1]
    elif which == 3:
        class Sized(abc.ABC):
            @classmethod
            def __subclasshook__(cls, other):
                go()
                return True
        issubclass(type("Fresh", (), {}), Sized)
    elif which == 4:
        @functools.singledispatch
        def single(_):
            go()
        single(1)
    elif which == 5:
        heapq.heapify([Thing(go if i == 2 else int, i) for i in range(3)])
    elif which == 6:
        bisect.bisect([Thing(go, 1)], Thing(int, 0))
    else:
        class Lost(dict):
            def __missing__(self, key):
                return go()
        Lost()[1]


@way
def by_context_managers(go):
    @contextlib.contextmanager
    def managed():
        note()
        try:
            yield
        except ZeroDivisionError:
            go()
    which = random.randrange(3)
    if which == 0:
        with managed(), Thing(note):
            1 / 0
        with managed():
            1 / 0
    elif which == 1:
        with contextlib.ExitStack() as stack:
            stack.callback(note)
            stack.callback(go)
    else:
        with Thing(go):
            raise ValueError


@way
def by_an_exception(go):
    def fails(n):
        try:
            if n:
                fails(n - 1)
            raise KeyError(n)
        finally:
            note()
    try:
        fails(3)
    except KeyError:
        try:
            raise ValueError from None
        except ValueError as error:
            go()
            note(error.__traceback__)


@way
def by_coroutines(go):
    """Driven by hand, and by a loop where none runs yet."""
    @types.coroutine
    def pause():
        yield note()

    class Awaited:
        def __await__(self):
            go()
            yield from pause()

    async def produce():
        try:
            for i in range(2):
                yield i
                await pause()
        finally:
            note()

    async def work():
        async with Manager():
            await Awaited()
            async for _ in produce():
                note()
            [note(i) async for i in produce()]
            raise KeyError

    class Manager:
        async def __aenter__(self):
            await pause()

        async def __aexit__(self, *_):
            await pause()
            note()
            return True
    coroutine = work()
    with contextlib.suppress(StopIteration):
        while True:
            coroutine.send(None)


@way
def by_a_loop(go):
    async def fails():
        await asyncio.sleep(0)
        note()
        raise KeyError

    async def cancelled():
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            note()
            raise

    async def main():
        loop = asyncio.get_running_loop()
        loop.slow_callback_duration = 3600
        task = loop.create_task(cancelled())
        await asyncio.gather(fails(), fails(), return_exceptions=True)
        task.cancel()
        loop.call_soon(go)
        task.add_done_callback(note)
        await asyncio.gather(task, return_exceptions=True)
        generator = produce()
        async for _ in generator:
            break
        await generator.aclose()

    async def produce():
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            note()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(main())
    else:
        go()
