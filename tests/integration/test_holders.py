# SPDX-License-Identifier: Apache-2.0
"""Memory that a library's cache, registry or pool holds is said to be, where the stack proves it, and only there."""
import collections
import re
import subprocess
import sys

import pytest
from conftest import BUILD, LIBRARY, PYTHON, WORKLOADS, analyze, functions, report, sites

CACHE = "void *npy_alloc_cache(size_t n) { return malloc(n); }"
SOURCES = {  # what each object of the program has; its functions allocate blocks whose size says who asked
    "_multiarray_umath.cpython-311-x86_64-linux-gnu.so": CACHE + """
        void *npy_alloc_cache_dim(size_t n) { return malloc(n); }
        void *array(size_t n) { return npy_alloc_cache(n); }
        void *plain(size_t n) { return malloc(n); }""",
    "libother.so": CACHE.replace("npy_alloc_cache", "npy_alloc_cache_zero") +
        "void *other(size_t n) { return npy_alloc_cache_zero(n); }",
    "program": """void *array(size_t), *plain(size_t), *other(size_t), *npy_alloc_cache_dim(size_t);
        static void *volatile kept;
        int main(void)
        {
            kept = array(1001), kept = npy_alloc_cache_dim(1002), kept = plain(1003), kept = other(1004);
            kept = malloc(1005);
            return 0;
        }""",
}


INTERNS = """
import os, sys
kept = [sys.intern("name %d" % i) for i in range(20000)]
os._exit(0)
"""
SMALL_ARRAYS = "numpy's small arrays, or its cache of their blocks"


def build(directory):
    libraries = []
    for name, text in SOURCES.items():
        source = directory / "source.c"
        source.write_text("#include <stdlib.h>\n" + text)
        kind = [] if name == "program" else ["-shared", "-fPIC"]
        subprocess.run(["gcc", "-O1", "-g", "-fno-builtin", "-fno-optimize-sibling-calls", *kind, "-o", directory / name,
                        source, *libraries, "-Wl,-rpath,$ORIGIN"], check=True)
        libraries.append(directory / name)
    return directory / "program"


def test_only_what_is_proven(tprof):
    """The function counts in its own library, with its whole name, and nothing beside it."""
    run, _ = tprof.summary([build(tprof.directory)])
    for command in ("leaks", "peak"):
        held = {site["bytes"]: site["held_by"] for site in sites(run.traces()[0], command)
                if 1001 <= site["bytes"] <= 1005}
        assert held == {1001: SMALL_ARRAYS, 1002: "numpy's cache of shapes", 1003: None, 1004: None, 1005: None}
    text = analyze("leaks", run.traces()[0]).stdout
    assert text.count("held by") == 2 and f"held by {SMALL_ARRAYS}" in text


def test_threads_of_openmp(tprof):
    run, _ = tprof.summary([WORKLOADS / "regions"])
    own = [site for site in sites(run.traces()[0], "leaks") if site["stack"][0]["module"].startswith("libgomp.so")]
    assert own and all(site["held_by"] == "OpenMP's pool of threads" for site in own)


def test_interned_strings(tprof):
    """What was interned in native code; a Python function in between owns what it allocates."""
    run, _ = tprof.summary([PYTHON, "-S", "-c", INTERNS])
    seen, nameless = 0, 0
    for site in sites(run.traces()[0], "leaks"):
        native = []
        for frame in site["stack"]:
            if frame["language"] == "python":
                break
            native.append(frame)
        interned = any(name and name.lstrip("_").startswith("PyUnicode_Intern") for name in functions(native))
        assert (site["held_by"] == "Python's interned strings") is interned
        seen += site["bytes"] * interned
        nameless += site["bytes"] * (not any(functions(native)))
    # A table of so many entries. Debian 13's Python 3.13 reaches by jumps what makes it, and has no name for that.
    assert (seen if sys.version_info < (3, 13) else max(seen, nameless)) > 20000 * 24


# Each line's blocks have a size of their own; what a module keeps is kept until the end.
MODULES = {
    "site-packages/package.py": "import common\nkept = common.block(100003)\ndef later():\n    return common.block(100019)\n",
    "site-packages/common.py": "import ctypes\nblock = ctypes.CDLL(None).malloc\nblock.restype = ctypes.c_void_p\n"
                               "block.argtypes = [ctypes.c_size_t]\n",
    "own.py": "import common, package\nkept = common.block(100043)\nmore = package.later()\n",
    "main.py": "import sys\nsys.path[1:1] = [sys.path[0] + '/site-packages']\nimport own, package, common\n"
               "kept = [common.block(100049), package.later()]\n",
}


def test_imports_and_start_of_python(tprof):
    """What installed modules do when they are imported is held; what the program's own lines do is not, and comes first."""
    folder = tprof.directory / "program"
    for name, text in MODULES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    run = tprof.run([PYTHON, "-S", folder / "main.py"], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 0, run.stderr
    trace = run.traces()[0]
    for options in ([], ["--language", "python"]):
        blocks = [site for site in sites(trace, "leaks", *options) if 100003 <= site["largest_bytes"] <= 100049]
        assert sorted((site["largest_bytes"], site["held_by"]) for site in blocks) == [
            (100003, "Python's imported modules"), (100019, None), (100019, None), (100043, None), (100049, None)]
        start = [site for site in sites(trace, "leaks", *options) if site["held_by"] == "Python's start"]
        assert any("Py_InitializeFromConfig" in functions(site["stack"]) for site in start)
        assert all(frame["language"] == "native" for site in start for frame in site["stack"])
        unfreed = report(trace, command="leaks", options=["--top", "0", *options])["unfreed"]
        sums = {}
        for site in unfreed["sites"]:
            sums[site["held_by"]] = sums.get(site["held_by"], 0) + site["bytes"]
        assert {row["held_by"]: row["bytes"] for row in unfreed["held"]} == {name: sums[name] for name in sums if name}
        text = analyze("leaks", "--top", "0", *options, trace).stdout
        assert text.index("main.py:4") < text.index("held by") and "held by" in text and text.rindex("own.py:2") < text.index(
            "held by")


@pytest.mark.real
def test_registry_of_torch(tprof):
    """The larger part of what a program with torch leaves behind is none of its own."""
    run = tprof.profile([PYTHON, "-c", "import torch, os; os._exit(0)"], timeout=600)
    unfreed = report(run.traces()[0], command="leaks", options=["--top", "1"])["unfreed"]
    held = {row["held_by"]: row["bytes"] for row in unfreed["held"]}
    assert held["torch's registry of operators"] > 15 << 20
    assert sum(held.values()) > 0.99 * unfreed["bytes"]  # the program does nothing else


# Nothing else of numpy asks for 776 bytes.
ARRAYS = """
import ctypes, sys
import numpy
arrays = [numpy.full(97, 1.0) for _ in range(3)]
for array in arrays if "leak" in sys.argv else []:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
"""


@pytest.mark.real
def test_leaked_arrays_of_numpy(tprof):
    """They look as the blocks in numpy's cache do, so neither is said to be held where numpy has no names."""
    for arguments in ([], ["leak"]):
        run, _ = tprof.summary([PYTHON, "-c", ARRAYS, *arguments])
        blocks = [site for site in sites(run.traces()[0], "leaks", "--language", "native") if site["largest_bytes"] == 776 and
                  site["stack"][0]["module"].startswith("_multiarray_umath")]
        assert [(site["blocks"], site["bytes"], site["held_by"]) for site in blocks] == [(3, 3 * 776, None)]


# Buffers from the cache and from malloc, grown in place and moved; kept, given back, lost.
BUFFERS = """
import os, sys
import numpy
kept = [numpy.full(97, 1.0) for _ in range(50)]
for _ in range(1000):
    gone = numpy.full(98, 2.0)
gone = [numpy.full(99, 3.0) for _ in range(20)]
del gone
large = numpy.ones(100001)
del large
moved = numpy.zeros(10)
for size in (500, 200003, 200004, 20, 300005):
    moved.resize(size, refcheck=False)
os._exit(0)
"""


@pytest.mark.real
def test_buffers_of_numpy(tprof):
    """Where Python's objects are recorded: what numpy has handed out, and not what it keeps to hand out again."""
    run, summary = tprof.summary([PYTHON, "-c", BUFFERS], env={"TPROF_PYTHON": "alloc", "TPROF_CPU": "0"})
    held = {}
    for site in sites(run.traces()[0], "leaks", "--language", "native"):
        if (site["stack"][0]["module"] or "").startswith("_multiarray_umath"):
            size = site["bytes"] / site["blocks"]
            held[size] = held.get(size, 0) + site["blocks"]
    assert {size: held.get(size, 0) for size in (776, 784, 792, 800008, 1600024, 2400040)} == \
        {776: 50, 784: 0, 792: 0, 800008: 0, 1600024: 0, 2400040: 1}
    dump = analyze("dump", "--exact", run.traces()[0]).stdout.replace(",", "")
    made = collections.Counter(int(size) for size in re.findall(r"pool alloc +0x[0-9a-f]+ +([0-9]+) B ", dump))
    assert [made[size] for size in (776, 784, 792, 800008, 1600024, 2400040)] == [50, 1000, 20, 1, 1, 1]
    pools = summary["heap"]["pools"]
    assert summary["heap"]["unmatched_frees"] == 0 and pools["block_allocations"] - pools["block_frees"] >= 51
    # In the cache are the two of 784 bytes that took turns, and seven of 792.
    assert pools["end_bytes"] >= 50 * 776 + 2 * 784 + 7 * 792 + 2400040


ARENAS = """
import sys
sys.path.insert(0, sys.argv[1])
import mmap, tprof
kept = []
def grow():
    for number in range(9000):
        kept.append((number, str(number)))
def map_some():
    kept.append(mmap.mmap(-1, 2**20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
for _ in range(60):
    grow()
    map_some()
    tprof.step()
"""


def test_arenas_of_python(tprof):
    """Told from what the program maps itself, of the same size, also where Python's functions have no names."""
    run = tprof.run([PYTHON, "-c", ARENAS, BUILD / "share/tprof"], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 0, run.stderr
    trace = run.traces()[0]
    grown = [site for site in report(trace, command="leaks")["growth"]["mappings"] if site["verdict"] == "leak"]
    arenas = [site for site in grown if "grow" in functions(site["stack"])]
    own = [site for site in grown if "map_some" in functions(site["stack"])]
    assert arenas and all(site["held_by"] == "Python's arenas of small objects" for site in arenas)
    assert own and all(site["held_by"] is None for site in own)
    assert "held by Python's arenas of small objects" in analyze("leaks", trace).stdout
