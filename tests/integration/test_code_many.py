# SPDX-License-Identifier: Apache-2.0
"""
Thousands of functions of real programs and libraries hooked in their code: nothing that they print is another. Which functions is
random (CODE_SEED); CODE_FUNCTIONS=10000, as `make check-code` has it, goes on until there were so many.
"""
import os
import random
import re
import subprocess

import pytest

from conftest import LIBRARY, PYTHON, ROOT, report

SEED = int(os.environ.get("CODE_SEED", "1"))
FUNCTIONS = int(os.environ.get("CODE_FUNCTIONS", "500"))
SETTINGS = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
PROGRAMS = ROOT / "tests/workloads"


def run(tprof, script, ops=None):
    """What it prints; and how many functions were hooked in the code of each module."""
    tprof_settings = {"TPROF_OPS": ops, "TPROF_CHILDREN": "0", "TPROF_RING": "64M"} if ops else {}
    done = tprof.run([PYTHON, PROGRAMS / script], [LIBRARY] if ops else [], {**SETTINGS, **tprof_settings})
    assert done.status == 0, done.stderr.decode(errors="replace")
    if not ops:
        return done.stdout, {}
    hooks = report(done.traces()[0], command="info")["capture"]["hooks"]
    return done.stdout, {m["module"]: m["functions"] for m in hooks["modules"] if m["by"] == "code"}


def test_the_interpreter(tprof):
    """Every function that CPython exports, the loop that evaluates frames among them."""
    bare, _ = run(tprof, "much_of_python.py")
    hooked, functions = run(tprof, "much_of_python.py", "Py*,_Py*")
    assert hooked == bare
    exported = subprocess.run(["nm", "-D", "--defined-only", PYTHON], capture_output=True, text=True, check=True).stdout.count(" T ")
    if exported < 500:
        pytest.skip("this python3 has its functions in a library")
    assert sum(functions.values()) > 0.95 * exported


@pytest.mark.real
def test_random_functions_of_torch(tprof):
    """Of libtorch, OpenBLAS, libstdc++ and what else it loads: those in whose names certain letters follow each other."""
    draw = random.Random(SEED)
    bare, _ = run(tprof, "much_of_torch.py")
    total = 0
    for _ in range(200):
        globs = ["*" + "".join(draw.choice("abcdefghijklmnoprstuvwy_") for _ in range(3)) + "*" for _ in range(12)]
        hooked, functions = run(tprof, "much_of_torch.py", ",".join(globs))
        assert hooked == bare, f"CODE_SEED={SEED}: TPROF_OPS='{','.join(globs)}'"
        total += sum(functions.values())
        print(f"{sum(functions.values())} functions of {len(functions)} modules, {total} so far")
        if total >= FUNCTIONS:
            break
    assert total >= FUNCTIONS


def own_tests(tprof, command, ops, summary):
    """What a project's own tests say at their end, without and with functions hooked; and how many are."""
    ends = []
    for libraries, settings in (([], {}), ([LIBRARY], {"TPROF_OPS": ops, "TPROF_CHILDREN": "0", "TPROF_RING": "64M"})):
        done = tprof.run(command, libraries, {**SETTINGS, **settings}, timeout=3000)
        ends.append((done.status, re.findall(summary, done.stdout.decode(errors="replace"), re.M)))
    hooks = report(done.traces()[0], command="info")["capture"]["hooks"]
    return *ends, sum(m["functions"] for m in hooks["modules"] if m["by"] == "code")


OWN = pytest.mark.skipif("CODE_FUNCTIONS" not in os.environ, reason="takes minutes: make check-code")


@OWN
def test_pythons_own_tests(tprof):
    """Those of Debian's libpython3.11-testsuite, on what the interpreter's own functions do."""
    names = ("dict list set json re exceptions generators coroutines threading gc weakref struct pickle float long unicode bytes "
             "memoryview traceback sys_settrace frame descr super functools itertools datetime zlib signal fork1 contextlib ast "
             "compile marshal array").split()
    bare, hooked, functions = own_tests(tprof, [PYTHON, "-m", "test", *(f"test_{name}" for name in names)], "Py*,_Py*", r"^Tests result: .*")
    assert bare == hooked == (0, ["Tests result: SUCCESS"]) and functions > 1000


@OWN
def test_numpys_own_tests(tprof):
    """Of its linear algebra, arithmetic, Fourier transforms and random numbers, by CPython's functions and OpenBLAS'."""
    numpy = subprocess.run([PYTHON, "-c", "import numpy; print(numpy.__path__[0])"], capture_output=True, text=True, check=True).stdout.strip()
    parts = ("linalg/tests", "core/tests/test_numeric.py", "core/tests/test_umath.py", "fft/tests", "random/tests/test_random.py")
    bare, hooked, functions = own_tests(tprof, [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"{numpy}/{part}" for part in parts)],
                                        "Py*,_Py*,cblas_*,*gemm*,*gemv*,*trsm*,*getrf*,*potrf*,openblas*,blas_*",
                                        r"^(\d+ passed.*?), \d+ warnings? in|^(\d+ passed.*?) in")
    assert bare == hooked and bare[0] == 0 and bare[1] and functions > 1000
