# SPDX-License-Identifier: Apache-2.0
"""python_through.py SEED CHAINS [signals|threads|forks]: ways from one Python frame to the next, drawn at random and put inside
one another: through C that calls back, through what the interpreter calls by itself, through what it inlines once a place is
warm. Each way calls `go`, which is the next one, and notes before it or behind it. With signals a timer interrupts it all, and
its handler notes too; with threads several of them hand the interpreter on all the time; with forks children go on in the
middle of it. As python_stacks.py, each block has a size of its own, and the frames that were there are told beside it."""
import functools
import os
import random
import signal
import sys
import threading
import warnings

import python_through_language  # pylint: disable=unused-import  # its ways put themselves into WAYS
import python_through_outside  # pylint: disable=unused-import
from python_notes import note, notes, tell
from python_through_ways import WAYS


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
