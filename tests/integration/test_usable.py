# SPDX-License-Identifier: Apache-2.0
"""The usable size of each block is what the allocator itself says, however the collector came to know it."""
import json
import pathlib

import pytest
from conftest import LIBRARY, WORKLOADS, analyze

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
CHECKED = "/lib/x86_64-linux-gnu/libc_malloc_debug.so.0"


# What glibc's own checks put behind a block must not be taken for a part of it.
@pytest.mark.parametrize("behind,env", [
    ([], {}), ([], {"MALLOC_ARENA_MAX": "1"}), ([], {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}),
    ([CHECKED], {"MALLOC_CHECK_": "3"}), ([JEMALLOC], {})])
def test_each_block(tprof, behind, env):
    if any(not pathlib.Path(library).exists() for library in behind):
        pytest.skip("not installed")
    run = tprof.run([WORKLOADS / "usable"], [LIBRARY, *behind], {"TPROF_CPU": "0", **env})
    assert (run.status, run.stderr) == (0, b"")
    expected = [(int(address, 16), int(size), int(usable))
                for address, size, usable in map(bytes.split, run.stdout.splitlines())]
    events = json.loads(analyze("dump", run.traces()[0], "--json").stdout)["events"]
    told = [(int(event["address"], 16), event["size"], event["usable"]) for event in events if event["kind"] == "alloc"]
    assert len(expected) > 30000
    at = 0  # the program's own calls, among those of libraries, in their order
    for event in told:
        if at < len(expected) and event[:2] == expected[at][:2]:
            assert event == expected[at]
            at += 1
    assert at == len(expected)
