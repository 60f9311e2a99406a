# SPDX-License-Identifier: Apache-2.0
"""python_through.py SEED CHAINS [signals|threads|forks]: ways from one Python frame to the next, drawn at random and put inside
one another: through C that calls back, through what the interpreter calls by itself, through what it inlines once a place is
warm. Each way calls `go`, which is the next one, and notes before it or behind it. With signals a timer interrupts it all, and
its handler notes too; with threads several of them hand the interpreter on all the time; with forks children go on in the
middle of it. As python_stacks.py, each block has a size of its own, and the frames that were there are told beside it."""
import abc
import asyncio
import bisect
import codecs
import collections
import contextlib
import contextvars
import copy
import ctypes
import dataclasses
import enum
import functools
import gc
import heapq
import importlib.abc
import importlib.machinery
import io
import itertools
import json
import os
import pickle
import random
import re
import signal
import sqlite3
import sys
import threading
import types
import warnings
import weakref
import xml.parsers.expat

from python_notes import libc, note, notes, tell

COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
START = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
WAYS = []
fresh = itertools.count()


def way(function):
    WAYS.append(function)
    return function


class Thing:
    """Whatever is asked of it, it goes on."""

    def __init__(self, go, value=1):
        self.go, self.value = go, value

    def __call__(self, *_, **__):
        return self.go()

    def __lt__(self, other):
        self.go()
        return self.value < getattr(other, "value", 0)

    def __eq__(self, other):
        self.go()
        return self is other

    def __hash__(self):
        self.go()
        return 7

    def __bool__(self):
        self.go()
        return True

    def __len__(self):
        self.go()
        return 3

    def __index__(self):
        self.go()
        return 2

    def __add__(self, other):
        self.go()
        return self

    __radd__ = __iadd__ = __matmul__ = __add__

    def __contains__(self, item):
        self.go()
        return True

    def __getitem__(self, item):
        self.go()
        if item == 3:
            raise IndexError
        return item

    def __setitem__(self, item, value):
        self.go()

    def __delitem__(self, item):
        self.go()

    def __format__(self, spec):
        self.go()
        return spec

    def __repr__(self):
        self.go()
        return "Thing"

    def __reversed__(self):
        self.go()
        return iter((1,))

    def __reduce__(self):
        self.go()
        return int, ()

    def __copy__(self):
        self.go()
        return self

    def __instancecheck__(self, other):
        self.go()
        return True

    def __getattr__(self, name):
        if name in ("go", "value") or name.startswith("__"):
            raise AttributeError(name)
        self.go()
        return name

    def __setattr__(self, name, value):
        if name == "other":
            self.go()
        object.__setattr__(self, name, value)

    def __enter__(self):
        self.go()

    def __exit__(self, *_):
        note()
        return True

    @property
    def seen(self):
        return self.go()

    @functools.cached_property
    def once(self):
        return self.go()


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


@way
def by_a_sort(go):
    def compare(a, b):
        nonlocal left
        left -= 1
        if not left:
            go()
        return note(1)
    left = 2
    libc.qsort((ctypes.c_int * 3)(3, 2, 1), 3, 4, COMPARE(compare))


@way
def by_sorts_in_sorts(go):
    def key(n):
        sorted([2, 1], key=lambda m: note(m) if n or m > 1 else (go(), m)[1])
        return n
    sorted([1, 0], key=key)
    min([1], key=lambda _: note() or 1)


@way
def by_a_thread(go):
    """Of Python's, and of C's, that the interpreter did not know."""
    failure = []

    def run(*_):
        try:
            note()
            go()
        except BaseException as error:
            failure.append(error)
        return None
    if random.randrange(2):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    else:
        handle, start = ctypes.c_ulong(), START(run)
        libc.pthread_create(ctypes.byref(handle), None, start, None)
        libc.pthread_join(handle, None)
    if failure:
        raise failure[0]


@way
def by_a_threads_end(go):
    """What a thread's own variables do when they go with it."""
    local = threading.local()

    class Last:
        def __del__(self):
            go()

    def run():
        local.last = Last()
        note()
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


@way
def by_garbage(go):
    class Circle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            note()
            go()
    which = random.randrange(3)
    if which == 0:
        Circle()
        gc.collect()
    elif which == 1:
        other = Thing(int)
        kept = weakref.ref(other, lambda _: go())
        del other
        note(kept)
    else:
        gone = []
        gc.callbacks.append(lambda phase, _: None if gone else gone.append(go()))
        try:
            gc.collect(0)
        finally:
            gc.callbacks.pop()


@way
def by_libraries(go):
    """C libraries that call back."""
    which = random.randrange(7)
    if which == 0:
        base = sqlite3.connect(":memory:")
        base.create_function("go", 1, lambda n: go() and 1 or n)
        base.execute("select go(n) from (select 1 as n)").fetchall()
        base.close()
    elif which == 1:
        parser = xml.parsers.expat.ParserCreate()
        parser.StartElementHandler = lambda *_: go()
        parser.Parse("<a/>", True)
    elif which == 2:
        class Raw(io.RawIOBase):
            def readable(self):
                return True

            def readinto(self, buffer):
                go()
                return 0
        io.BufferedReader(Raw()).read(5)
    elif which == 3:
        name = f"note.{next(fresh)}"
        codecs.register_error(name, lambda error: (go() and "" or "", error.end))
        "ä".encode("ascii", name)
    elif which == 4:
        json.JSONDecoder(object_hook=lambda found: go() and found).decode("{}")
    elif which == 5:
        run = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(("PyRun_SimpleString", ctypes.pythonapi))
        sys.modules["__main__"].__dict__["pending"] = go
        run(b"note()\npending()\n")
    else:
        class Persistent(pickle.Unpickler):
            def persistent_load(self, _):
                return go()
        Persistent(io.BytesIO(b"Pa\n.")).load()


@way
def by_imports(go):
    class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, *_):
            return importlib.machinery.ModuleSpec(name, self) if name == wanted else None

        def create_module(self, _):
            return None

        def exec_module(self, module):
            go()
            note(module)
    wanted = f"imported_{next(fresh)}"
    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        __import__(wanted)
    finally:
        sys.meta_path.remove(finder)
        sys.modules.pop(wanted, None)


@way
def by_watchers(go):
    """Who looks on allocates too: for a part of the way."""
    seen = []

    def look_on(*_):
        if not seen:
            seen.append(1)
            go()
        return look_on
    setter, before = random.choice([(sys.settrace, sys.gettrace()), (sys.setprofile, sys.getprofile())])
    setter(look_on)
    try:
        (lambda: int())()
    finally:
        setter(before)


@way
def by_contexts(go):
    contextvars.copy_context().run(functools.partial(functools.reduce, lambda a, b: go(), [1, 2]))


@way
def by_a_jump(go):
    """A debugger sends a frame to another of its lines."""
    def jumps():
        note()
        note(here.append(1))
        return go()

    def look_on(frame, event, _):
        if frame.f_code is jumps.__code__ and event == "line" and frame.f_lineno == first + 2:
            frame.f_lineno = first + 3
        return look_on
    here, first, before = [], jumps.__code__.co_firstlineno, sys.gettrace()
    sys.settrace(look_on)
    try:
        jumps()
    finally:
        sys.settrace(before)


@way
def by_an_exception_from_elsewhere(go):
    """Set in this thread by another one, it comes at a place of its own choice; here in a loop that waits for it."""
    def set_it(number=threading.get_ident()):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(number), ctypes.py_object(Come))
    thread = threading.Thread(target=set_it)
    try:
        thread.start()
        while True:
            note() if random.randrange(50) == 0 else int()
    except Come:
        note()
    thread.join()
    go()


class Come(BaseException):
    pass


def by_a_fork(go):
    """The child goes on where it is, in whichever thread, and ends there; what it notes stands in a file of its own."""
    before = len(notes)
    child = os.fork()
    if not child:
        try:
            note()
            go()
            del notes[:before]
            os.environ["TRUTH_FILE"] += f".{os.getpid()}"
            tell()
            os._exit(0)
        finally:
            os._exit(1)
    note()
    if os.waitpid(child, 0)[1]:
        raise SystemExit("a child failed")
    go()


def chain(length):
    """So many ways inside one another."""
    if not length:
        return note()
    note()
    random.choice(WAYS)(functools.partial(chain, length - 1))
    return note()


def chains_of(count):
    for _ in range(count):
        chain(random.randrange(1, 9))


def in_threads(count):
    sys.setswitchinterval(1e-5)
    several = [threading.Thread(target=chains_of, args=(count,)) for _ in range(4)]
    for one in several:
        one.start()
    for one in several:
        one.join()


def main(seed, count, how):
    random.seed(seed)
    sys.setrecursionlimit(5000)
    sys.unraisablehook = note
    if how == "forks":
        warnings.simplefilter("ignore")  # that threads are there when it forks
        WAYS.extend([by_a_fork] * 2)
    if how == "signals":
        signal.signal(signal.SIGALRM, lambda *_: note())
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    for way_ in WAYS:
        way_(note)
    in_threads(count // 4) if how == "threads" else chains_of(count)
    signal.setitimer(signal.ITIMER_REAL, 0)
    tell()
    print(len(notes) > count, flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if sys.argv[3:] else None)
