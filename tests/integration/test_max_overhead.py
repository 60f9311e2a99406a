# SPDX-License-Identifier: Apache-2.0
"""TPROF_MAX_OVERHEAD: programs that do much are recorded in part, and what is reported of them is estimated."""
import os
import subprocess

import pytest
from conftest import LAUNCHER, LIBRARY, WORKLOADS, covers, nothing_lost, report
from test_ring import counts

BOUND = {"TPROF_MAX_OVERHEAD": "0.5%", "TPROF_CPU": "off"}
MANY = 6000000


def levels_of(trace):
    capture = report(trace)["capture"]
    return capture["max_overhead_percent"], capture["levels"]


def holds(heap, name, truth):
    low, high = heap[f"{name}_ci95"]
    return low <= heap[name] <= high and covers((low, high), truth)


def test_below_the_bound_all_is_exact(tprof):
    run = tprof.run([WORKLOADS / "sampled"], [LIBRARY], {"TPROF_MAX_OVERHEAD": "100%", "TPROF_CPU": "off"})
    summary, truth = report(run.traces()[0]), run.truth()
    percent, levels = levels_of(run.traces()[0])
    assert percent == 100 and [(level["allocations"], level["ops"]) for level in levels] == [("all", True)]
    for key in ("allocations", "frees", "allocated_bytes", "peak_bytes", "end_bytes", "end_blocks"):
        interval = summary["heap"].get(f"{key}_ci95")
        assert interval in (None, [truth[key], truth[key]]) and summary["heap"][key] == truth[key], key


def test_many_allocations(tprof):
    """So many cost more than the bound on any machine: most are sampled, and the estimates hold what the program counted."""
    run = tprof.profile([WORKLOADS / "ring", "counts", 2, MANY], env=BOUND)
    trace = run.directory / "trace.bin"
    summary = report(trace)
    nothing_lost(summary)
    made, freed, bytes_ = counts(run.directory / "counts")
    heap, capture = summary["heap"], summary["capture"]
    assert made == 2 * MANY and capture["alloc_events"] < made / 4
    assert {"sampled"} <= {level["allocations"] for level in capture["levels"]}
    assert [level["from_ns"] for level in capture["levels"][1:]] == [level["to_ns"] for level in capture["levels"][:-1]]
    for name, truth in (("allocations", made), ("frees", freed), ("allocated_bytes", bytes_)):
        assert holds(heap, name, truth), (name, heap[name], heap[f"{name}_ci95"], truth)
    assert heap["unmatched_frees"] == 0


def test_short_blocks_of_an_earlier_level_are_freed(tprof):
    """What was recorded while all allocations were is remembered: none of it seems to be unfreed."""
    run = tprof.profile([WORKLOADS / "ring", "counts", 2, MANY], env=BOUND)
    unfreed = report(run.directory / "trace.bin", options=["--top", "0"])["heap"]["unfreed_sites"]
    live = [site["blocks"] for site in unfreed if site["stack"] and site["stack"][0]["function"] == "make"]
    assert sum(live) <= 2 * 64 or any(site["estimated"] for site in unfreed)


def test_many_calls(tprof):
    """Calls of hooked functions pass unrecorded for most of the time."""
    run = tprof.run([WORKLOADS / "hot", "plain", 20 * MANY, 1], [LIBRARY],
                    {"TPROF_MAX_OVERHEAD": "0.5%", "TPROF_OPS": "blas", "TPROF_ALLOC": "off"})
    summary = report(run.traces()[0])
    nothing_lost(summary)
    (saxpy,) = (op for op in report(run.traces()[0], command="ops")["ops"] if op["name"] == "cblas_saxpy")
    assert run.status == 0 and 0 < saxpy["calls"] < 10 * MANY
    assert {True, False} == {level["ops"] for level in summary["capture"]["levels"]}


def test_steps_are_always_recorded(tprof):
    run = tprof.run([WORKLOADS / "hot", "nested", 20 * MANY, 100000], [LIBRARY],
                    {"TPROF_MAX_OVERHEAD": "0.5%", "TPROF_OPS": "blas", "TPROF_STEP": "cblas_sgemv"})
    summary = report(run.traces()[0])
    assert False in {level["ops"] for level in summary["capture"]["levels"]}
    assert summary["steps"]["count"] == 20 * MANY // 100000


def test_of_allocations_that_are_sampled_anyway(tprof):
    run = tprof.run([WORKLOADS / "sampled"], [LIBRARY], {**BOUND, "TPROF_ALLOC": "sample:16k"})
    summary, truth = report(run.traces()[0]), run.truth()
    assert summary["capture"]["sample_bytes"] == 16 << 10
    assert holds(summary["heap"], "allocated_bytes", truth["allocated_bytes"])


def test_children_have_the_bound_too(tprof):
    run = tprof.run(["/bin/sh", "-c", f"{WORKLOADS}/ring a 1 {MANY}; {WORKLOADS}/ring b 1 10"], [LIBRARY], BOUND)
    shares = [levels_of(trace)[0] for trace in run.traces()]
    assert len(shares) == 3 and set(shares) == {0.5}


@pytest.mark.parametrize("value", ["0", "0.05%", "101%", "2x", "two", "%", ""])
def test_what_is_allowed(tprof, value):
    run = tprof.run(["true"], [LIBRARY], {"TPROF_MAX_OVERHEAD": value})
    assert f"tprof: TPROF_MAX_OVERHEAD={value}: allowed is a percentage from 0.1% to 100%, or off; using off\n" in run.stderr.decode()


@pytest.mark.parametrize("value, percent", [("2%", 2), ("2", 2), ("0.25%", 0.25), ("0.5", 0.5), ("100%", 100)])
def test_values(tprof, value, percent):
    run = tprof.run(["true"], [LIBRARY], {"TPROF_MAX_OVERHEAD": value})
    assert run.stderr == b"" and levels_of(run.traces()[0])[0] == percent


def test_the_launcher(tprof):
    env = {k: v for k, v in os.environ.items() if not k.startswith("TPROF_")}
    run = subprocess.run([LAUNCHER, "run", "--max-overhead", "3%", "-q", "--", "true"], cwd=tprof.directory, env=env, check=False)
    assert run.returncode == 0 and levels_of(tprof.directory / "trace.bin")[0] == 3
    run = subprocess.run([LAUNCHER, "run", "--max-overhead", "much", "--", "true"], cwd=tprof.directory, env=env, check=False,
                         capture_output=True)
    assert run.returncode == 2
    assert run.stderr == b"tprof: --max-overhead much: allowed is a percentage from 0.1% to 100%, or off\n"
