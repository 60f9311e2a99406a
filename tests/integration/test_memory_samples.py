# SPDX-License-Identifier: Apache-2.0
"""Samples of memory: few while it stands still, and none too late when it grows."""
from conftest import LIBRARY, WORKLOADS, nothing_lost, report

MIB = 2**20


def test_memory_that_stands_still_is_sampled_less(tprof):
    """In the sleep a few each second, where there were a hundred; then each of the 20 MiB is seen before the next is there."""
    run = tprof.run([WORKLOADS / "still"], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 0, run.stderr
    slept_ns, levels = map(int, run.stdout.split())
    nothing_lost(report(run.traces()[0]))
    samples = [e for e in report(run.traces()[0], command="dump", options=("--top", "0"))["events"] if e["kind"] == "memory"]
    base = next(s["rss"] for s in samples if s["rss"] > 64 * MIB)
    still = [s for s in samples if base <= s["rss"] < base + MIB // 2]
    assert 2 <= len(still) <= slept_ns / 40e6 + 5, len(still)
    seen = {(s["rss"] - base + MIB // 2) // MIB for s in samples if s["rss"] >= base}
    assert seen == set(range(levels + 1))
