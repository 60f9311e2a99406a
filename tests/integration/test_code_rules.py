# SPDX-License-Identifier: Apache-2.0
"""Code without any unwind table and without frame pointers: callers are found by what the code does until it returns. Each stack is
compared with what the program knows of its own calls, and each caller that was found so is marked as guessed."""
import json
import shutil
import subprocess

import pytest

import random_calls
from conftest import LIBRARY, analyze, functions, report, sampled
from test_debug_frame import CHAIN, LIB, PROGRAM, compile_to, sections

NO_TABLES = ["-w", "-g0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer"]
KINDS = {"plain": [], "hardened": ["-fstack-protector-all", "-fcf-protection=full", "-fstack-clash-protection"], "static": ["-no-pie"]}


def dumped(trace):
    """Its events, and its stacks by number."""
    dump = json.loads(analyze("dump", "--json", trace).stdout)
    (stacks,) = [{int(number): stack for number, stack in one["stacks"].items()} for one in dump["stacks"]]
    return dump["events"], stacks


def own(stack):
    """Names of the program's own functions; parts that the compiler put apart have the name of the whole."""
    names = [frame["function"].split(".")[0] for frame in stack if frame["function"]]
    return [name for name in names if name == "main" or (name[0] == "f" and name[1:].isdigit())]


def check_all(trace, expected):
    events, stacks = dumped(trace)
    found = {event["size"]: stacks[event["stack"]]["stack"] for event in events
             if event["kind"] == "alloc" and event["size"] in expected}
    assert found.keys() == expected.keys()
    wrong = [(own(stack), expected[size]) for size, stack in found.items() if own(stack) != expected[size]]
    assert not wrong, (len(wrong), len(found), wrong[0])
    for size, stack in found.items():
        marked = [frame["guessed"] for frame in stack if frame["module"] == "program" and frame["function"] != "_start"]
        assert marked == [False] + [True] * (len(marked) - 1), (size, stack)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
@pytest.mark.parametrize("kind", KINDS)
def test_stacks_that_the_program_knows(tprof, tmp_path, compiler, level, kind):
    for seed in range(2):
        program = compile_to(tmp_path / "program", {"program.c": random_calls.program(seed)}, [*NO_TABLES, level, *KINDS[kind]],
                             compiler)
        run = tprof.run([program], [LIBRARY], {"TPROF_CPU": "0", "TPROF_OUTPUT": str(tmp_path / f"{seed}.bin")})
        expected = random_calls.truth(run.stdout)
        assert run.status in (0, 1) and len(expected) > 500
        check_all(tmp_path / f"{seed}.bin", expected)
        assert report(tmp_path / f"{seed}.bin")["capture"]["stacks_short"] == 0


def test_without_symbols(tprof, tmp_path):
    """Nothing but the code itself is needed."""
    program = compile_to(tmp_path / "whole", {"program.c": random_calls.program(9)}, [*NO_TABLES, "-O2"])
    stripped = tmp_path / "program"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    assert ".symtab" not in sections(stripped)
    run = tprof.run([stripped], [LIBRARY], {"TPROF_CPU": "0"})
    shutil.copy(program, stripped)  # for the names
    check_all(run.traces()[0], random_calls.truth(run.stdout))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_samples(tprof, tmp_path, compiler, level):
    """Interrupted at any instruction."""
    program = compile_to(tmp_path / "program", {"lib.c": LIB, "program.c": PROGRAM}, [*NO_TABLES, level], compiler)
    run = sampled(lambda capture: capture["cpu_samples"] >= 20, lambda: tprof.run([program, "500"], [LIBRARY], {"TPROF_CPU": "1000"}))
    events, stacks = dumped(run.traces()[0])
    names = [functions(stacks[event["stack"]]["stack"]) for event in events if event["kind"] == "sample"]
    through = [one for one in names if "burn" in one]
    assert len(through) >= 15 and all(one[one.index("burn") + 1] == "main" for one in through)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_frames_of_odd_kinds(tprof, tmp_path, compiler):
    """Of variable size, and realigned, where gcc keeps the frame's end in %r10."""
    program = compile_to(tmp_path / "program", {"lib.c": LIB, "program.c": PROGRAM},
                         [*NO_TABLES, "-O2", "-fno-optimize-sibling-calls"], compiler)
    run = tprof.run([program], [LIBRARY], {"TPROF_CPU": "0"})
    events, stacks = dumped(run.traces()[0])
    found = [functions(stacks[event["stack"]]["stack"])[:len(CHAIN)] for event in events
             if event["kind"] == "alloc" and event["size"] == 777]
    assert [[name.split(".")[0] for name in names] for names in found] == 10 * [CHAIN]


ODD = r"""
#include <setjmp.h>
#include <stdlib.h>

/* What stands behind the call of malloc is another function: this one never returns. */
static jmp_buf back;
static volatile int yes = 1;

static __attribute__((noinline, noreturn)) void away(char *block)
{
    *block = 1;
    longjmp(back, 1);
}

__attribute__((noinline, noreturn)) static void never_returns(void)
{
    volatile char room[200];

    room[yes] = 1;
    away(malloc(777));
}

int main(void)
{
    for (int i = 0; i < 10; i++)
        if (!setjmp(back))
            never_returns();
    return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_what_never_returns_is_marked(tprof, tmp_path, compiler, level):
    """Its callers may be wrong; not one is unmarked."""
    program = compile_to(tmp_path / "program", {"program.c": ODD}, [*NO_TABLES, level], compiler)
    run = tprof.run([program], [LIBRARY], {"TPROF_CPU": "0"})
    assert run.status == 0
    events, stacks = dumped(run.traces()[0])
    found = [stacks[event["stack"]]["stack"] for event in events if event["kind"] == "alloc" and event["size"] == 777]
    assert len(found) == 10
    for stack in found:
        assert stack[0]["function"] in ("never_returns", "main")
        assert all(frame["guessed"] for frame in stack[1:2])
