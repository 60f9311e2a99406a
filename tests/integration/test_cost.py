# SPDX-License-Identifier: Apache-2.0
"""What the hot path costs, in instructions: callgrind counts them on a fixed workload, so the figure is the same on every
machine and at every load. Two runs of different length are subtracted: start-up falls out. Recorded figures are those of
the compiler named; a change that costs more than the margin must say so here."""
import json
import re
import shutil
import subprocess

import pytest
from conftest import LIBRARY, ROOT, WORKLOADS

PAIRS = ROOT / "build/bench/pairs"
SHORT, LONG = 20000, 100000  # pairs
MARGIN = 1.15
OTHER_COMPILER = 1.4  # one that no figure was recorded with

# (FRAMES, PATHS, POOL): instructions that tprof adds to a malloc+free pair, by gcc's major version.
RECORDED = {
    (20, 1, 0): {12: 430},
    (60, 1, 0): {12: 630},
    # Some 30 of these ask early and prefetch: fewer instructions were 15 to 24 ns slower.
    (20, 1000, 10000): {12: 594},
    (60, 1000, 10000): {12: 791},
}
# What is not sampled: TPROF_ALLOC=sample:1g.
RECORDED_UNSAMPLED = {12: 65}
# While recording is paused: from the start on; later, where a free looks into the table of what ended in the pause. 4 of both
# are malloc's. An op: 3 of its stub, 6 of the trampoline's. So few that a compiler makes no difference.
RECORDED_PAUSED, RECORDED_PAUSED_LATER, RECORDED_PAUSED_OP = 15, 23, 9


def compiler():
    done = subprocess.run(["gcc", "-dumpversion"], stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout.split(".")[0])


def limit(recorded):
    figure = recorded.get(compiler())
    return figure * MARGIN if figure else max(recorded.values()) * OTHER_COMPILER


def instructions(tprof, shape, pairs, preload, env):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PAIRS, *shape, 1, 0, pairs]
    run = tprof.run(command, preload, {"TPROF_CPU": "0", "TPROF_EXE": "pairs", **env})
    assert run.status == 0, run.stderr.decode(errors="replace")
    assert json.loads(run.stdout)["pairs"] == pairs
    # valgrind's launcher is a process too; the trace of pairs itself is the longer one.
    events = max((path.stat().st_size for path in run.traces()), default=0)
    if preload and not env:
        assert events > 2 * pairs, "the program was not recorded"
    return int(re.search(rb"refs:\s+([\d,]+)", run.stderr).group(1).replace(b",", b""))


def a_pair(tprof, shape, preload=(), **env):
    """Instructions that a further pair costs."""
    long, short = (instructions(tprof, shape, pairs, preload, env) for pairs in (LONG, SHORT))
    return (long - short) / (LONG - SHORT)


@pytest.fixture(autouse=True)
def valgrind():
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")


@pytest.mark.parametrize("shape", RECORDED)
def test_instructions_of_a_pair(tprof, shape):
    added = a_pair(tprof, shape, [LIBRARY]) - a_pair(tprof, shape)
    print(f"pairs {shape}: {added:.1f} instructions added")
    assert 0 < added <= limit(RECORDED[shape]), f"{added:.1f} instructions, {RECORDED[shape]} recorded"


def test_instructions_of_what_is_not_sampled(tprof):
    added = a_pair(tprof, (20, 1000, 10000), [LIBRARY], TPROF_ALLOC="sample:1g") - a_pair(tprof, (20, 1000, 10000))
    print(f"not sampled: {added:.1f} instructions added")
    assert 0 < added <= limit(RECORDED_UNSAMPLED), f"{added:.1f} instructions, {RECORDED_UNSAMPLED} recorded"


def test_instructions_of_a_pause(tprof):
    """Recording is off from the start: a load, a branch and a jump; a free asks too whether the block is the hooks' own."""
    added = a_pair(tprof, (20, 1, 0), [LIBRARY], TPROF_START="off") - a_pair(tprof, (20, 1, 0))
    print(f"paused: {added:.1f} instructions added")
    assert 0 < added < RECORDED_PAUSED + 0.5  # of what is around the pairs


def test_instructions_of_a_pause_that_began_later(tprof):
    """A free, too, of what cannot have been recorded: as its address was freed in the pause before."""
    costs = []
    for preload in ((), [LIBRARY]):
        counts = []
        for pairs in (SHORT, LONG):
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=pairs",
                       WORKLOADS / "paused", pairs, 100]
            run = tprof.run(command, preload, {"TPROF_CPU": "0", "TPROF_EXE": "paused"})
            assert run.status == 0, run.stderr.decode(errors="replace")
            counts.append(int(re.search(rb"refs:\s+([\d,]+)", run.stderr).group(1).replace(b",", b"")))
        costs.append((counts[1] - counts[0]) / (LONG - SHORT))
    added = costs[1] - costs[0]
    print(f"paused later: {added:.1f} instructions added")
    assert 0 < added < RECORDED_PAUSED_LATER + 0.5


# The same of four calls of jemalloc's own family, and of mmap, mremap and munmap. (What is unmapped later is recorded: it may be part
# of a range that is.)
# They were 301, 2,093 and 315. jemalloc's own work differs by some instructions a round, as the kernel places its memory.
RECORDED_PAUSED_KINDS = {("mallocx",): 23, ("mallocx", "later"): 45, ("mmap",): 149}


@pytest.mark.parametrize("kind", RECORDED_PAUSED_KINDS)
def test_instructions_of_a_pause_by_kind(tprof, kind):
    counts = {}
    for preload in ((), (LIBRARY,)):
        for calls in (2000, 12000):
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=work",
                       WORKLOADS / "paused_kinds", kind[0], calls, *kind[1:]]
            env = {} if kind[1:] else {"TPROF_START": "off"}
            run = tprof.run(command, list(preload), {"TPROF_CPU": "0", "TPROF_EXE": "paused_kinds", **env})
            assert run.status == 0, run.stderr.decode(errors="replace")
            counts[preload, calls] = int(re.search(rb"refs:\s+([\d,]+)", run.stderr).group(1).replace(b",", b""))
    bare, paused = ((counts[preload, 12000] - counts[preload, 2000]) / 10000 for preload in ((), (LIBRARY,)))
    print(f"paused {' '.join(kind)}: {paused - bare:.1f} instructions added to {bare:.1f}")
    assert 0 < paused - bare < RECORDED_PAUSED_KINDS[kind] + 4


# A call of cblas_saxpy through the PLT, as many elements as (N): folded if the call is short under valgrind too, typed and
# with events of its own if it is not.
RECORDED_CALLS = {
    4: {12: 142},
    2000: {12: 429},
}


# Only main() is counted: at start tprof times its own events, folded ones among them, and which calls are folded is a
# matter of their time, which under valgrind is that of a loaded machine. In main() all calls of a run are as short, or as
# long, against the 3 microseconds that part them: some hundred instructions of valgrind's, or some ten thousand.
OF_MAIN = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=main"]


def call_instructions(tprof, length, calls, preload):
    command = [*OF_MAIN, WORKLOADS / "hot", "plain", calls, length]
    run = tprof.run(command, preload, {"TPROF_CPU": "0", "TPROF_EXE": "hot", "TPROF_OPS": "blas"})
    assert run.status == 0, run.stderr.decode(errors="replace")
    return int(re.search(rb"refs:\s+([\d,]+)", run.stderr).group(1).replace(b",", b""))


@pytest.mark.parametrize("length", RECORDED_CALLS)
def test_instructions_of_a_hooked_call(tprof, length):
    short, long = (20000, 120000) if length < 100 else (2000, 6000)
    bare, hooked = ((call_instructions(tprof, length, long, preload) - call_instructions(tprof, length, short, preload))
                    / (long - short) for preload in ((), [LIBRARY]))
    added = hooked - bare
    print(f"saxpy of {length}: {added:.1f} instructions added")
    assert 0 < added <= limit(RECORDED_CALLS[length]), f"{added:.1f} instructions, {RECORDED_CALLS[length]} recorded"


# A call of a function without a known signature, folded; the same with events of its own, as another op is in it or around
# it; a call that is typed by its arguments, folded; an annotated op. tests/bench/calls.c, by its names; TPROF_OPS.
RECORDED_OPS = {
    ("op", "bench_*"): {12: 143},
    ("nested", "bench_*"): {12: 372},
    ("kernel", "blas"): {12: 268},
    ("annotated", "off"): {12: 365},
}


def op_instructions(tprof, kind, ops, calls, preload, **env):
    command = [*OF_MAIN, ROOT / "build/bench/calls", kind, 1, calls]
    run = tprof.run(command, preload, {"TPROF_CPU": "0", "TPROF_EXE": "calls", "TPROF_OPS": ops, **env})
    assert run.status == 0 and json.loads(run.stdout)["calls"] == calls, run.stderr.decode(errors="replace")
    return int(re.search(rb"refs:\s+([\d,]+)", run.stderr).group(1).replace(b",", b""))


@pytest.mark.parametrize("kind,ops", RECORDED_OPS)
def test_instructions_of_an_op(tprof, kind, ops):
    short, long = 40000, 140000
    bare, hooked = ((op_instructions(tprof, kind, ops, long, preload) - op_instructions(tprof, kind, ops, short, preload))
                    / (long - short) for preload in ((), [LIBRARY]))
    added, recorded = hooked - bare, RECORDED_OPS[kind, ops]
    print(f"{kind}: {added:.1f} instructions added")
    assert 0 < added <= limit(recorded), f"{added:.1f} instructions, {recorded} recorded"


def test_instructions_of_an_op_in_a_pause(tprof):
    """The stub, the gate, and a jump to the function."""
    costs = [op_instructions(tprof, "op", "bench_*", calls, preload, TPROF_START="off")
             for preload in ((), [LIBRARY]) for calls in (40000, 140000)]
    added = (costs[3] - costs[2] - costs[1] + costs[0]) / 100000
    print(f"op in a pause: {added:.1f} instructions added")
    assert 0 < added < RECORDED_PAUSED_OP + 0.5  # of the loop around, in its 100,000 rounds
