# SPDX-License-Identifier: Apache-2.0
"""
leak_kinds.py FOLDER KIND STEPS [FILE]: a loop with one planted leak, at the line marked "LEAK kind", or with none. FOLDER has
tprof.py. Waits for FILE at the end.
"""
import gc
import os
import sys
import time

sys.path.insert(0, sys.argv[1])
import tprof  # noqa: E402  the folder has it

KIND, STEPS = sys.argv[2], int(sys.argv[3])
kept, cache, hooks = [], {}, []


class Model:
    history = []

    def forward(self, size):
        return bytearray(size)


class Node:
    def __init__(self, size):
        self.data = bytearray(size)  # LEAK cycle
        self.own = self


def closure(step):
    data = bytearray(3000)  # LEAK closure
    return lambda: len(data) + step


def fails(step):
    frame_data = bytearray(2500)  # LEAK exception
    raise ValueError(step, len(frame_data))


def run(model, step):
    if KIND == "list":
        kept.append(bytearray(2000))  # LEAK list
    if KIND == "cache":
        cache[step] = bytes(2000)  # LEAK cache
    if KIND == "closure":
        hooks.append(closure(step))
    if KIND == "attribute":
        model.history.append(model.forward(1500))
    if KIND == "cycle":
        Node(1800)
    if KIND == "exception":
        try:
            fails(step)
        except ValueError as error:
            kept.append(error)
    if KIND == "view":
        kept.append(memoryview(bytearray(4000))[:10])  # LEAK view
    if KIND == "floats":
        kept.append([step + i / 2 for i in range(70)])  # LEAK floats
    if KIND == "freed floats":
        cache[step % 200] = [step + i / 2 for i in range(70)]
    if KIND == "generated":
        exec(compile(f"def f_{step}(): return bytearray(2200)\nkept.append(f_{step}())", f"<made {step}>", "exec"))
    if KIND == "replaced":
        cache["last"] = bytearray(1000 + 30 * step)
    if KIND == "local":
        sum(len(bytearray(2000)) for _ in range(3))


gc.disable()
the_model = Model()
for number in range(STEPS):
    run(the_model, number)
    tprof.step()
while len(sys.argv) > 4 and not os.path.exists(sys.argv[4]):  # is searched meanwhile
    time.sleep(0.01)
