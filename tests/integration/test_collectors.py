# SPDX-License-Identifier: Apache-2.0
"""What programs say by ITT and NVTX: libtprof.so is the collector that their libraries load."""
import json

from conftest import LAUNCHER, LIBRARY, PYTHON, WORKLOADS, analyze, report

TIMES = 20


def ops_of(trace):
    ops = report(trace, command="ops", options=["--top", "0"])["ops"]
    return {op["name"]: (op["calls"], op["category"]) for op in ops}


def test_both_interfaces(tprof):
    """The program has the static parts of both, by their binary interface."""
    bare = tprof.run([WORKLOADS / "collectors", TIMES])
    run = tprof.run([WORKLOADS / "collectors", TIMES], [LIBRARY],
                    {"INTEL_LIBITTNOTIFY64": str(LIBRARY), "NVTX_INJECTION64_PATH": str(LIBRARY)})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) == (0, b"done\n", b"")
    trace = run.traces()[0]
    ops = ops_of(trace)
    many = json.loads(analyze("ops", "--json", "--top", "0", trace).stdout)["ops"]
    many = {op["category"]: op["calls"] for op in many if op["name"] == "itt in one of many"}
    assert many == {f"domain {i}": 1 for i in range(100)} and ops.pop("itt in one of many")[0] == 1
    assert ops == {"itt outer": (TIMES, "my domain"), "itt inner": (TIMES, "my domain"),
                             "?": (TIMES, "my domain"), "nvtx plain": (TIMES, "nvtx"), "nvtx wide": (TIMES, "nvtx"),
                             "nvtx message": (TIMES, "nvtx"), "nvtx registered": (TIMES, "my nvtx"),
                             "itt other": (1, "other"), "nvtx alone": (1, "nvtx")}
    events = json.loads(analyze("dump", "--json", trace).stdout)["events"]
    assert [event["text"] for event in events if event["kind"] == "mark"] == ["itt here", "nvtx here"]
    names = [event["name"] for event in events if event["kind"] == "name"]
    assert names[-2:] == ["by itt", "by nvtx"]
    assert report(trace)["op_ends_unmatched"] == 0


def test_without_the_variables_nothing_is_loaded(tprof):
    run = tprof.run([WORKLOADS / "collectors", TIMES], [LIBRARY])
    assert ops_of(run.traces()[0]) == {}


def test_the_launcher_names_the_collector(tprof):
    run = tprof.run([LAUNCHER, "run", "--", WORKLOADS / "collectors", TIMES])
    assert run.status == 0 and ops_of(run.traces()[0])["itt outer"][0] == TIMES
    run = tprof.run([LAUNCHER, "run", "--", "sh", "-c", "echo $INTEL_LIBITTNOTIFY64 $NVTX_INJECTION64_PATH"],
                    env={"INTEL_LIBITTNOTIFY64": "/mine", "NVTX_INJECTION64_PATH": "/also/mine"})
    assert run.stdout == b"/mine /also/mine\n"


def test_loaded_but_not_preloaded(tprof):
    """Too late to record anything: a line says so, and the program goes on, forks and unloads it."""
    variables = {"INTEL_LIBITTNOTIFY64": str(LIBRARY), "NVTX_INJECTION64_PATH": str(LIBRARY)}
    run = tprof.run([WORKLOADS / "collectors", TIMES], env=variables)
    assert (run.status, run.stdout, run.traces()) == (0, b"done\n", [])
    assert run.stderr == b"tprof: loaded by dlopen, so nothing is recorded: LD_PRELOAD must name it\n"
    script = ("import ctypes, _ctypes, os\n"
              f"library = ctypes.CDLL('{LIBRARY}', os.RTLD_GLOBAL)\n"
              "if os.fork() == 0: import decimal; print('child', flush=True); os._exit(0)\n"
              "os.wait(); _ctypes.dlclose(library._handle); print('end')")
    run = tprof.run([PYTHON, "-c", script])
    assert (run.status, run.stdout, run.traces()) == (0, b"child\nend\n", [])
