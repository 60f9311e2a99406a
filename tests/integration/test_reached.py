# SPDX-License-Identifier: Apache-2.0
"""Each way in which a compiler and a linker let one object reach another's functions: every call is counted, once, and a
function has one address, in whichever object it is asked for."""
import shutil
import subprocess

import pytest

from conftest import LIBRARY, ROOT, report

TIMES = 7
SOURCES = ROOT / "tests/workloads"
PIE, NO_PIE = ("-fPIE", "-pie"), ("-fno-pie", "-no-pie")
CALLS = {"reach_plain": 3, "reach_alias": 2, "reach_chosen": 2, "reach_tabled": 2, "reach_copied": 1,
         "reach_through": 1, "reach_inside": 1}
ONCE = {"reach_given": 1}  # however often the others are called

# How the program is built, and how its library. Without a PLT, or with one whose entries say where a branch may land
# (.plt.sec); by the addresses of a program that is not position-independent, or, in one that is, of the variables that it
# has copies of, as gcc builds by default; tables that the loader makes read-only, or does not.
WAYS = {
    "lazy": ((*PIE, "-Wl,-z,lazy"), ()),
    "now": ((*PIE, "-Wl,-z,relro,-z,now"), ("-Wl,-z,now",)),
    "no-plt": ((*PIE, "-fno-plt", "-Wl,-z,now"), ("-fno-plt",)),
    "no-copies": (("-fPIC", "-pie"), ()),
    "optimized": (("-O2", *PIE), ("-O2",)),
    "no-pie": ((*NO_PIE, "-Wl,-z,lazy"), ("-Wl,-z,lazy",)),
    "no-pie-now": ((*NO_PIE, "-Wl,-z,relro,-z,now"), ()),
    "landing-pads": ((*PIE, "-fcf-protection=full", "-Wl,-z,ibtplt,-z,lazy"), ("-fcf-protection=full", "-Wl,-z,ibtplt")),
    "no-relro": ((*PIE, "-Wl,-z,norelro"), ("-Wl,-z,norelro",)),
    "both-hashes": ((*PIE, "-Wl,--hash-style=both"), ("-Wl,--hash-style=both",)),
}


def build(directory, compiler, program, library=None):
    common = [compiler, "-g", f"-I{SOURCES}"]
    sources = [SOURCES / "reached.c"]
    if library is None:
        sources.append(SOURCES / "reached_library.c")
    else:
        subprocess.run([*common, "-fPIC", "-shared", *library, "-o", directory / "libreached.so",
                        SOURCES / "reached_library.c"], check=True)
        program = (*program, f"-L{directory}", "-lreached", f"-Wl,-rpath,{directory}")
    subprocess.run([*common, "-o", directory / "reached", *sources, *program], check=True)
    return directory / "reached"


def run(tprof, program):
    """The same output with and without; the run."""
    bare, run = tprof.run([program, TIMES]), tprof.run([program, TIMES], [LIBRARY], {"TPROF_OPS": "reach_*"})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    assert bare.status == 0 and bare.stdout.endswith(b" 1 1\n")
    return run


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_ways_to_reach_a_function(tprof, tmp_path, compiler, way):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    trace = run(tprof, build(tmp_path, compiler, *WAYS[way])).traces()[0]
    relocations = subprocess.run(["readelf", "-rW", tmp_path / "libreached.so"], capture_output=True, text=True, check=True).stdout
    by_table = any("R_X86_64_64 " in line and "reach_protected" in line for line in relocations.splitlines())
    calls = {**CALLS, "reach_protected": 1 + by_table}  # newer linkers bind the table's themselves
    ops = report(trace, command="ops", options=["--top", "0"])["ops"]
    assert {op["name"]: op["calls"] for op in ops} == {**{name: times * TIMES for name, times in calls.items()}, **ONCE}


@pytest.mark.parametrize("flags", [("-static-pie", "-fPIE"), ("-static", "-fno-pie")])
def test_linked_statically(tprof, tmp_path, flags):
    """There is no loader, and nothing is recorded."""
    assert run(tprof, build(tmp_path, "gcc", flags)).traces() == []


@pytest.mark.parametrize("flags", [("-fPIC", "-Wl,-z,now"), ("-fPIC", "-Wl,-z,lazy"), ("-fPIC", "-Wl,-z,norelro")])
def test_unique_symbols(tprof, tmp_path, flags):
    """Tables of which the process uses one, whoever has them; a name that the glob matches too is no function's.
    The program's own calls of unique_local() go through no pointer: they are hooked in its code."""
    common = ["g++", "-g", f"-I{SOURCES}"]
    for name, more in (("libunique.so", ()), ("libunique_plugin.so", ("-DPLUGIN",))):
        subprocess.run([*common, *flags, "-shared", *more, "-o", tmp_path / name, SOURCES / "unique_library.cc"], check=True)
    program, plugin = tmp_path / "unique", tmp_path / "libunique_plugin.so"
    subprocess.run([*common, *PIE, "-o", program, SOURCES / "unique.cc", f"-L{tmp_path}", "-lunique", "-Wl,-rpath,$ORIGIN",
                    "-rdynamic"], check=True)
    for file in (program, plugin):
        symbols = subprocess.run(["readelf", "-sW", "--dyn-syms", file], capture_output=True, text=True, check=True).stdout
        unique = {line.split()[7] for line in symbols.splitlines() if " UNIQUE " in line}
        assert unique == {"_ZN11UniqueTableIiE7methodsE", "_ZZ12unique_localvE5local"}
    command = [program, plugin, TIMES]
    bare, run = tprof.run(command), tprof.run(command, [LIBRARY], {"TPROF_OPS": "unique_*,UniqueTable*"})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) and bare.status == 0
    ops = {op["name"]: op["calls"] for op in report(run.traces()[0], command="ops", options=["--top", "0"])["ops"]}
    assert ops == {"unique_one": 2 * 3 * TIMES, "unique_other": 3 * TIMES, "unique_plugin": 2 * TIMES, "unique_local": 3 * TIMES}
