# SPDX-License-Identifier: Apache-2.0
"""python_greenlet_calls.py LIBRARY: a greenlet stops in the middle of a call of libbetween.so's function, and goes on below
another function of C than before. What is outside of where greenlets begin is on the one stack that they all have."""
import ctypes
import sys

import greenlet

here = greenlet.getcurrent()
library = ctypes.CDLL(sys.argv[1])  # behind greenlet: the function is asked for when that is there already
stop = ctypes.CFUNCTYPE(None)(here.switch)


def run():
    while True:
        library.between(stop, ctypes.c_size_t(1000), ctypes.c_size_t(2000))


def go_on(_):
    one.switch()
    return 0


one = greenlet.greenlet(run)
for turn in range(200):
    if turn % 20:
        sorted([0], key=go_on)
    else:
        max([0], key=go_on)
