# SPDX-License-Identifier: Apache-2.0
"""Functions of one name and one file that differ in where they stand and in how long they are, alone."""
import os

from python_notes import note, tell

LINES = 64
LENGTHS = 16  # functions on a line, each longer behind its call than the last one

ALIKE = "".join("[" + "".join(f"lambda a=0: (note(), {'a, ' * length}), " for length in range(LENGTHS)) + "],\n"
                for _ in range(LINES))

for line in eval(compile("(" + ALIKE + ")", "alike.py", "eval")):
    for function in line:
        function()
tell()
print(True, flush=True)
os._exit(0)
