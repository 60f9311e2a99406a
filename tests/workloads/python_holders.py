# SPDX-License-Identifier: Apache-2.0
"""python_holders.py FOLDER: keeps blocks in many ways, those of each way of a size of its own, and waits until FOLDER/go is there."""
import collections
import functools
import gc
import os
import sys
import threading
import time

STEPS = 60
gc.disable()
losses, hooks, errors, views = [], [], [], []
cache, seen, deque = {}, set(), collections.deque()
head = None


class Model:
    shared = []

    def __init__(self):
        self.history = []
        self.steps = 0


class Slotted:
    __slots__ = ("kept",)

    def __init__(self):
        self.kept = []


class Node:
    def __init__(self, size):
        self.next = None
        self.data = bytearray(size)


class Hook:
    def __init__(self, size):
        self.data = bytearray(size)

    def call(self):
        pass


def make_closure():
    inside = []

    def keep(size):
        inside.append(bytearray(size))
    return keep


@functools.lru_cache(maxsize=None)
def cached(step):
    return bytearray(1006)


@functools.lru_cache(maxsize=500)
def limited(step):
    return bytearray(1007)


def default(size, kept=[]):
    kept.append(bytearray(size))


def generate():
    inner = []
    while True:
        inner.append(bytearray(1014))
        yield


def fails(step):
    frame_data = bytearray(1015)
    raise ValueError(step, len(frame_data))


model, slotted, keep, generator = Model(), Slotted(), make_closure(), generate()
local = threading.local()
local.kept = []


def run_step(step, mine):
    global head
    losses.append(bytearray(1001))
    cache[step] = bytearray(1002)
    cache["step %d" % step] = bytearray(1003)
    model.history.append(bytearray(1004))
    Model.shared.append(bytearray(1005))
    cached(step), limited(step)
    keep(1008)
    hooks.append(Hook(1009).call)
    seen.add(Hook(1010))
    default(1011)
    local.kept.append(bytearray(1012))
    deque.append(bytearray(1013))
    next(generator)
    slotted.kept.append(bytearray(1016))
    mine.append(bytearray(1017))
    node = Node(1018)
    node.next, head = head, node
    views.append(memoryview(bytearray(1019)))
    alone = Node(1020)
    alone.next = alone


def keep_error(step):
    try:
        fails(step)
    except ValueError as error:
        errors.append(error)


def train():
    mine = []
    for step in range(STEPS):
        run_step(step, mine)
        keep_error(step)
    open(sys.argv[1] + "/ready", "w").close()
    while not os.path.exists(sys.argv[1] + "/go"):
        time.sleep(0.01)


train()
