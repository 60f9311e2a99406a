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


def captures(run):
    return [report(trace)["capture"] for trace in run.traces()]


@pytest.mark.parametrize("state, way", STARTS)
def test_recorded(tprof, state, way):
    """The new program is sampled, and sees what it inherited."""
    run = same(tprof, state, way, [HEIRS, "show"], {})
    assert any(capture["cpu_samples"] > 0 for capture in captures(run))
    assert all(capture["cpu_period_ns"] and not capture["cpu_stopped"] for capture in captures(run))


@pytest.mark.parametrize("state, way", STARTS)
def test_not_recorded(tprof, state, way):
    """What the kernel says of a program that has no collector."""
    program = ["/bin/grep", "-E", "^(Sig(Pnd|Blk|Ign)|ShdPnd)", "/proc/self/status"]
    run = same(tprof, state, way, program, {"TPROF_CHILDREN": "0"})
    (capture,) = captures(run)
    assert capture["cpu_samples"] > 0 and not capture["cpu_stopped"]


def test_started_by_several_threads(tprof):
    """The last thread to start a program restores our handler, and the others' programs inherit the right signals meanwhile."""
    run = same(tprof, "ib", "threads", ["/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"], {"TPROF_CHILDREN": "0"})
    (capture,) = captures(run)
    assert capture["cpu_samples"] > 0 and not capture["cpu_stopped"]
