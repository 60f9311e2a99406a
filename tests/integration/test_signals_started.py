# SPDX-License-Identifier: Apache-2.0
"""A program that is started finds signals ignored and blocked as without tprof, the sampler's too."""
import pytest
from conftest import LIBRARY, WORKLOADS, report

HEIRS = WORKLOADS / "heirs"
WAYS = ["exec", "fork-", "fork-reset", "vfork-", "vfork-reset", "vfork-unblock", "vfork-block", "vfork-ignore", "vfork-older",
        "vfork-sigset", "vfork-keep", "spawn", "spawn-mask", "spawn-mask-all", "spawn-default", "spawn-default-mask", "system", "popen"]

STARTS = [*(("ib", way) for way in WAYS), *(("-", way) for way in ["exec", "vfork-reset", "vfork-keep", "spawn-default", "system"])]


def same(tprof, state, way, program, env):
    command = [HEIRS, state, way, *program]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_CPU": "1000", **env})
    assert bare.status == 0 and bare.stdout and bare.stderr == b""
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    return run


def captures(tprof, *start):
    """Of a run in which samples were taken. On a busy machine 50 ms of CPU time may pass between the kernel's ticks; a program that
    is not sampled gets no sample in any run."""
    for _ in range(20):
        found = [report(trace)["capture"] for trace in same(tprof, *start).traces()]
        if any(capture["cpu_samples"] for capture in found):
            return found
    raise AssertionError("no sample in 20 runs")


@pytest.mark.parametrize("state, way", STARTS)
def test_recorded(tprof, state, way):
    """The new program is sampled, and sees what it inherited."""
    found = captures(tprof, state, way, [HEIRS, "show"], {})
    assert all(capture["cpu_period_ns"] and not capture["cpu_stopped"] for capture in found)


@pytest.mark.parametrize("state, way", STARTS)
def test_not_recorded(tprof, state, way):
    """What the kernel says of a program that has no collector."""
    program = ["/bin/grep", "-E", "^(Sig(Pnd|Blk|Ign)|ShdPnd)", "/proc/self/status"]
    (capture,) = captures(tprof, state, way, program, {"TPROF_CHILDREN": "0"})
    assert not capture["cpu_stopped"]


def test_started_by_several_threads(tprof):
    """The last thread to start a program restores our handler, and the others' programs inherit the right signals meanwhile."""
    program = ["/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
    (capture,) = captures(tprof, "ib", "threads", program, {"TPROF_CHILDREN": "0"})
    assert not capture["cpu_stopped"]
