# SPDX-License-Identifier: Apache-2.0
"""A second interpreter in the same process and thread: blocks of known sizes before it, in it, and after it."""
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters

CODE = """def inside():
    global kept
    kept = bytes(2000001)
    return kept
inside()
"""


def outside():
    before = bytes(3000001)
    one = interpreters.create()
    run = interpreters.run_string if hasattr(interpreters, "run_string") else interpreters.exec
    run(one, CODE)
    between = bytes(4000001)
    interpreters.destroy(one)
    return before, between, bytes(5000001)


kept = outside()
