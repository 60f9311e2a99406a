# SPDX-License-Identifier: Apache-2.0
"""Samples of memory: few while it stands still, and none too late when it grows."""
import subprocess

from conftest import LIBRARY, ROOT, WORKLOADS, nothing_lost, report

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


STEPS = """
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <tprof.h>
static void busy(long ns)
{
	struct timespec from, to;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &to);
	while ((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec < ns);
}
int main(void)
{
	for (int i = 0; i < 300; i++) {
		char *mapped = i >= 150 && i % 10 == 0
			? mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
		free(malloc(100));
		if (i >= 250 && mapped)
			memset(mapped, 1, 1 << 20);
		busy(1200000);
		tprof_step(0);
	}
	return 0;
}
"""


def test_steps_in_which_memory_stands_still(tprof, tmp_path):
    """Each end has its sample, what is mapped is in the next one, and what is touched: also where most are the last one's."""
    (tmp_path / "steps.c").write_text(STEPS)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-I", ROOT / "include", tmp_path / "steps.c", "-o", tmp_path / "steps"],
                   check=True)
    run = tprof.run([tmp_path / "steps"], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 0, run.stderr
    nothing_lost(report(run.traces()[0]))
    events = report(run.traces()[0], command="dump", options=("--top", "0"))["events"]
    ends, sample = [], None
    for event in events:
        if event["kind"] == "memory":
            sample = event
        elif event["kind"] == "step":
            ends.append(sample)
            sample = None
    assert len(ends) == 300 and all(ends)
    for i, end in enumerate(ends):
        mapped, touched = max(0, (i - 140) // 10), max(0, (i - 240) // 10)
        assert end["vms"] - ends[100]["vms"] >= mapped * MIB
        assert end["rss"] - ends[100]["rss"] >= touched * MIB - MIB // 4
