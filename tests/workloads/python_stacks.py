# SPDX-License-Identifier: Apache-2.0
"""Allocates at known places, each block of a size of its own, and says for each which Python frames were there: function,
file and line as the interpreter tells them, innermost first. Everything that can stand between two Python frames."""
import asyncio
import atexit
import contextlib
import ctypes
import functools
import gc
import importlib.util
import os
import re
import signal
import sys
import threading
import weakref

from python_notes import libc, note, note_at_the_end, notes, numbers, tell


def recurse(n):
    return recurse(n - 1) + 1 if n else note()


def delegate(n):
    yield from numbers(n)
    yield note()


async def inner():
    note()
    await asyncio.sleep(0)
    note()


async def outer():
    await inner()
    await asyncio.gather(inner(), inner())
    async for _ in agen():
        note()
    async with Managed():
        note()
    return [note(i) async for i in agen()]


async def agen():
    for i in range(2):
        note()
        yield i


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args):
        note()
        return function(*args)
    return wrapper


@decorate
@functools.lru_cache
def decorated(n):
    return note(n)


class Meta(type):
    def __new__(mcs, name, bases, space):
        note()
        return super().__new__(mcs, name, bases, space)


class Managed:
    def __enter__(self):
        return note(self)

    def __exit__(self, *_):
        note()

    async def __aenter__(self):
        return note(self)

    async def __aexit__(self, *_):
        note()

    def __getattr__(self, name):
        return note(name)

    def __add__(self, other):
        return note(other)

    def __lt__(self, other):
        return note(True)

    def __del__(self):
        note()

    @property
    def seen(self):
        return note(1)

    @staticmethod
    def still():
        return note(2)

    @classmethod
    def known(cls):
        return note(3)


@contextlib.contextmanager
def managed():
    note()
    try:
        yield note(4)
    finally:
        note()


def calls():
    recurse(0)
    recurse(40)
    list(numbers(2))
    sum(delegate(2))
    [note() for _ in range(2)]
    {note(i): note(i) for i in range(2)}
    {note(i) for i in range(2)}
    list(note() for _ in range(2))
    (lambda: note())()
    decorated(1), decorated(2)
    functools.partial(note, 1)()
    functools.reduce(lambda a, b: note(b), [1, 2, 3])
    sorted([3, 1, 2], key=lambda v: note(v))
    sorted([Managed(), Managed()])
    list(map(note, [1, 2]))
    max(filter(lambda v: note(v), [1, 2]))
    re.sub("a", lambda match: str(note()), "banana")


def objects():
    class Local(metaclass=Meta):
        here = note()

        def __init_subclass__(cls):
            note()

    class Below(Local):
        there = note()

    thing = Managed()
    with thing as same, managed():
        same.missing, same + 1, same.seen, same.still(), same.known()
    del thing, same
    other = Managed()
    reference = weakref.ref(other, lambda _: note())
    del other
    gc.callbacks.append(lambda *_: note())
    gc.collect()
    gc.callbacks.clear()
    return Local, Below, reference


def failures():
    try:
        [][note()]
    except IndexError:
        note()
    finally:
        note()
    try:
        recurse_and_raise(3)
    except ValueError as error:
        note(error)


def recurse_and_raise(n):
    try:
        if n:
            recurse_and_raise(n - 1)
        raise ValueError
    finally:
        note()


def from_c():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: note(1))
    libc.qsort((ctypes.c_int * 4)(4, 3, 2, 1), 4, 4, compare)

    def twice(a, b):
        note()
        return note(0) or note(1)
    libc.qsort((ctypes.c_int * 4)(4, 3, 2, 1), 4, 4, ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(twice))
    nested = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        lambda a, b: recurse(3) or libc.qsort((ctypes.c_int * 2)(2, 1), 2, 4, compare) and 0)
    libc.qsort((ctypes.c_int * 2)(2, 1), 2, 4, nested)
    signal.signal(signal.SIGUSR1, lambda *_: note())
    os.kill(os.getpid(), signal.SIGUSR1)
    note(
        note(
            note()))


def made():
    """Code that is compiled, run and thrown away; the next takes its place in memory."""
    for i in range(40):
        space = {"note": note}
        exec(compile(f"def name_{i:02}():\n{chr(10) * (i % 7)}    note()\nname_{i:02}()\n", f"<made {i:02}>", "exec"), space)
        space.clear()
        eval(compile(f"note({i})", f"<evaluated {i:02}>", "eval"), {"note": note})
    exec("def größe_名():\n    note()\ngröße_名()", {"note": note})


def imported(folder):
    path = os.path.join(folder, "imported_by_test.py")
    with open(path, "w") as out:
        out.write("import builtins\nbuiltins.note()\n\n\nclass A:\n    b = builtins.note()\n")
    spec = importlib.util.spec_from_file_location("imported_by_test", path)
    import builtins
    builtins.note = note
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def threads():
    def work(n):
        recurse(n)
        list(numbers(2))

    several = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for one in several:
        one.start()
    for one in several:
        one.join()


def let_go():
    """What a function that C called holds goes when its frame is gone."""
    class Held:
        def __del__(self):
            note()
            go_on()

    def hold(_):
        held = Held()
        kept.append(note_at_the_end(held, sys._getframe(1)))
        note()
        return 1

    def go_on():
        if len(kept) < 4:
            sorted([0], key=hold)
    kept = []
    go_on()


def finish():
    note()
    tell()


def main():
    atexit.register(finish)
    calls()
    objects()
    failures()
    from_c()
    made()
    let_go()
    imported(os.getcwd())
    asyncio.run(outer())
    threads()
    print(len(notes), "notes")


main()
