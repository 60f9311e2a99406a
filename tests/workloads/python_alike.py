# SPDX-License-Identifier: Apache-2.0
"""Functions of one name and one file that differ in where they stand and in how long they are, alone; and functions that come
one after the other in one place, where the code object, its frame and the instruction have the address of the last one's."""
import os
import types

from python_notes import note, tell

LINES = 64
LENGTHS = 16  # functions on a line, each longer behind its call than the last one
TURNS = 200

ALIKE = "".join("[" + "".join(f"lambda a=0: (note(), {'a, ' * length}), " for length in range(LENGTHS)) + "],\n"
                for _ in range(LINES))


def in_one_place():
    """How many code objects had the address of one before. Nothing is allocated that C's malloc() would hear of between them."""
    code, addresses = compile("lambda: note()", "place.py", "eval").co_consts[0], set()
    for turn in range(TURNS):
        function = types.FunctionType(code.replace(co_firstlineno=1000 + turn), globals())
        function()
        addresses.add(id(function.__code__))
        del function
    return TURNS - len(addresses)


for line in eval(compile("(" + ALIKE + ")", "alike.py", "eval")):
    for alike in line:
        alike()
reused = in_one_place()
tell()
print(reused > TURNS // 2, flush=True)
os._exit(0)
