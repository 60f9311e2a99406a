# SPDX-License-Identifier: Apache-2.0
"""Ways of python_through.py through C, other threads, and what comes by itself."""
import codecs
import contextvars
import ctypes
import functools
import gc
import importlib.abc
import importlib.machinery
import io
import itertools
import json
import pickle
import random
import sqlite3
import sys
import threading
import weakref
import xml.parsers.expat

from python_notes import libc, note
from python_through_ways import Thing, way

COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
START = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
fresh = itertools.count()


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
def by_what_a_call_held(go):
    """The variables of a function that C called, and of what runs when they go: its frame is gone by then."""
    class Held:
        def __init__(self, more):
            self.more = more

        def __del__(self):
            note()
            if self.more:
                sorted([self.more - 1], key=hold)
            else:
                go()

    def hold(more):
        held = Held(more)
        note(held)
        return 1
    sorted([1], key=hold)


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
    """Set in this thread by another one, it comes at a place of its own choice; here in a loop that waits for it. A destructor
    or a callback that it comes in loses it; then it is set again."""
    def set_it(number=threading.get_ident()):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(number), ctypes.py_object(Come))
    try:
        while True:
            thread = threading.Thread(target=set_it)
            thread.start()
            for _ in range(10000):
                note() if random.randrange(50) == 0 else int()
            thread.join()
            for _ in range(1000):  # by now it was set, and these would have met it
                int()
    except Come:
        note()
    thread.join()
    go()


class Come(BaseException):
    pass
