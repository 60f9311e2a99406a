# SPDX-License-Identifier: Apache-2.0
"""What the hot path costs, in instructions: callgrind counts them on a fixed workload, so the figure is the same on every
machine and at every load. Two runs of different length are subtracted: start-up falls out. Recorded figures are those of
the compiler named; a change that costs more than the margin must say so here."""
import functools
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import ANALYZE, BUILD, LIBRARY, WORKLOADS, report

PAIRS = BUILD.parent / "bench/pairs"
SHORT, LONG = 20000, 100000  # pairs
MARGIN = 1.15
OTHER_COMPILER = 1.4  # one that no figure was recorded with

# (FRAMES, PATHS, POOL): instructions that tprof adds to a malloc+free pair, by the compiler of libtprof.so.
RECORDED = {
    (20, 1, 0): {"gcc 12": 430, "clang 14": 478},
    (60, 1, 0): {"gcc 12": 630, "clang 14": 661},
    # Some 30 of these ask early and prefetch: fewer instructions were 15 to 24 ns slower.
    (20, 1000, 10000): {"gcc 12": 594, "clang 14": 640},
    (60, 1000, 10000): {"gcc 12": 791, "clang 14": 817},
}
# What is not sampled: TPROF_ALLOC=sample:1g.
RECORDED_UNSAMPLED = {"gcc 12": 65, "clang 14": 68}
# While recording is paused: from the start on; later, where a free looks into the table of what ended in the pause. 4 of both
# are malloc's. An op: 3 of its stub, 6 of the trampoline's. So few that a compiler makes no difference.
RECORDED_PAUSED, RECORDED_PAUSED_LATER, RECORDED_PAUSED_OP = 15, 23, 9


@functools.cache
def compiler():
    """Which compiler built libtprof.so, as it says itself: "gcc 12", "clang 14"."""
    done = subprocess.run(["readelf", "-p", ".comment", LIBRARY], stdout=subprocess.PIPE, text=True, check=True)
    name, version = re.search(r"(clang version|GCC: \(.*\)) (\d+)", done.stdout).groups()
    return f"{'clang' if 'clang' in name else 'gcc'} {version}"


def limit(recorded):
    figure = recorded.get(compiler())
    return figure * MARGIN if figure else recorded["gcc 12"] * OTHER_COMPILER


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
    """The mean is so large that no block is drawn: of a mean of 1 GB one was in 1 of 16 runs, and cost a million instructions."""
    added = a_pair(tprof, (20, 1000, 10000), [LIBRARY], TPROF_ALLOC="sample:1t") - a_pair(tprof, (20, 1000, 10000))
    print(f"not sampled: {added:.1f} instructions added")
    assert 0 < added <= limit(RECORDED_UNSAMPLED), f"{added:.1f} instructions, {RECORDED_UNSAMPLED} recorded"


def test_instructions_of_what_is_never_recorded(tprof):
    """No more than those of what is not sampled."""
    added = a_pair(tprof, (20, 1000, 10000), [LIBRARY], TPROF_ALLOC="off") - a_pair(tprof, (20, 1000, 10000))
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
# clang saves registers at a function's start also where its shortest way needs none.
RECORDED_PAUSED_KINDS_CLANG = {**RECORDED_PAUSED_KINDS, ("mmap",): 170}


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
    recorded = RECORDED_PAUSED_KINDS_CLANG if compiler().startswith("clang") else RECORDED_PAUSED_KINDS
    assert 0 < paused - bare < recorded[kind] + 4


# Only main() is counted: at start tprof times its own events, folded ones among them.
OF_MAIN = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=main"]

# Of a hooked call, by how it was recorded: folded and timed; folded and only counted; by events of its own. Which calls are
# which is a matter of their time, and under valgrind that of the machine's load: so the trace is asked how many were. Of what
# each costs the instructions of a run are a sum that is right to 0.1%, whatever came of it.
# A call of cblas_saxpy through the PLT; a function without a known signature; the same, as another op is in it or around it; a
# call that is typed by its arguments, some of them on the stack; an annotated op. tests/bench/calls.c, by its names; TPROF_OPS.
HOW = ("timed", "untimed", "own")
# 68 of "own" are the log of what came next, and prefetch that, once more after a call that is as long as these.
RECORDED_CALLS = {"gcc 12": (124, 79, 535), "clang 14": (124, 79, 518)}
RECORDED_OPS = {
    ("op", "bench_*"): {"gcc 12": (147, 120, 421), "clang 14": (153, 120, 441)},
    # 34 of "own" are the log of what came next, and prefetch that.
    ("nested", "bench_*"): {"gcc 12": (147, 120, 406), "clang 14": (153, 120, 441)},
    ("kernel", "blas"): {"gcc 12": (262, 235, 637), "clang 14": (283, 256, 650)},
    ("annotated", "off"): {"gcc 12": (0, 0, 365), "clang 14": (0, 0, 416)},
}


def recorded_as(run):
    """How many calls of all ops were timed in a fold, only counted, and recorded by themselves."""
    ops = [op for path in run.traces() for op in report(path, command="ops", options=["--top", "0"])["ops"]]
    folded, untimed = sum(op["folded"] for op in ops), sum(op["untimed"] for op in ops)
    return folded - untimed, untimed, sum(op["calls"] for op in ops) - folded


def of_main(tprof, command, preload, **env):
    """Instructions, and how the calls were recorded."""
    run = tprof.run([*OF_MAIN, *command], preload, {"TPROF_CPU": "0", "TPROF_EXE": command[0].name, **env})
    assert run.status == 0, run.stderr.decode(errors="replace")
    count = int(re.search(rb"refs:\s+([\d,]+)", run.stderr).group(1).replace(b",", b""))
    return count, recorded_as(run) if preload else (0, 0, 0)


def check_calls(tprof, name, command, lengths, recorded, **env):
    """`command` makes one call more for each that its argument is larger."""
    runs = [of_main(tprof, command(length), preload, **env) for preload in ((), [LIBRARY]) for length in lengths]
    added = runs[3][0] - runs[2][0] - runs[1][0] + runs[0][0]
    calls = [long - short for long, short in zip(runs[3][1], runs[2][1])]
    expected = sum(count * limit({by: figures[i] for by, figures in recorded.items()}) for i, count in enumerate(calls))
    print(f"{name}: {added} instructions added, " + ", ".join(f"{n} {how}" for n, how in zip(calls, HOW)))
    assert sum(calls) == lengths[1] - lengths[0]
    assert 0 < added <= expected, f"{added} instructions, at most {expected:.0f} for {dict(zip(HOW, calls))}"


@pytest.mark.parametrize("length", [4, 2000])
def test_instructions_of_a_hooked_call(tprof, length):
    lengths = (20000, 120000) if length < 100 else (2000, 6000)
    check_calls(tprof, f"saxpy of {length}", lambda calls: [WORKLOADS / "hot", "plain", calls, length], lengths,
                RECORDED_CALLS, TPROF_OPS="blas")


@pytest.mark.parametrize("kind,ops", RECORDED_OPS)
def test_instructions_of_an_op(tprof, kind, ops):
    check_calls(tprof, kind, lambda calls: [BUILD.parent / "bench/calls", kind, 1, calls], (40000, 140000),
                RECORDED_OPS[kind, ops], TPROF_OPS=ops)


# What a hook in a function's code takes more than a pointer's, of which a direct call is one less: the jumps to the detour and
# back, and registers that are kept.
IN_CODE = 14


def test_instructions_of_a_call_that_is_hooked_in_its_code(tprof):
    """Of a static function."""
    recorded = {by: [n + IN_CODE for n in figures] for by, figures in RECORDED_OPS["op", "bench_*"].items()}
    check_calls(tprof, "in code", lambda calls: [WORKLOADS / "code_kept", calls], (40000, 140000), recorded, TPROF_OPS="kept_leaf")


def test_instructions_of_an_op_in_a_pause(tprof):
    """The stub, the gate, and a jump to the function."""
    costs = [of_main(tprof, [BUILD.parent / "bench/calls", "op", 1, calls], preload, TPROF_OPS="bench_*", TPROF_START="off")[0]
             for preload in ((), [LIBRARY]) for calls in (40000, 140000)]
    added = (costs[3] - costs[2] - costs[1] + costs[0]) / 100000
    print(f"op in a pause: {added:.1f} instructions added")
    assert 0 < added < RECORDED_PAUSED_OP + 0.5  # of the loop around, in its 100,000 rounds


# ---- the analyzer's ----

SITE = """
	.globl site_{0}
	.type site_{0}, @function
site_{0}:
	.cfi_startproc
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	movl $1, %edi
	call malloc@PLT
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size site_{0}, . - site_{0}
"""
MAIN = """
	.globl main
	.type main, @function
main:
	.cfi_startproc
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	{0}
	xorl %eax, %eax
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size main, . - main
	.section .note.GNU-stack, "", @progbits
"""


def program_of(sites, path):
    """A program of so many functions, of which each allocates once."""
    source = path.with_suffix(".s")
    source.write_text("\t.text\n" + "".join(SITE.format(i) for i in range(sites)) +
                      MAIN.format("\n\t".join(f"call site_{i}" for i in range(sites))))
    subprocess.run(["gcc", "-o", path, source], check=True)
    return path


def test_instructions_of_symbols(tprof, tmp_path):
    """A name costs the same among 8,000 as among 500: symbols that were looked up in linear time would cost more."""
    counts = {}
    for sites in (500, 2000, 8000):
        run = tprof.run([program_of(sites, tmp_path / f"of_{sites}")], [LIBRARY],
                        {"TPROF_CPU": "0", "TPROF_OUTPUT": str(tmp_path / f"{sites}.bin")})
        assert run.status == 0, run.stderr
        # In the symbols alone: what is done for growth depends on how long the program took.
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=tpa_symbols_frame",
                               ANALYZE, "export", "--what", "allocated", tmp_path / f"{sites}.bin"], check=True, capture_output=True,
                              env={**os.environ, "TPROF_CACHE": "off"})
        stacks = re.findall(rb";site_(\d+) 1$", done.stdout, re.MULTILINE)
        assert sorted(map(int, stacks)) == list(range(sites))
        counts[sites] = int(re.search(rb"Collected\s*:\s+([\d,]+)", done.stderr).group(1).replace(b",", b""))
    few, many = (counts[2000] - counts[500]) / 1500, (counts[8000] - counts[2000]) / 6000
    print(f"a name: {few:.0f} instructions, {many:.0f} among more")
    assert 0 < few and many < few * 1.25
