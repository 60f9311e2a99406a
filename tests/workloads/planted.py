# SPDX-License-Identifier: Apache-2.0
"""
planted.py FOLDER STEPS READY GO: a loop with a leak of each kind that Python has, at the lines marked "LEAK kind". FOLDER has tprof.py.
At the end it writes into the file READY, by kind, the variable from which gc.get_referrers() leads to what was kept last, or null
if none does; then it waits for the file GO.
"""
import asyncio
import atexit
import collections
import contextvars
import ctypes
import functools
import gc
import io
import json
import logging
import os
import queue
import sys
import threading
import time
import types
import weakref

sys.path.insert(0, sys.argv[1])
import tprof  # noqa: E402  the folder has it

last = {}  # by kind: the address of the block's object, which keeps nothing alive


def note(kind, thing):
    last[kind] = id(thing)
    return thing


kept_list, cache, head, hooks, errors, views, refs, seen, waiting = [], {}, None, [], [], [], [], set(), queue.Queue()
ordered, nested, buffers, deque, bound, partials = collections.OrderedDict(), collections.defaultdict(dict), [], collections.deque(), [], []
modules = types.ModuleType("made")
local, context, stream, sentence, rare = threading.local(), contextvars.ContextVar("context"), io.BytesIO(), "", []
local.kept = []
context.set([])
gc.disable()


class Node:
    def __init__(self, data, following):
        self.data = data
        self.next = following


class Model:
    shared = []

    def __init__(self):
        self.history = []


class Slotted:
    __slots__ = ("kept",)

    def __init__(self):
        self.kept = []


class Listener:
    def __init__(self, data):
        self.data = data

    def on_event(self):
        return len(self.data)


class Records(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


model, slotted, target = Model(), Slotted(), Listener(b"")
logger, handler = logging.getLogger("planted"), Records()
logger.addHandler(handler)
logger.propagate = False
loop = asyncio.new_event_loop()


def list_kind(step):
    kept_list.append(note("list", bytearray(1001)))  # LEAK list


def cache_kind(step):
    cache[step] = note("cache", bytearray(1011))  # LEAK cache


def chain_kind(step):
    global head
    head = Node(note("chain", bytearray(1021)), head)  # LEAK chain


def closure_kind(step):
    data = note("closure", bytearray(1031))  # LEAK closure
    hooks.append(lambda: len(data))


def attribute_kind(step):
    model.history.append(note("attribute", bytearray(1041)))  # LEAK attribute


def class_kind(step):
    Model.shared.append(note("class", bytearray(1051)))  # LEAK class


def slot_kind(step):
    slotted.kept.append(note("slot", bytearray(1061)))  # LEAK slot


def cycle_kind(step):
    node = Node(note("cycle", bytearray(1071)), None)  # LEAK cycle
    node.next = node


def callback_kind(step):
    bound.append(Listener(note("callback", bytearray(1081))).on_event)  # LEAK callback


def partial_kind(step):
    partials.append(functools.partial(len, note("partial", bytearray(1091))))  # LEAK partial


def fails(step):
    frame_data = note("exception", bytearray(1101))  # LEAK exception
    raise ValueError(step, len(frame_data))


def exception_kind(step):
    try:
        fails(step)
    except ValueError as error:
        errors.append(error)


def view_kind(step):
    views.append(memoryview(note("view", bytearray(1111)))[:10])  # LEAK view


@functools.lru_cache(maxsize=None)
def cached(step):
    return note("lru_cache", bytearray(1121))  # LEAK lru_cache


def lru_cache_kind(step):
    cached(step)


def thread_local_kind(step):
    local.kept.append(note("thread_local", bytearray(1131)))  # LEAK thread_local


def contextvar_kind(step):
    context.get().append(note("contextvar", bytearray(1141)))  # LEAK contextvar


def consumer():
    inner = []
    while True:
        inner.append((yield))


generator = consumer()
next(generator)


def generator_kind(step):
    generator.send(note("generator", bytearray(1151)))  # LEAK generator


def weakref_kind(step):
    data = note("weakref", bytearray(1161))  # LEAK weakref
    refs.append(weakref.ref(target, lambda _: len(data)))


def default_kind(step, kept=[]):
    kept.append(note("default", bytearray(1171)))  # LEAK default


def set_kind(step):
    seen.add(Listener(note("set", bytearray(1181))))  # LEAK set


def deque_kind(step):
    deque.append(note("deque", bytearray(1191)))  # LEAK deque


def queue_kind(step):
    waiting.put(note("queue", bytearray(1201)))  # LEAK queue


def ordered_kind(step):
    ordered[step] = note("ordered", bytearray(1211))  # LEAK ordered


def nested_kind(step):
    nested[step % 3][step] = note("nested", bytearray(1221))  # LEAK nested


def module_kind(step):
    setattr(modules, f"name_{step}", note("module", bytearray(1231)))  # LEAK module


def log_kind(step):
    logger.warning("step %s", note("log", bytearray(1241)))  # LEAK log


def atexit_kind(step):
    atexit.register(len, note("atexit", bytearray(1251)))  # LEAK atexit


def ctypes_kind(step):
    buffers.append(note("ctypes", ctypes.create_string_buffer(1261)))  # LEAK ctypes


async def forever(data):
    await loop.create_future()
    return data


def task_kind(step):
    loop.create_task(forever(note("task", bytearray(1271))))  # LEAK task


def stream_kind(step):
    stream.write(b"s" * 1281)  # LEAK stream


def text_kind(step):
    global sentence
    sentence += "t" * 1291  # LEAK text


def rare_kind(step):
    if step % 50 == 0:
        rare.append(note("rare", bytearray(65001)))  # LEAK rare


def work(step):
    """What a step needs and frees."""
    return sum(len(bytearray(600 + step % 7)) for _ in range(3))


KINDS = [function for name, function in list(globals().items()) if name.endswith("_kind")]


def variable_of(thing):
    """Backwards from the object, breadth first, to a variable of this module."""
    front, known, own = [thing], {id(thing)}, {id(last), id(globals()), id(sys._getframe())}
    for _ in range(12):
        found = []
        for one in gc.get_referrers(*front):
            if one is globals():
                names = [name for name, value in globals().items() if id(value) in known and name not in ("last", "thing")]
                if names:
                    return names[0]
            elif id(one) not in known and id(one) not in own and one is not front:
                known.add(id(one))
                found.append(one)
        front = found
        if not front:
            break
    return None


for number in range(int(sys.argv[2])):
    for function in KINDS:
        function(number)
    work(number)
    tprof.step()
variables = {kind: variable_of(ctypes.cast(address, ctypes.py_object).value) for kind, address in last.items()}
with open(sys.argv[3] + ".part", "w") as file:
    json.dump(variables, file)
os.rename(sys.argv[3] + ".part", sys.argv[3])
while not os.path.exists(sys.argv[4]):  # is searched meanwhile
    time.sleep(0.01)
os._exit(0)
