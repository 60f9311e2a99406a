# SPDX-License-Identifier: Apache-2.0
"""Greenlets: stacks of Python and of C that are switched between in the middle of calls. As python_stacks.py, each block
has a size of its own, and the frames that were there are told beside it."""
import ctypes
import threading

import greenlet
from python_notes import libc, note, notes, numbers, tell

COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def deeper(n, what):
    return deeper(n - 1, what) if n else what()


def compare(back):
    try:
        back.switch(note())
    except ValueError:
        note()
    return note(1)


def worker(depth, back):
    """Switches away at a depth of its own, out of a generator, and out of a callback that C called."""
    note()
    deeper(depth, lambda: back.switch(note()))
    deeper(depth, note)
    for _ in numbers(3, back.switch):
        note()
    libc.qsort((ctypes.c_int * 3)(3, 2, 1), 3, 4, COMPARE(lambda a, b: compare(back)))
    try:
        deeper(depth, lambda: back.switch(note()))
    except ValueError:
        note()
    return note()


def rounds():
    here = greenlet.getcurrent()
    several = [greenlet.greenlet(worker) for _ in range(5)]
    for depth, one in enumerate(several):
        one.switch(3 * depth, here)
        note()
    for turn in range(6):
        for one in several:
            if not one.dead:
                deeper(turn, one.switch)
                note()
    thrown = [one for one in several if not one.dead]
    for one in thrown:
        try:
            one.throw(ValueError)
        except ValueError:
            note()
        note()
    while any(not one.dead for one in several):
        for one in several:
            if not one.dead:
                one.switch()
                note()


def chain(n):
    """Greenlets that start greenlets; the innermost goes back past all of them."""
    def run(i):
        note()
        if i:
            greenlet.greenlet(run).switch(i - 1)
        else:
            outer.switch(note())
        note()
    outer = greenlet.getcurrent()
    greenlet.greenlet(run).switch(n)
    note()


def left_alone():
    """Killed in the middle, when the last reference goes."""
    def run():
        try:
            outer.switch()
        finally:
            note()
    outer = greenlet.getcurrent()
    one = greenlet.greenlet(run)
    one.switch()
    del one
    note()


def main():
    rounds()
    chain(5)
    left_alone()
    several = [threading.Thread(target=rounds) for _ in range(2)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    tell()
    print(len(notes) > 200)


main()
