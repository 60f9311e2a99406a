# SPDX-License-Identifier: Apache-2.0
"""python_own_gil.py COUNT TURNS: so many interpreters with a GIL each, every one in a thread of its own, at once, and the first
one beside them; each is destroyed and made anew. Each notes blocks of sizes that are its own in $TRUTH_FILE.NUMBER, and beside
each the Python frames that it tells itself, innermost first."""
import os
import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import itertools, json, sys, threading, traceback

notes, count = [], itertools.count()


def note(value=0):
    size = FIRST + 16 * next(count)
    notes.append((len(bytes(size)) + 33, frames(sys._getframe())))  # with its header and the byte behind it
    return value


def frames(frame):
    return [(f.f_code.co_qualname, f.f_code.co_filename, line or 0) for f, line in traceback.walk_stack(frame)]


def deeper(n):
    return deeper(n - 1) if n else note()


def generated(n):
    note()
    if n:
        yield from generated(n - 1)
    yield note()


class Thing:
    def __init__(self):
        note()

    def __lt__(self, other):
        return note(False)

    def __del__(self):
        note()


def work():
    for turn in range(TURNS):
        deeper(turn % 40)
        sum(1 for _ in generated(turn % 5))
        sorted([Thing(), Thing()])
        sorted(range(3), key=lambda n: note(n))
        [note(n) for n in range(2)]
        exec("def inside():\\n    note()\\n\\n\\ninside()\\n", {"note": note})


thread = threading.Thread(target=work)
thread.start()
work()
thread.join()
note()
with open(TRUTH, "w") as file:
    json.dump(notes, file)
"""


def code(number):
    return f"FIRST, TURNS, TRUTH = {1000000 * (number + 1)}, {TURNS}, {os.environ['TRUTH_FILE'] + f'.{number}'!r}\n" + CODE


def run_apart(number):
    """Twice: what comes later has the thread of what is gone, and its memory."""
    for again in (0, 1):
        one = interpreters.create()
        failed = (interpreters.run_string if sys.version_info < (3, 13) else interpreters.exec)(one, code(2 * number + again))
        interpreters.destroy(one)
        if failed:
            raise SystemExit(str(failed))


COUNT, TURNS = map(int, sys.argv[1:])
threads = [threading.Thread(target=run_apart, args=(number,)) for number in range(COUNT)]
for thread in threads:
    thread.start()
exec(compile(code(2 * COUNT), "<string>", "exec"), {"__name__": "first"})
for thread in threads:
    thread.join()
print(sum(os.path.exists(f"{os.environ['TRUTH_FILE']}.{number}") for number in range(2 * COUNT + 1)))
