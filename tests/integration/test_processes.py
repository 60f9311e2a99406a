# SPDX-License-Identifier: Apache-2.0
"""fork, clone, vfork, posix_spawn, exec, daemons: each process has its own trace, with its own truth."""
import subprocess

import pytest
from conftest import BUILD, LIBRARY, PYTHON, WORKLOADS, add, functions, heap_of, nothing_lost, report, sites, summaries
from test_truth import NOTHING

OWN = ("allocations", "allocated_bytes")


def check_processes(run, count):
    """Each process's counts are its own truth; a fork's frees of what its parent allocated are known as such."""
    found, truths = summaries(run.traces()), run.truths()
    assert len(run.traces()) == count
    for pid, truth in truths.items():
        summary = found[pid]
        nothing_lost(summary)
        for key in OWN:
            assert summary["heap"][key] == truth[key], (pid, key)
        assert summary["heap"]["inherited_frees"] == truth["inherited_frees"]
        assert summary["heap"]["frees"] in (truth["frees"], truth["frees"] + truth["inherited_frees"])
        assert summary["heap"]["unmatched_frees"] == 0
    return found, truths


SAMPLED = [{"TPROF_CPU": "0"}, {"TPROF_CPU": "5000"}]


@pytest.mark.parametrize("env", SAMPLED)
@pytest.mark.parametrize("how, processes", [("fork", 2), ("clone", 2), ("nested", 3), ("daemon", 2)])
def test_fork(tprof, how, processes, env):
    """A process that allocates nothing, as a daemon's first child, needs no trace."""
    run = tprof.profile([WORKLOADS / "fork", how], env=env)
    check_processes(run, processes)


@pytest.mark.parametrize("env", [{}, *SAMPLED])
def test_fork_beside_allocating_threads(tprof, env):
    """Other tracers hang here: a lock that another thread held is held in the child for ever."""
    run = tprof.profile([WORKLOADS / "fork", "threads"], env=env)
    assert len(run.truths()) == 20
    check_processes(run, 21)


@pytest.mark.parametrize("how", ["vfork_exec", "spawn"])
def test_started_program(tprof, how):
    run = tprof.profile([WORKLOADS / "fork", how])
    found = summaries(run.traces())
    assert len(found) == 2
    for summary in found.values():
        assert heap_of(summary) == add(run.truth(), NOTHING)
        nothing_lost(summary)


def test_vfork(tprof):
    run, summary = tprof.summary([WORKLOADS / "fork", "vfork"])
    assert heap_of(summary) == add(run.truth(), NOTHING)


def test_exec_chain(tprof):
    """Four programs in one process, one after the other: four traces."""
    run = tprof.profile([WORKLOADS / "fork", "exec3"])
    traces = run.traces()
    assert len(traces) == 4
    reports = [report(trace) for trace in traces]
    assert len({r["process"]["pid"] for r in reports}) == 1
    for r in reports:
        assert heap_of(r) == add(run.truth(), NOTHING)
        nothing_lost(r)
    assert sorted(r["process"]["end"] for r in reports) == ["exec", "exec", "exec", "exit"]


def test_many_traces_are_one_report(tprof):
    run = tprof.profile([WORKLOADS / "fork", "nested"])
    both = report(*run.traces())
    assert len(both["processes"]) == 3
    assert both["combined"]["peak_bytes"] >= max(p["heap"]["peak_bytes"] for p in both["processes"])


@pytest.mark.parametrize("how", ["closefrom", "close_range", "close_all", "close_limit"])
def test_closed_descriptors(tprof, how):
    """What can't be written any more is counted: recorded and lost events are all there were."""
    run, summary = tprof.summary([WORKLOADS / "fork", how])
    truth = run.truth()
    lost = summary["capture"]["lost_events"]
    assert summary["heap"]["allocations"] + lost == truth["allocations"]
    assert summary["heap"]["allocations"] >= 50
    assert summary["capture"]["stopped"] is (lost > 0)


@pytest.mark.parametrize("env", [{}, {"TPROF_START": "off"}])
def test_daemon_whose_parent_is_over(tprof, env):
    """The kernel gives it another parent; for the tree it is its parent's child, in a pause too."""
    run = tprof.profile([WORKLOADS / "fork", "orphan"], env=env)
    first, *_ = processes = [report(trace)["process"] for trace in run.traces()]
    (child,) = [p for p in processes if p["ppid"] == first["pid"]]
    (daemon,) = [p for p in processes if p["ppid"] == child["pid"]]
    assert len(processes) == 3 and daemon["duration_ns"] < first["duration_ns"]
    tree = {p["process"]["pid"]: p["process"]["ppid"] for p in report(*run.traces())["processes"]}
    assert tree == {p["pid"]: p["ppid"] for p in processes}


def test_children_are_not_followed(tprof):
    run = tprof.profile([WORKLOADS / "fork", "fork"], env={"TPROF_CHILDREN": "0"})
    assert [p.name for p in run.traces()] == ["trace.bin"]


def test_only_programs_of_that_name(tprof):
    run = tprof.profile(["/bin/sh", "-c", f"{WORKLOADS}/steady 5; {WORKLOADS}/deep 5"], env={"TPROF_EXE": "stea*"})
    assert len(run.traces()) == 1
    assert report(run.traces()[0])["process"]["exe"].endswith("/steady")


def test_program_started_by_the_loader(tprof):
    """As wrappers of distributions do. It is the program that is profiled, whoever loaded it: its name, its functions."""
    loader = next(line.split()[0] for line in subprocess.run(["ldd", WORKLOADS / "steady"], stdout=subprocess.PIPE, text=True,
                                                             check=True).stdout.splitlines() if "/ld-" in line)
    run = tprof.profile([loader, WORKLOADS / "steady", "5"], env={"TPROF_EXE": "stea*", "TPROF_OUTPUT": "trace.%e.bin"})
    (trace,) = run.traces()
    assert trace.name == "trace.steady.bin"
    assert report(trace)["process"]["exe"] == str(WORKLOADS / "steady")
    assert any("main" in functions(site["stack"]) for site in sites(trace, "hotspots"))


def test_output_pattern(tprof):
    run = tprof.profile([WORKLOADS / "steady", "5"], env={"TPROF_OUTPUT": "trace.%e.%p.bin"})
    (trace,) = run.traces()
    pid = report(trace)["process"]["pid"]
    assert trace.name == f"trace.steady.{pid}.bin"


def test_a_shell_pipeline(tprof):
    script = f"for i in 1 2 3; do {WORKLOADS}/steady $i | cat; done; exit 9"
    run = tprof.profile(["/bin/sh", "-c", script])
    assert run.status == 9
    found = summaries(run.traces())
    counts = sorted(s["heap"]["allocations"] for s in found.values() if s["process"]["exe"].endswith("steady"))
    assert counts == [1, 2, 3]


def test_names_of_traces(tprof):
    run = tprof.profile([WORKLOADS / "fork", "fork"])
    child = next(p for p in run.traces() if p.name != "trace.bin")
    assert child.name == f"trace.{report(child)['process']['pid']}.bin"


FORKED_OPS = """
import os, sys
sys.path.insert(0, sys.argv[1])
import tprof
%s
def step(times):
    for _ in range(times):
        with tprof.op("scope"):
            %s
step(3)
child = os.fork()
if not child:
    step(5)
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""


def ops_after_fork(tprof, prepare, call):
    """Of parent and child, by name: calls, and calls by shape."""
    run = tprof.run([PYTHON, "-I", "-c", FORKED_OPS % (prepare, call), BUILD / "share/tprof"], [LIBRARY],
                    {"OMP_NUM_THREADS": "1"})
    assert (run.status, run.stderr) == (0, b"")
    reports = sorted((report(trace) for trace in run.traces()), key=lambda summary: summary["process"]["pid"])
    return [{op["name"]: (op["calls"], [(shape["shape"], shape["calls"]) for shape in op["shapes"]]) for op in summary["ops"]}
            for summary in reports]


def test_ops_that_the_parent_called_before(tprof):
    """Their numbers are the parent's trace's: the child's has its own."""
    parent, child = ops_after_fork(tprof, "", "bytes(100)")
    assert parent == {"scope": (3, [])} and child == {"scope": (5, [])}


TORCH = """
import torch
torch.set_num_threads(1)
made = [torch.randn(3, 4), torch.randn(5, 2), torch.randn(7, 6)]  # of three sizes it is learned where a tensor has its own
a, b = torch.ones(8, 16), torch.ones(16, 4)
torch.mm(a, b)
"""


@pytest.mark.real
def test_operators_that_the_parent_called_before(tprof):
    """So have those of libraries, and their shapes."""
    parent, child = ops_after_fork(tprof, TORCH, "torch.mm(a, b)")
    for ops, scopes, calls in ((parent, 3, 4), (child, 5, 5)):
        assert ops["scope"] == (scopes, [])
        assert ops["aten::mm"] == (calls, [("8x16, 16x4 f32", calls)])
        assert ops["sgemm"] == (calls, [("m=4 n=8 k=16 NN", calls)])


def test_a_vfork_child_that_ends(tprof):
    """Is not the program's end: it was killed later, and the trace says so."""
    script = """
import os, subprocess
try:
    subprocess.run(["/does/not/exist"])
except FileNotFoundError:
    os.kill(os.getpid(), 9)
"""
    run = tprof.run([PYTHON, "-I", "-c", script], [LIBRARY])
    assert run.status == -9
    assert report(run.traces()[0])["process"]["end"] == "killed"


def test_threads_and_steps_of_processes_stay_apart(tprof):
    """Thread 1 of the one is not thread 1 of the other, nor are their steps; sizes are the same size."""
    traces = tprof.run([WORKLOADS / "fork", "fork"], [LIBRARY]).traces()
    assert len(traces) == 2
    for by, apart in (("thread", True), ("step", True), ("size", False)):
        answer = report(*traces, command="hotspots", options=["--by", by, "--top", "0"])
        rows = [len(process["hotspots"]["sites"]) for process in answer["processes"]]
        together = len(answer["combined"]["hotspots"]["sites"])
        assert together == sum(rows) if apart else together < sum(rows), by
