# SPDX-License-Identifier: Apache-2.0
"""Blocks of a size of its own each, and beside each the Python frames that were there, as the interpreter tells them:
function, file and line, innermost first."""
import ctypes
import dis
import functools
import itertools
import json
import os
import sys
import weakref

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
BLOCK = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.py_object)(("malloc", libc))
FIRST = 1000001
notes = []
count = itertools.count()  # no lock: one note may come in the middle of another, from a signal or a collection


def line_of(frame):
    """In 3.9 a frame that is traced has a line that its tracer is told, and keeps that when nothing is traced any more."""
    if sys.version_info >= (3, 10) or not frame.f_trace:
        return frame.f_lineno or 0
    line = frame.f_code.co_firstlineno
    for start, at in dis.findlinestarts(frame.f_code):
        if start > frame.f_lasti:
            break
        line = at
    return line


def frames(frame):
    found = []
    while frame:
        code = frame.f_code
        found.append((getattr(code, "co_qualname", code.co_name), code.co_filename, line_of(frame)))
        frame = frame.f_back
    return found


def note(value=0):
    size = FIRST + 16 * next(count)
    notes.append((size, frames(sys._getframe()), libc.malloc(ctypes.c_size_t(size))))
    return value


def note_at_the_end(thing, frame):
    """By C alone, when nothing holds `thing` any more, which is while `frame` runs. What this returns is to be kept until then."""
    size = FIRST + 16 * next(count)
    notes.append((size, frames(frame), None))
    return weakref.ref(thing, functools.partial(BLOCK, size))


def numbers(n, *between):
    """A generator that notes, and does what it is told before it goes on."""
    for i in range(n):
        note()
        for what in between:
            what(i)
            note()
        yield i


def tell():
    with open(os.environ["TRUTH_FILE"], "w") as out:
        json.dump(notes, out)
