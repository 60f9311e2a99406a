# SPDX-License-Identifier: Apache-2.0
"""However a process ends, its trace has everything up to there, and says how it ended."""
import signal

import pytest
from conftest import WORKLOADS, add, heap_of, nothing_lost, own_calls, sites
from test_truth import NOTHING

# how, (end, status) in the report
ENDS = {
    "exit": ("exit", 7),
    "_exit": ("exit", 3),
    "quick_exit": ("exit", 6),
    "atexit": ("exit", 0),
    "at_quick_exit": ("exit", 0),
    "abort": ("signal", signal.SIGABRT),
    "segfault": ("signal", signal.SIGSEGV),
    "term": ("signal", signal.SIGTERM),
    "kill": ("killed", None),
}


@pytest.mark.parametrize("how", [*ENDS, "exit_group"])
def test_end(tprof, how):
    run, summary = tprof.summary([WORKLOADS / "ends", how])
    assert heap_of(summary) == add(run.truth(), NOTHING)
    nothing_lost(summary)


@pytest.mark.parametrize("how", ["exit", "_exit", "quick_exit", "atexit", "at_quick_exit", "abort", "kill"])
def test_end_is_named(tprof, how):
    _, summary = tprof.summary([WORKLOADS / "ends", how])
    end, status = ENDS[how]
    assert summary["process"]["end"] in (end, "killed" if end == "signal" else end)
    if summary["process"]["end"] == end and status is not None:
        assert summary["process"]["status"] == status


@pytest.mark.parametrize("how", ["tls", "main_thread", "segfault_in_thread"])
def test_end_with_threads(tprof, how):
    run, summary = tprof.summary([WORKLOADS / "ends", how])
    truth, trace = run.truth(), run.traces()[0]
    assert own_calls(trace, "ends") == (truth["allocations"], truth["allocated_bytes"])
    unfreed = [site for site in sites(trace, "leaks") if site["stack"][0]["module"] == "ends"]
    assert sum(site["blocks"] for site in unfreed) == truth["end_blocks"]
    assert sum(site["bytes"] for site in unfreed) == truth["end_bytes"]
    assert summary["heap"]["unmatched_frees"] == 0
    nothing_lost(summary)


def test_before_main_and_behind_exit(tprof):
    """.preinit_array, constructors, static destructors."""
    run, summary = tprof.summary([WORKLOADS / "early"])
    heap, truth = heap_of(summary), run.truth()
    # libstdc++ has one allocation of its own: the pool for exceptions when memory is out.
    assert heap["allocations"] == truth["allocations"] + 1
    assert heap["frees"] == truth["frees"]
    assert heap["end_blocks"] == truth["end_blocks"] + 1
    pool = heap["allocated_bytes"] - truth["allocated_bytes"]
    assert heap["end_bytes"] == truth["end_bytes"] + pool
    assert heap["peak_bytes"] == truth["peak_bytes"] + pool
    nothing_lost(summary)
