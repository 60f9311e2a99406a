# SPDX-License-Identifier: Apache-2.0
"""Order: an address is released in the trace before it can be reused."""
import pytest
from conftest import WORKLOADS, add, heap_of, nothing_lost


def arena_extras(tprof, allocator="glibc", env=None):
    """The run without random calls has the forced peak all the same: what is above it is libc's."""
    extras = tprof.extras([WORKLOADS / "shared_arena", 0], allocator, env)
    idle_truth = {"allocations": 544, "frees": 544, "allocated_bytes": 544 * 800, "peak_bytes": 544 * 800,
                  "peak_blocks": 544, "end_bytes": 0, "end_blocks": 0}
    return {key: extras[key] - idle_truth[key] for key in idle_truth}


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("allocator", ["glibc", "jemalloc", "tcmalloc", "mimalloc"])
def test_shared_arena(tprof, allocator, turn):
    """Who records a free behind the real call reports leaks and a peak of many times the truth here."""
    arena = {"MALLOC_ARENA_MAX": "1", "MALLOC_CONF": "narenas:1,tcache:false",
             "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    env = arena if turn != 2 else {}
    run, summary = tprof.summary([WORKLOADS / "shared_arena", 50000], allocator=allocator, env=env)
    truth = run.truth()
    assert truth["end_blocks"] == 0
    assert heap_of(summary) == add(truth, arena_extras(tprof, allocator, env))
    assert summary["heap"]["unmatched_frees"] == 0
    nothing_lost(summary)
