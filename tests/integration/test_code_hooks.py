# SPDX-License-Identifier: Apache-2.0
"""Functions that no pointer of the loader leads to, hooked in their own code: the program does as without, and each call counts."""
import re
import subprocess
from pathlib import Path

import pytest

from conftest import LIBRARY, WORKLOADS, analyze, report
from test_verify import verified

KERNELS = "*_forward,*_backward,adam_update,draw_uniform,sum_squares"
QUIET = {"TPROF_CPU": "0"}


def counts(output):
    """Lines "FUNCTION CALLS [LEFT]", as the program prints them."""
    return {name: tuple(map(int, numbers.split()))
            for name, numbers in re.findall(r"^([a-z_][\w:]*) (\d+(?: \d+)?)$", output.decode(), re.M)}


def run_both(tprof, command, ops, env=None):
    """The trace of a run that did as the bare one."""
    bare, run = tprof.run(command), tprof.run(command, [LIBRARY], {**QUIET, "TPROF_OPS": ops, **(env or {})})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    return run, run.traces()[0]


def ops_of(trace):
    return {op["name"]: op for op in report(trace, command="ops", options=["--top", "0"])["ops"]}


def calls_of(trace):
    return {name: (op["calls"],) for name, op in ops_of(trace).items()}


def hooks_of(trace):
    return report(trace, command="info")["capture"]["hooks"]


def addresses(program, names):
    """How many functions have one of the names: compilers make several of one, for constant arguments."""
    path = f"{program}.debug" if program.name.endswith("-debug") else program
    symbols = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return len({at for at, name in re.findall(r"^(\w+) [tT] (\w+)(?:\.constprop\.\d+|\.isra\.\d+)*$", symbols, re.M) if name in names})


@pytest.mark.parametrize("program", [f"static_kernels-O{level}" for level in range(4)] +
                         ["static_kernels-debug", "static_kernels-cet", "static_kernels-nopie"])
def test_kernels_of_a_trainer(tprof, program):
    run, trace = run_both(tprof, [WORKLOADS / program, 300], KERNELS)
    told = counts(run.stdout)
    assert len(told) == 10 and told["draw_uniform"][0] > 100000
    assert calls_of(trace) == told
    hooks, functions = hooks_of(trace), addresses(WORKLOADS / program, told)
    assert [(m["by"], m["functions"], m["pointers"]) for m in hooks["modules"]] == [("code", functions, 0)]
    assert hooks["skipped"] == []
    assert f"{program}: {functions} functions in their code" in analyze("info", trace).stdout


@pytest.mark.parametrize("level", range(4))
def test_kernels_of_a_graph(tprof, level):
    """Three threads; some kernels are called by pointers in a table of the program."""
    run, trace = run_both(tprof, [WORKLOADS / f"static_graph-O{level}", 1000], "forward_*,vec_*")
    told = counts(run.stdout)
    assert len(told) == 7
    assert calls_of(trace) == told


@pytest.mark.parametrize("program,ops", [("static_kernels", KERNELS), ("static_graph", "forward_*,vec_*")])
def test_as_the_compiler_instruments_it(tprof, program, ops):
    """The same source, built with -finstrument-functions, has the same calls of the same functions."""
    _, trace = run_both(tprof, [WORKLOADS / f"{program}-O2", 200], ops)
    traced = tprof.run([WORKLOADS / f"{program}-traced", 200], [LIBRARY], {**QUIET, "TPROF_OPS": "instrument"}).traces()[0]
    by_compiler = calls_of(traced)
    mine = calls_of(trace)
    assert len(mine) in (7, 10)
    assert mine == {name: by_compiler[name] for name in mine}


def test_without_symbols(tprof):
    """Nothing is known of a stripped program, and nothing is hooked."""
    _, trace = run_both(tprof, [WORKLOADS / "static_kernels-stripped", 20], KERNELS)
    assert calls_of(trace) == {}
    assert hooks_of(trace)["modules"] == []


@pytest.mark.parametrize("ops", ["*", "auto", "off", "-matmul_forward"])
def test_only_what_is_asked_for(tprof, ops):
    _, trace = run_both(tprof, [WORKLOADS / "static_kernels-O2", 20], ops)
    assert [m for m in hooks_of(trace)["modules"] if m["by"] == "code"] == []
    assert "matmul_forward" not in calls_of(trace)


def test_an_excluded_function_is_left_alone(tprof):
    run, trace = run_both(tprof, [WORKLOADS / "static_kernels-O2", 20], "matmul_*,-matmul_backward")
    assert calls_of(trace) == {"matmul_forward": counts(run.stdout)["matmul_forward"]}


@pytest.mark.parametrize("level", range(4))
def test_functions_that_are_left(tprof, level):
    """By exceptions, longjmp and tail calls; recursive ones, templates, threads, a function that begins with a call."""
    run, trace = run_both(tprof, [WORKLOADS / f"code_cases-O{level}", 3000], "code::*")
    told = counts(run.stdout)
    assert len(told) == 10
    told["code::jumps"] = (told["code::jumps"][0] - 1, told["code::jumps"][1] - 1)  # the last one is open still
    ops = ops_of(trace)
    assert {name: (ops[name]["calls"], ops[name]["unwound"]) for name in told} == told


def test_stacks_lead_through_hooked_functions(tprof):
    """Allocations, in functions that were left by exceptions, have all their callers."""
    _, trace = run_both(tprof, [WORKLOADS / "code_cases-O2", 300], "code::*")
    folded = analyze("export", "--what", "allocated", trace).stdout
    through = [line for line in folded.splitlines() if "code::throws" in line]
    assert through and all("main" in line and "once" in line for line in through)
    assert any("code::calls_first" in line for line in through)


@pytest.mark.parametrize("level", [0, 2])
def test_walks_are_libunwinds(tprof, level):
    """Frame by frame, from within hooked functions."""
    verified(tprof, [WORKLOADS / f"code_cases-O{level}", 2000], {"TPROF_OPS": "code::*", "TPROF_CPU": "0"}, walks=2000)


@pytest.mark.parametrize("env", [{}, {"TPROF_START": "off"}, {"TPROF_MAX_OVERHEAD": "0.1%", "TPROF_ALLOC": "off"}])
def test_registers_that_a_caller_relies_on(tprof, env):
    """Within a file the compiler knows what a function leaves alone; recorded, paused, and passed by."""
    run, trace = run_both(tprof, [WORKLOADS / "code_kept", 300000], "kept_leaf", env)
    assert b"300000 calls, 0 registers changed" in run.stdout
    if not env:
        assert calls_of(trace) == {"kept_leaf": (300000,)}
    assert [(m["by"], m["functions"]) for m in hooks_of(trace)["modules"]] == [("code", 1)]


def test_refused_functions_are_named(tprof):
    _, trace = run_both(tprof, [WORKLOADS / "code_refused"], "refused_*,hooked_*")
    hooks = hooks_of(trace)
    assert {skipped["function"]: skipped["reason"] for skipped in hooks["skipped"]} == {
        "refused_short": "it is shorter than a jump",
        "refused_loop": "it jumps to its first instructions",
        "refused_inside": "it jumps to its first instructions",
        "refused_data": "it contains what is no instruction",
        "refused_counts": "it begins with an instruction that can't be moved",
        "refused_entered": "other functions jump to its first instructions",
        "refused_setjmp": "it returns twice, or belongs to the unwinder or the loader",
    }
    assert calls_of(trace) == {"hooked_padded": (1,), "hooked_plain": (1,)}
    text = analyze("info", trace).stdout
    assert "code_refused: not hooked in its code: refused_short: it is shorter than a jump" in text


def test_a_step_of_a_static_function(tprof):
    run = tprof.run([WORKLOADS / "static_kernels-O2", 50], [LIBRARY], {**QUIET, "TPROF_STEP": "crossentropy_forward", "TPROF_OPS": "off"})
    assert report(run.traces()[0], command="steps")["steps"]["count"] == 50


@pytest.mark.parametrize("how", ["alone", "threads"])
def test_a_library_that_is_loaded_later(tprof, how):
    """Hooked while the process has one thread; loaded again, after it was unloaded, it may be at the same address."""
    run, trace = run_both(tprof, [WORKLOADS / "code_late", WORKLOADS / "libcode_kernels.so", 500, how], "late_kernel")
    hooks = hooks_of(trace)
    if how == "alone":
        assert calls_of(trace) == {"late_kernel": (2000,)}
    else:
        assert calls_of(trace) == {}
        assert [(s["function"], s["reason"]) for s in hooks["skipped"]] == [("late_kernel", "other threads run already")]


def test_code_is_never_writable(tprof):
    """Neither the program's nor the detours; nor is it executable where it is writable."""
    code = "import re; print([l for l in open('/proc/self/maps') if re.search(' .wx', l)])"
    run = tprof.run(["/usr/bin/python3", "-c", code], [LIBRARY], {**QUIET, "TPROF_OPS": "PyObject_*,_PyObject*,list_*"})
    assert (run.status, run.stdout.strip()) == (0, b"[]")


def test_cpu_samples_in_moved_instructions(tprof):
    """They are the function's, with its callers."""
    run, trace = run_both(tprof, [WORKLOADS / "code_slow", 200], "slow_fill", {"TPROF_CPU": "500"})
    rows = {row["function"]: row for row in report(trace, command="hotspots", options=["--top", "0"])["cpu"]}
    assert rows["slow_fill"]["self_samples"] > 10
    assert Path(rows["slow_fill"]["module"]).name == "code_slow"
    stacks = [line for line in analyze("export", "--what", "cpu", trace).stdout.splitlines() if "slow_fill" in line]
    assert stacks and all(re.search("main.*fill_all.*slow_fill", line) for line in stacks)


def test_gdb_finds_callers(tprof):
    """At a breakpoint deep in hooked functions."""
    if subprocess.run(["which", "gdb"], capture_output=True).returncode:
        pytest.skip("gdb is not installed")
    command = ["gdb", "-q", "-batch", "-ex", f"set environment LD_PRELOAD {LIBRARY}", "-ex", "set environment TPROF_OPS code::*",
               "-ex", "set environment TPROF_OUTPUT /dev/null", "-ex", "break __cxa_throw", "-ex", "run", "-ex", "bt", "-ex", "kill",
               "--args", WORKLOADS / "code_cases-O2", "10"]
    out = subprocess.run(command, capture_output=True, text=True).stdout
    assert re.search(r"code::throws.*code::.*\bmain\b", out, re.S), out
