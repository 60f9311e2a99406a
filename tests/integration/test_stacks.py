# SPDX-License-Identifier: Apache-2.0
"""Stacks: those that libunwind sees, from every kind of frame; depth, cuts, names and lines."""
import os
import resource
import subprocess

import pytest
from conftest import WORKLOADS, functions, nothing_lost, sites
from second_reader import Trace

KINDS = [f"{program}{level}" for program in ("stack", "exceptions") for level in (0, 2, 3)]


@pytest.mark.parametrize("program", KINDS)
def test_the_same_frames_as_libunwind(tprof, program):
    """Frame by frame: the same module, the same return address."""
    run, summary = tprof.summary([WORKLOADS / program])
    nothing_lost(summary)
    trace = Trace(run.traces()[0].read_bytes())
    nodes = {event[3]: event[4] for event in trace.events if event[1] == "alloc" and event[3] >= 10000}
    notes = run.truth()["stacks"]
    assert len(notes) >= 40
    coroutine = notes[-2]  # the last but one; the last is from an atexit handler
    for note in notes:
        frames, end = trace.stack(nodes[note["size"]])
        own = [[os.path.realpath(trace.modules[module]), offset] for module, offset in frames]
        theirs = [[os.path.realpath(module), offset] for module, offset in note["frames"]]
        # A coroutine's outermost frame returns to the start of a function: that nothing is above it can't be known.
        assert end == 1 or (end == 3 and program.startswith("stack") and note is coroutine), note
        # The innermost frames differ by the call: stack_note's there, malloc's here.
        assert own[0][0] == theirs[0][0] and 0 < abs(own[0][1] - theirs[0][1]) < 64, note
        assert own[1:] == theirs[1:], note


@pytest.mark.parametrize("program", KINDS)
def test_names_of_functions(tprof, program):
    """Each note was made in a function of that name, which the report finds."""
    run, _ = tprof.summary([WORKLOADS / program])
    found = {name for site in sites(run.traces()[0], "leaks") for name in functions(site["stack"])[:3]}
    for note in run.truth()["stacks"]:
        name = note["function"]
        assert any(name in other for other in found if other), (note, found)


@pytest.mark.parametrize("depth", [1, 5, 64, 256, 300])
def test_depth(tprof, depth):
    """A cut stack keeps its innermost frames and says that it was cut."""
    run, summary = tprof.summary([WORKLOADS / "deep", 1000], env={"TPROF_DEPTH": str(depth), "TPROF_CPU": "0"})
    (site,) = [s for s in sites(run.traces()[0], "leaks") if s["bytes"] == 4242]
    assert len(site["stack"]) == depth
    assert site["stack_end"] == "cut"
    assert functions(site["stack"]) == ["recurse_even" if i % 2 == 0 else "recurse_odd" for i in range(depth)]
    assert summary["capture"]["stacks_cut"] == 1


def test_default_depth(tprof):
    run, _ = tprof.summary([WORKLOADS / "deep", 1000])
    (site,) = [s for s in sites(run.traces()[0], "leaks") if s["bytes"] == 4242]
    assert len(site["stack"]) == 256


def test_whole_stack(tprof):
    run, summary = tprof.summary([WORKLOADS / "deep", 100])
    (site,) = [s for s in sites(run.traces()[0], "leaks") if s["bytes"] == 4242]
    names = functions(site["stack"])
    assert names[:101] == ["recurse_even" if i % 2 == 0 else "recurse_odd" for i in range(101)]
    assert names[101] == "main" and names[-1] == "_start"
    assert site["stack_end"] == "root"
    assert summary["capture"]["stacks_cut"] == 0


LARGE_FRAMES = """
#include <stdlib.h>

__attribute__((noinline)) int with_array(int depth)
{
    volatile char array[50 << 20];

    array[0] = 1;
    if (depth == 0)
        free(malloc(4321));
    return depth ? with_array(depth - 1) + array[0] : 0;
}

int main(void)
{
    return with_array(9) != 9;
}
"""


@pytest.mark.parametrize("limit", ["unlimited", str(1 << 20)])  # KiB
def test_large_main_stack(tprof, tmp_path, limit):
    """As Fortran's programs have it, whose arrays are on the stack: all 500 MiB of it are the thread's own."""
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("stacks are limited here")
    (tmp_path / "large.c").write_text(LARGE_FRAMES)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-o", tmp_path / "large", tmp_path / "large.c"], check=True)
    run, summary = tprof.summary(["sh", "-c", f"ulimit -s {limit} && exec '{tmp_path}/large'"],
                                 env={"TPROF_CPU": "0", "TPROF_EXE": "large"})
    (site,) = [s for s in sites(run.traces()[0], "hotspots") if s["largest_bytes"] == 4321]
    assert functions(site["stack"])[:11] == 10 * ["with_array"] + ["main"]
    assert site["stack_end"] == "root" and summary["capture"]["stacks_short"] == 0


LOST_RBP = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void keeps_it_elsewhere(const uintptr_t *frame);
void allocates(void) { free(malloc(4321)); }
void innocent(void) { puts("never called"); }

/* rbp is in r12 meanwhile, as its rules say; in rbp is what looks like a frame of a function that `innocent` called. */
__asm__(".text\n.globl keeps_it_elsewhere\n.type keeps_it_elsewhere, @function\nkeeps_it_elsewhere:\n.cfi_startproc\n"
        "push %r12\n.cfi_adjust_cfa_offset 8\n.cfi_offset %r12, -16\n"
        "mov %rbp, %r12\n.cfi_register %rbp, %r12\nmov %rdi, %rbp\n"
        "call allocates\n"
        "mov %r12, %rbp\n.cfi_restore %rbp\npop %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore %r12\nret\n"
        ".cfi_endproc\n.size keeps_it_elsewhere, .-keeps_it_elsewhere\n");

__attribute__((noinline, optimize("no-omit-frame-pointer"))) void calls(const uintptr_t *frame)
{
    keeps_it_elsewhere(frame);
    __asm__ volatile("");
}

int main(void)
{
    uintptr_t frame[64] = { 0, (uintptr_t)innocent + 4 };

    calls(frame);
    return 0;
}
"""


def test_frame_pointer_that_nobody_knows(tprof, tmp_path):
    """What is in rbp instead is not taken for a frame of the caller's: the walk ends, and says so."""
    (tmp_path / "lost.c").write_text(LOST_RBP)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-fno-inline", "-fno-optimize-sibling-calls", "-o", tmp_path / "lost",
                    tmp_path / "lost.c"], check=True)
    run, summary = tprof.summary([tmp_path / "lost"], env={"TPROF_CPU": "0"})
    (site,) = [s for s in sites(run.traces()[0], "hotspots") if s["largest_bytes"] == 4321]
    assert functions(site["stack"]) == ["allocates", "keeps_it_elsewhere", "calls"]
    assert summary["capture"]["stacks_short"] == 1


def test_lines(tprof):
    """The demo's leak by file and line."""
    source = WORKLOADS.parents[1] / "tests/workloads/digits.c"
    lines = source.read_text().splitlines()
    leak = next(i for i, text in enumerate(lines, 1) if "malloc(sizeof(*note))" in text)
    run, summary = tprof.summary([WORKLOADS / "digits", source.parent / "data/digits.csv", 2])
    (site,) = [s for s in sites(run.traces()[0], "leaks") if "remember_loss" in functions(s["stack"])]
    frame = next(f for f in site["stack"] if f["function"] == "remember_loss")
    assert frame["file"].endswith("digits.c") and frame["line"] == leak
    assert site["blocks"] == 60 and site["bytes"] == 60 * 104
    nothing_lost(summary)


def test_inlined_frames(tprof):
    run, _ = tprof.summary([WORKLOADS / "stack2"])
    found = [s["stack"] for s in sites(run.traces()[0], "leaks") if "inlined" in functions(s["stack"])]
    assert found
    for stack in found:
        names = functions(stack)
        assert names[names.index("inlined") + 1] == "with_inlined"
        assert stack[names.index("inlined")]["inlined"] is True
