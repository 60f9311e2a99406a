# SPDX-License-Identifier: Apache-2.0
"""Counts, bytes, peaks and what is unfreed, EQUAL to what the programs counted themselves."""
import pytest
from conftest import ALLOCATORS, HEAP_KEYS, PYTHON, WORKLOADS, add, heap_of, nothing_lost, report, sites

NOTHING = dict.fromkeys(HEAP_KEYS, 0)


def truth_command(threads, ops, allocator="glibc", program="truth", seed=1):
    return [WORKLOADS / program, threads, ops, seed, ALLOCATORS[allocator][1]]


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_every_entry_point(tprof, allocator, seed):
    run, summary = tprof.summary(truth_command(1, 20000, allocator, seed=seed), allocator=allocator)
    extras = tprof.extras(truth_command(1, 0, allocator), allocator, threads=False) if allocator != "glibc" else NOTHING
    assert heap_of(summary) == add(run.truth(), extras)
    assert summary["heap"]["unmatched_frees"] == 0
    nothing_lost(summary)


@pytest.mark.parametrize("threads", [2, 3, 8, 64])
@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_threads(tprof, allocator, threads):
    run, summary = tprof.summary(truth_command(threads, 80000 // threads, allocator), allocator=allocator)
    extras = tprof.extras(truth_command(threads, 0, allocator), allocator)
    assert extras["allocations"] >= threads
    assert heap_of(summary) == add(run.truth(), extras)
    assert summary["heap"]["unmatched_frees"] == 0
    nothing_lost(summary)


@pytest.mark.parametrize("program", ["truth-nopie", "truth-stripped", "truth-now"])
def test_ways_to_link(tprof, program):
    run, summary = tprof.summary(truth_command(1, 20000, program=program))
    assert heap_of(summary) == add(run.truth(), NOTHING)
    nothing_lost(summary)


def test_700_short_threads(tprof):
    run, summary = tprof.summary([WORKLOADS / "threads", 100])
    extras = tprof.extras([WORKLOADS / "threads", 100, "idle"])
    assert heap_of(summary) == add(run.truth(), extras)
    assert summary["capture"]["threads"] >= 700
    nothing_lost(summary)
    assert summary["capture"]["overhead_ns"] > 700 * 1000  # to begin a thread takes eight system calls, whoever makes them


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_operators_new_and_delete(tprof, allocator):
    run, summary = tprof.summary([WORKLOADS / "truth_cxx", 20000, 1, "" if allocator == "mimalloc" else "alignment"],
                                 allocator=allocator)
    extras = tprof.extras([WORKLOADS / "truth_cxx", 0, 1], allocator, threads=False)
    assert heap_of(summary) == add(run.truth(), extras)
    nothing_lost(summary)


@pytest.mark.parametrize("allocator", ["glibc", "jemalloc"])
def test_operator_new_that_fails(tprof, allocator):
    """A new handler frees from inside operator new; bad_alloc itself is allocated inside and freed outside."""
    run, summary = tprof.summary([WORKLOADS / "truth_cxx", 1000, 1, "failures,alignment"], allocator=allocator)
    extras = tprof.extras([WORKLOADS / "truth_cxx", 0, 1], allocator, threads=False)
    truth = add(run.truth(), extras)
    assert summary["heap"]["end_bytes"] == truth["end_bytes"]
    assert summary["heap"]["end_blocks"] == truth["end_blocks"]
    assert summary["heap"]["unmatched_frees"] == 0
    nothing_lost(summary)


def test_jemalloc_api(tprof):
    run, summary = tprof.summary([WORKLOADS / "jemalloc_api", 20000, 1])
    # libjemalloc.so is C++: libstdc++ has its pool.
    _, idle = tprof.summary([WORKLOADS / "jemalloc_api", 0, 1])
    assert idle["heap"]["allocations"] == 1
    assert heap_of(summary) == add(run.truth(), heap_of(idle))
    nothing_lost(summary)


@pytest.mark.parametrize("how", [[], ["-c", "import json, re, decimal; print(len(json.dumps(list(range(9999)))))"]])
def test_against_the_oracle(tprof, how):
    """A second instrument behind tprof sees each call that tprof lets through: the two must agree on any program."""
    run, counted = tprof.oracle([PYTHON, *(how or ["-c", "pass"])], with_tprof=True)
    assert run.status == 0
    summary = report(run.traces()[0])
    assert heap_of(summary) == add(counted, NOTHING)
    nothing_lost(summary)


def test_tprof_allocates_nothing(tprof):
    """The program's allocator sees the same calls with tprof in front of it as without."""
    command = truth_command(1, 10000)
    _, bare = tprof.oracle(command)
    _, profiled = tprof.oracle(command, with_tprof=True)
    assert profiled == bare
    # With threads, libc's block for a thread's TLS grows by one slot for tprof's: the calls are the same.
    command = truth_command(8, 10000)
    _, bare = tprof.oracle(command)
    _, profiled = tprof.oracle(command, with_tprof=True)
    assert profiled["allocated_bytes"] - bare["allocated_bytes"] == 8 * 16
    for key in ("allocations", "frees", "end_blocks", "inherited_frees"):
        assert profiled[key] == bare[key]


def test_mmap(tprof):
    run, summary = tprof.summary([WORKLOADS / "mmap"])
    truth, heap = run.truth(), summary["heap"]
    assert heap["mapped_end_bytes"] == truth["mapped_end"]
    assert heap["mapped_peak_bytes"] == truth["mapped_peak"]
    assert heap["maps"] == truth["maps"]
    assert heap["unmaps"] == truth["unmaps"]


def test_sites_add_up(tprof):
    """What the report attributes to stacks is the whole, no more and no less."""
    run, summary = tprof.summary(truth_command(4, 10000))
    trace = run.traces()[0]
    peak, hot = sites(trace, "peak"), sites(trace, "hotspots")
    unfreed = report(trace, command="leaks", options=["--top", "0"])["unfreed"]
    heap = summary["heap"]
    assert sum(site["bytes"] for site in peak) == heap["peak_bytes"]
    assert sum(site["blocks"] for site in peak) == heap["peak_blocks"]
    assert sum(site["allocations"] for site in hot) == heap["allocations"]
    assert sum(site["bytes"] for site in hot) == heap["allocated_bytes"]
    # libc's own for its threads are left out of the list, by built-in suppressions that the report counts.
    assert sum(s["bytes"] for s in unfreed["sites"]) + unfreed["suppressed"]["bytes"] == heap["end_bytes"]
    assert sum(s["blocks"] for s in unfreed["sites"]) + unfreed["suppressed"]["blocks"] == heap["end_blocks"]
