# SPDX-License-Identifier: Apache-2.0
"""Programs built with gcc -fsplit-stack: a thread's stack is a chain of segments, and some have room for little more than a call."""
import re

import pytest
from conftest import BUILD, LIBRARY, WORKLOADS, analyze, report

VERIFY = BUILD / "lib/libtprof-verify.so"
SUMMARY = re.compile(rb"tprof-verify: walks (\d+) .* different (\d+)\n")
SAMPLED = {"TPROF_CPU": "5000"}


def down(tprof, linker, library):
    """16,000 segments in four threads."""
    command = [WORKLOADS / f"segments-{linker}", 4000]
    bare = tprof.run(command)
    run = tprof.run(command, [library], SAMPLED)
    assert bare.status == 0 and (run.status, run.stdout) == (bare.status, bare.stdout)
    (trace,) = run.traces()
    return run, trace, [int(number) for number in re.findall(r"\d+", bare.stdout.decode())]


@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_every_allocation_is_recorded(tprof, linker):
    """Stacks that end where a segment does are counted, and so are the threads that are not sampled: a segment may have no room for
    the signal's frame."""
    run, trace, (allocations, size) = down(tprof, linker, LIBRARY)
    assert run.stderr == b""
    summary = report(trace, options=("--top", "0"))
    sites = [site for site in summary["heap"]["hot_sites"] if any("down_" in frame["function"] for frame in site["stack"])
             or site["stack"][0]["function"] == "go_on"]
    assert allocations == sum(site["allocations"] for site in sites) == 4000
    assert sum(site["bytes"] for site in sites) == size
    assert all(site["stack_end"] == "short" for site in sites)
    capture = summary["capture"]
    assert capture["stacks_short"] >= allocations and capture["stacks_cut"] == 0
    assert capture["lost"] == {**dict.fromkeys(capture["lost"], 0), "cpu_timer": capture["lost"]["cpu_timer"]}
    assert capture["lost"]["cpu_timer"] >= 4
    text = analyze(trace).stdout
    assert f"{capture['stacks_short']:,} stacks could not be followed to the end" in text
    assert f"{capture['lost']['cpu_timer']} threads without CPU samples" in text


@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_walks_compared_with_libunwind(tprof, linker):
    """libunwind needs more stack than some segments have. Where there is enough, the frames are the same up to the segment's end."""
    run, trace, (allocations, _) = down(tprof, linker, VERIFY)
    ((walks, different),) = SUMMARY.findall(run.stderr)
    assert int(different) == 0, run.stderr[-4000:]
    assert int(walks) >= (allocations if linker == "gold" else 0)
    assert report(trace)["heap"]["allocations"] >= allocations
