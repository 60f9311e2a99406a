# SPDX-License-Identifier: Apache-2.0
"""The interpreter's end: what is called when modules are taken down, `beside` a thread that goes on, and what C does after
it. As python_stacks.py, each block has a size of its own, and the frames that were there are told beside it."""
import atexit
import ctypes
import json
import os
import sys
import threading
import weakref

from python_notes import FIRST, frames, libc

truth = os.open(os.environ["TRUTH_FILE"], os.O_WRONLY | os.O_CREAT, 0o600)
count = [0]


def note(frames=frames, here=sys._getframe, malloc=libc.malloc, size_t=ctypes.c_size_t, count=count, write=os.write,
         truth=truth, dumps=json.dumps, first=FIRST):
    """With all that it needs at hand: the module's names are gone at the end."""
    size = first + 16 * count[0]
    count[0] += 1
    write(truth, dumps([size, frames(here()), malloc(size_t(size))]).encode() + b"\n")


class Late:
    """In the module's namespace, in a cycle, in the type itself: each is taken down at a time of its own."""

    def __init__(self, note=note):
        self.note = note
        self.itself = self

    def deeper(self, n):
        return self.deeper(n - 1) if n else self.note()

    def __del__(self):
        self.deeper(3)
        [self.note() for _ in range(2)]


def go_on():
    while True:
        bytearray(5000)


def generator(note=note):
    try:
        yield
    finally:
        note()


atexit.register(note)
weakref.finalize(Late, note)
kept = Late()
Late.kept = Late()
json.kept = Late()
waiting = generator()
next(waiting)
if "beside" in sys.argv:
    threading.Thread(target=go_on, daemon=True).start()
Late()
getattr(libc, "__cxa_atexit")(libc.tmpfile, None, None)  # allocates, when there is no interpreter any more
print("end")
