# SPDX-License-Identifier: Apache-2.0
"""What leaks in code that is made anew in each step has a new stack each time: it is one leak all the same, with its rate. And
what only differs by a number in its name is not."""
import re

import pytest
from conftest import BUILD, LIBRARY, PYTHON, WORKLOADS, analyze, report

BEGIN = """
import _ctypes, ctypes, linecache, os, shutil, sys, tempfile
sys.path.insert(0, sys.argv[1])
import tprof
library, kept = sys.argv[2], []
"""

GENERATED = BEGIN + """
SOURCE = "def load(kept):\\n    size = 4000\\n    kept.append(bytearray(size))\\n"
def make(i):
    name, names = WHAT, {}
    exec(compile(SOURCE, name, "exec"), names)
    return names["load"]
def step(i):
    make(i)(kept)
for i in range(200):
    step(i)
    tprof.step()
"""

PLUGIN = BEGIN + """
def call(path):
    loaded = ctypes.CDLL(path)
    loaded.plugin_allocate.restype = ctypes.c_void_p
    kept.append(loaded.plugin_allocate(ctypes.c_size_t(3000)))
    start = next(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if path in line)
    _ctypes.dlclose(loaded._handle)
    return start
libc = ctypes.CDLL(None)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
def step(i):
    folder = tempfile.mkdtemp() if WHAT == "copied" else None
    path = shutil.copy(library, folder) if folder else library
    start = call(path)
    if folder:
        shutil.rmtree(folder)
    else:  # the next one comes to lie elsewhere
        libc.mmap(start, 4096, 0, 0x100022, -1, 0)
for i in range(120):
    step(i)
    tprof.step()
"""

# Each layer keeps something in each step of its own; the third keeps all of it.
LAYERS = BEGIN + """
SOURCE = "kept = []\\ndef forward(i):\\n    kept.append(bytearray(LEAK))\\n    if DROP and len(kept) > 4: kept.pop(0)\\n"
layers = []
for number in range(12):
    names = {"LEAK": 1000 + 100 * number, "DROP": number != 3}
    exec(compile(SOURCE, "layer%d.py" % number, "exec"), names)
    layers.append(names["forward"])
for i in range(200):
    for layer in layers:
        layer(i)
    tprof.step()
"""


def leaks(tprof, text, *options):
    program = tprof.directory / "program.py"
    program.write_text(text)
    run = tprof.run([PYTHON, program, BUILD / "share/tprof", WORKLOADS / "libplugin_a.so"], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 0, run.stderr
    return run.traces()[0], report(run.traces()[0], command="leaks", options=options)["growth"]


def of(result, function, size):
    return [site for site in result["sites"] if site["blocks"] and site["bytes"] / site["blocks"] >= size / 2 and
            any(frame["function"] == function for frame in site["stack"])]


@pytest.mark.parametrize("name", ['"<generated %d>" % i', '"/tmp/x%s/y.py" % (b"abcdefghij"[i % 10:] * i).hex()[:20 + i]',
                                  '"<lambda-%08x>" % (i * 2654435761 % 2**32)'])
@pytest.mark.parametrize("options", [(), ("--language", "python")], ids=["mixed", "python"])
def test_generated_code(tprof, name, options):
    trace, result = leaks(tprof, GENERATED.replace("WHAT", name), *options)
    (site,) = [site for site in of(result, "load", 4000) if site["verdict"] == "leak"]
    assert site["ci95"][0] <= 4001 + 9 and site["ci95"][1] >= 4001 and site["renewed"] and site["stacks"] > 100
    assert site["blocks_per_step"] == pytest.approx(1, rel=0.02) and site["since"] <= 8
    frames = [(frame["function"], frame["line"]) for frame in site["stack"] if frame.get("file", "")]
    assert ("load", 3) in frames and "step" in [function for function, _ in frames]
    assert re.search(r"stacks that differ in names made anew", analyze("leaks", *options, trace).stdout)
    # The other stacks of these are one each, and not hundreds that grew and stopped.
    assert not re.search(r"\d\d\d stacks that (grew|rose)", analyze("leaks", *options, trace).stdout)


@pytest.mark.parametrize("way", ["copied", "moved"])
def test_plugins_that_are_loaded_again(tprof, way):
    trace, result = leaks(tprof, PLUGIN.replace("WHAT", f'"{way}"'))
    (site,) = of(result, "plugin_a_allocate", 3000) if way == "moved" else [
        site for site in result["sites"] if site["verdict"] == "leak" and site["typical_bytes"] == 3000]
    assert site["verdict"] == "leak" and site["bytes_per_step"] == pytest.approx(3000, rel=0.02)
    assert site["stacks"] > 100 and site["renewed"] == (way == "copied")
    assert site["typical_bytes"] == 3000


def test_layers_are_not_one(tprof):
    _, result = leaks(tprof, LAYERS)
    found = [site for site in result["sites"] if site["verdict"] == "leak" and of({"sites": [site]}, "forward", 1000)]
    assert len(found) == 1 and found[0]["typical_bytes"] == 1301 and not found[0]["renewed"]
    assert "layer3.py" in {frame.get("file") for frame in found[0]["stack"]}


MANY = BEGIN + """
import random, string
random.seed(1)
def step(i):
    names = {}
    name = "".join(random.choices(string.ascii_lowercase, k=12))
    exec("def %s(kept):\\n    kept.append(bytearray(4000))\\n" % name, names)
    names[name](kept)
for i in range(200):
    step(i)
    tprof.step()
"""


def test_new_stacks_that_have_nothing_in_common_are_said_to_grow(tprof):
    trace, result = leaks(tprof, MANY)
    assert result["others"]["verdict"] == "leak" and result["others"]["rate"] == pytest.approx(4001, rel=0.02)
    assert re.search(r"together these grow steadily, 3\.9\d KiB a step", analyze("leaks", trace).stdout)
