# SPDX-License-Identifier: Apache-2.0
"""What functions of C++ are called, and which globs of TPROF_OPS mean them."""
import shutil
import subprocess

import pytest
from conftest import LIBRARY, WORKLOADS, report

from test_op_hooks import ops_of

HEADER = """
#include <vector>
#define OUT __attribute__((noinline, visibility("default")))
template<class T> struct Box { OUT static int fill(T x); OUT static int drain(T x); };
template<class T> int Box<T>::fill(T x) { asm volatile(""); return int(x) + 1; }
template<class T> int Box<T>::drain(T x) { asm volatile(""); return int(x) + 2; }
namespace ns { struct C { OUT explicit C(int); OUT int get() const; int v; }; }
OUT int operator+(const ns::C &, const ns::C &);
"""
LIBRARY_SOURCE = HEADER + """
ns::C::C(int x) : v(x) { asm volatile(""); }
int ns::C::get() const { return v; }
int operator+(const ns::C &a, const ns::C &b) { asm volatile(""); return a.v + b.v; }
template struct Box<int>;
template OUT void std::vector<ns::C>::reserve(std::size_t);
"""
OTHER_SOURCE = HEADER + """
template struct Box<int>;
extern "C" int other(void) { return Box<int>::fill(40); }
"""
MAIN_SOURCE = HEADER + """
#include <cstdio>
extern template struct Box<int>;
extern template void std::vector<ns::C>::reserve(std::size_t);
extern "C" int other(void);
int main()
{
	ns::C c(1), d(2);
	std::vector<ns::C> all;

	all.reserve(3);
	std::printf("%d\\n", Box<int>::fill(1) + Box<int>::drain(2) + c.get() + (c + d) + other());
	return 0;
}
"""
CALLS = {"Box::fill": 2, "Box::drain": 1, "ns::C::C": 2, "ns::C::get": 1, "operator+": 1, "std::vector::reserve": 1}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Calls of two libraries, both of which have Box<int>: the loader takes the first one's for all."""
    if not shutil.which("g++"):
        pytest.skip("g++ is not installed")
    place = tmp_path_factory.mktemp("names")
    for name, source in (("library", LIBRARY_SOURCE), ("other", OTHER_SOURCE), ("main", MAIN_SOURCE)):
        (place / f"{name}.cc").write_text(source)
    for name in ("library", "other"):
        subprocess.run(["g++", "-O1", "-shared", "-fPIC", place / f"{name}.cc", "-o", place / f"lib{name}.so"], check=True)
    subprocess.run(["g++", "-O1", place / "main.cc", f"-L{place}", "-llibrary", "-lother", "-Wl,-rpath,$ORIGIN", "-o",
                    place / "main"], check=True)
    return place / "main"


@pytest.mark.parametrize("globs, names", [
    ("Box::*,ns::*,operator+,std::vector::*", list(CALLS)),
    ("_ZN3BoxIiE4fillEi", ["Box::fill"]),
    ("_Z*,-Box::fill,-std::*,-__gnu_cxx::*,-_ZN2ns1CC*,-operator new,-operator delete", ["Box::drain", "ns::C::get", "operator+"]),
    ("*::reserve", ["std::vector::reserve"]),
    ("Box", []),
])
def test_cxx(tprof, program, globs, names):
    """A function's own name is the op's, with no arguments; so are two of one class two ops, and one in two libraries is one."""
    run = tprof.run([program], [LIBRARY], {"TPROF_OPS": globs})
    assert (run.status, run.stdout, run.stderr) == (0, b"51\n", b"")
    ops = {name: calls for name, (calls, _) in ops_of(run.traces()[0]).items() if "printf" not in name}
    assert ops == {name: CALLS[name] for name in names}


def test_the_presets_names(tprof):
    """Without the preset, by the name that it has for the function, which is what it is then: typed, with a shape."""
    env = {"OPENBLAS_NUM_THREADS": "1", "COUNTS_FILE": tprof.directory / "counts"}
    run = tprof.run([WORKLOADS / "blas_calls", 3], [LIBRARY], {**env, "TPROF_OPS": "dpotrf,-cblas_*"})
    (op,) = report(run.traces()[0], command="ops")["ops"]
    assert (op["name"], op["calls"], op["category"]) == ("dpotrf", 3, "blas") and op["flop"] > 0
    run = tprof.run([WORKLOADS / "blas_calls", 3], [LIBRARY], {**env, "TPROF_OPS": "dpotrf_"})
    (op,) = report(run.traces()[0], command="ops")["ops"]
    assert (op["name"], op["category"]) == ("dpotrf_", "user")
