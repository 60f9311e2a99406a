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
    for name, domain in (("itt first", "one"), ("itt second", "two"), ("nvtx third", "nvtx")):
        assert ops.pop(name) == (TIMES, domain)
    assert ops == {"itt outer": (TIMES, "my domain"), "itt inner": (TIMES, "my domain"),
                             "?": (TIMES, "my domain"), "nvtx plain": (TIMES, "nvtx"), "nvtx wide": (TIMES, "nvtx"),
                             "nvtx message": (TIMES, "nvtx"), "nvtx registered": (TIMES, "my nvtx"),
                             "itt other": (1, "other"), "nvtx alone": (1, "nvtx")}
    events = json.loads(analyze("dump", "--json", trace).stdout)["events"]
    assert [event["text"] for event in events if event["kind"] == "mark"] == ["itt here", "nvtx here"]
    names = [event["name"] for event in events if event["kind"] == "name"]
    assert names[-2:] == ["by itt", "by nvtx"]
    assert report(trace)["op_ends_unmatched"] == 0


def test_interleaved(tprof):
    """What begins in an op and ends after it has its own begin and end, whatever interface each is of: so has its memory."""
    run = tprof.run([WORKLOADS / "collectors", TIMES], [LIBRARY],
                    {"INTEL_LIBITTNOTIFY64": str(LIBRARY), "NVTX_INJECTION64_PATH": str(LIBRARY)})
    trace = run.traces()[0]
    found = report(trace, command="ops", options=["--top", "0"])
    memory = {op["name"]: tuple(op[key] for key in ("calls", "allocated_bytes", "self_allocated_bytes", "net_bytes",
                                                    "peak_bytes")) for op in found["ops"]}
    assert memory["itt first"] == (TIMES, TIMES * 21000, TIMES * 1000, TIMES * 21000, 21000)
    assert memory["itt second"] == (TIMES, TIMES * 320000, TIMES * 20000, TIMES * 320000, 320000)
    assert memory["nvtx third"] == (TIMES, TIMES * 300000, TIMES * 300000, TIMES * 280000, 300000)
    assert found["op_ends_unmatched"] == 0 and not any(op["open"] for op in found["ops"])
    events = json.loads(analyze("dump", "--json", trace).stdout)["events"]
    ends = [event["within"] for event in events if event["kind"] == "op_end"]
    assert [within for within in ends if within] == [2, 1] * TIMES
    assert "not the innermost: 2 in it go on" in analyze("dump", trace).stdout
    drawn = json.loads(analyze("export", "--format", "chrome", trace).stdout)["traceEvents"]
    assert {"itt first", "itt second", "nvtx third"} <= {event.get("name") for event in drawn}


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
