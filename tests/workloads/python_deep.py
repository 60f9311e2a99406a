# SPDX-License-Identifier: Apache-2.0
"""Recursion deeper than is kept, and up to the interpreter's own limit, in turns with shallow calls. As python_stacks.py, each
block has a size of its own, and the frames that were there are told beside it."""
import sys

from python_notes import note, notes, tell


def deeper(n):
    return deeper(n - 1) if n else note()


def through_c(n):
    return max([n], key=lambda _: through_c(n - 1)) if n else note()


def generated(n):
    note()
    if n:
        yield from generated(n - 1)
    yield note()


def until_it_fails(n=0):
    """What is done where nothing more can be called is done in the frames that are there."""
    try:
        until_it_fails(n + 1)
    except RecursionError:
        if n % 100 == 0:
            note()
        raise


sys.setrecursionlimit(1900)
for depth in (0, 100, 250, 253, 254, 255, 256, 900, 3, 995, 996, 997, 998, 999, 1000, 1001, 1500, 255, 1, 1500, 1499, 2):
    deeper(depth)
for depth in (1, 150, 20):
    through_c(depth)
    sum(1 for _ in generated(depth))
try:
    until_it_fails()
except RecursionError:
    note()
tell()
print(len(notes))
