# SPDX-License-Identifier: Apache-2.0
"""Functions hooked by name: the program behaves as without, and each call is counted, exactly."""
import json
import re
import struct
import subprocess
from pathlib import Path

import pytest

from conftest import ANALYZE, LIBRARY, WORKLOADS, analyze, report
from test_control import offset_of
from test_roofline import MACHINE

TIMES = 50


def ops_of(trace):
    """Operators of a trace: name -> (calls, unwound)."""
    run = subprocess.run([ANALYZE, "ops", "--json", "--top", "0", trace], capture_output=True, check=True)
    return {op["name"]: (op["calls"], op["unwound"]) for op in json.loads(run.stdout)["ops"]}


@pytest.mark.parametrize("program", ["op_calls", "op_calls-now", "op_calls-cet"])
def test_every_signature(tprof, program):
    command = [WORKLOADS / program, TIMES]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "op_*,-op_excluded"})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    assert run.status == 0 and b"50 jumps" in run.stdout
    ops = ops_of(run.traces()[0])
    for name in ("op_none", "op_many", "op_doubles", "op_big", "op_pair", "op_long_double", "op_complex", "op_varargs"):
        assert ops[name] == (TIMES, 0), name
    # The compiler calls the function itself directly: what passes no pointer of the loader's is not seen.
    assert ops["op_recurse"] == (TIMES, 0)
    # Left by longjmp: each got its end when the next op began; the last one is open still.
    assert ops["op_jump"] == (TIMES - 1, TIMES - 1)
    assert "op_excluded" not in ops


def test_exceptions_pass_through(tprof):
    command = [WORKLOADS / "op_throws", TIMES]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "thrower_*"})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) == (
        0, b"op_throws: 5000\n", b"")
    ops = ops_of(run.traces()[0])
    assert ops["thrower_top"] == (TIMES, 0)
    assert ops["thrower_deep"] == (TIMES, TIMES)  # none returns


@pytest.mark.parametrize("program", ["op_calls", "op_calls-cet", "op_torture"])
def test_every_signature_of_calls_that_are_folded(tprof, program):
    """The shortest way through the stub passes everything on too."""
    command = [WORKLOADS / program, 5000]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "op_*,torture_*,-op_excluded", "TPROF_CPU": "0"})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    ops = ops_of(run.traces()[0])
    names = ("torture_x87", "torture_huge", "torture_giant", "torture_errno") if program == "op_torture" else (
        "op_none", "op_many", "op_doubles", "op_big", "op_pair", "op_long_double", "op_complex", "op_varargs", "op_recurse")
    assert {name: ops[name] for name in names} == {name: (5000, 0) for name in names}
    answer = subprocess.run([ANALYZE, "ops", "--json", "--top", "0", run.traces()[0]], capture_output=True, check=True)
    # How many, the machine decides: those that waited for a processor are none.
    assert sum(op["folded"] for op in json.loads(answer.stdout)["ops"]) > 0


@pytest.mark.parametrize("ops", ["off", "blas"])
def test_registers_of_typed_calls(tprof, ops):
    """Each call's numbers, in vector registers and on the stack, whether it is folded or not."""
    run = tprof.run([WORKLOADS / "registers", 5000], [LIBRARY], {"TPROF_OPS": ops, "TPROF_CPU": "0"})
    assert (run.status, run.stdout) == (0, b"registers: 0 wrong there, 0 wrong back\n")
    calls = {name: count for name, (count, _) in ops_of(run.traces()[0]).items()}
    assert calls == {} if ops == "off" else len(calls) == 7 and set(calls.values()) == {5000}


def test_a_call_that_an_exception_left_ends_where_the_next_begins(tprof):
    """Its frame is where the next call's is: not within it."""
    run = tprof.run([WORKLOADS / "op_throws", 1000, "here"], [LIBRARY], {"TPROF_OPS": "thrower_*"})
    assert (run.status, run.stdout) == (0, b"op_throws: 1100\n")
    assert ops_of(run.traces()[0]) == {"thrower_deep": (1001, 1001), "thrower_top": (1, 0)}
    tree = subprocess.run([ANALYZE, "ops", "--json", "--tree", "--top", "0", run.traces()[0]], capture_output=True, check=True)
    assert {(node["name"], node["parent"] is None) for node in json.loads(tree.stdout)["tree"]} == {
        ("thrower_deep", True), ("thrower_top", True), ("thrower_deep", False)}


def tree_of(run):
    """Of each path of functions: calls, and blocks of 1 MiB that were allocated there."""
    paths, found = {None: ""}, {}
    for node in report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]:
        paths[node["id"]] = paths[node["parent"]] + node["name"][-1]
        found[paths[node["id"]]] = node["calls"], node["self_allocated_bytes"] >> 20
    return found


def tree_of_program(text):
    """The same, and how many calls of each function an exception left, as throw_tree counted."""
    found, thrown = {}, dict.fromkeys("abc", 0)
    for key, *figures in (map(int, line.split()) for line in text.split(b"\n") if line):
        path = ""
        while key:
            path, key = "abc"[key % 4 - 1] + path, key // 4
        if not path:
            continue  # the program itself
        name, calls, left, blocks = path[-1], *figures
        inside = path.replace("c", "ca")  # thrower_c calls thrower_a, where all of it is then
        found[inside] = calls, blocks
        thrown[name] += left
        if name == "c":
            found[inside[:-1]] = calls, 0
            thrown["a"] += left
    return found, thrown


@pytest.mark.parametrize("seed, samples", [(seed, 99) for seed in range(1, 6)] + [(seed, 5000) for seed in range(6, 9)])
def test_tree_of_calls_that_exceptions_leave(tprof, seed, samples):
    """Wherever one is caught: what comes next, calls and allocations, is within what is really there, at any depth."""
    run = tprof.run([WORKLOADS / "throw_tree", seed, 20000], [LIBRARY], {"TPROF_OPS": "thrower_*", "TPROF_CPU": str(samples)})
    assert run.status == 0
    found, thrown = tree_of_program(run.stdout)
    assert tree_of(run) == found
    assert ops_of(run.traces()[0]) == {
        f"thrower_{name}": (sum(calls for path, (calls, _) in found.items() if path[-1] == name), thrown[name])
        for name in "abc"}


@pytest.mark.parametrize("left_by", ["exception", "longjmp"])
def test_steps_of_functions_that_do_not_return(tprof, left_by):
    """A call that is left ends its step all the same, also one that pthread_exit() leaves."""
    if left_by == "exception":
        command, step, wanted = [WORKLOADS / "throw_tree", 1, 2000], "thrower_b", None
    else:
        command, step, wanted = [WORKLOADS / "step_left", TIMES], "tiny_call", TIMES + 1
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "thrower_*,blas", "TPROF_STEP": step})
    assert run.status == 0
    calls, unwound = ops_of(run.traces()[0])[step]
    assert unwound > 10 and calls == (wanted or calls)
    steps = report(run.traces()[0], command="steps")["steps"]
    assert (steps["source"], steps["count"]) == ("marked", calls)


LEFT_SCOPES = {"around", "around/thrower_deep", "around/behind", "far", "far/thrower_deep",
               "in_region", "in_region/in_region", "in_region/in_region/thrower_deep", "next"}
LEFT_SCOPES_TRACED = {
    "main", "main/in_op", "main/in_op/around", "main/in_op/around/caught", "main/in_op/around/caught/thrower_deep",
    "main/in_op/around/behind", "main/in_far_op", "main/in_far_op/far", "main/in_far_op/far/thrower_deep",
    "main/in_region", "main/in_region/in_region", "main/in_region/in_region/in_region",
    "main/in_region/in_region/in_region/caught", "main/in_region/in_region/in_region/caught/thrower_deep", "main/next"}


@pytest.mark.parametrize("program, wanted", [("left_scopes", LEFT_SCOPES), ("left_scopes-traced", LEFT_SCOPES_TRACED)])
def test_what_is_around_a_call_that_an_exception_left(tprof, program, wanted):
    """An annotated op, a part of a region, an instrumented function: its end is its own, and what comes next is not within."""
    run = tprof.run([WORKLOADS / program, TIMES], [LIBRARY], {"TPROF_OPS": "thrower_*,openmp,instrument"})
    assert (run.status, run.stdout) == (0, b"left_scopes: %d\n" % (3 * TIMES))
    paths = {None: ()}
    calls = {}
    for node in report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]:
        name = re.split(r"[(.]| \[clone", node["name"])[0]  # of a region: of the function that it is in
        paths[node["id"]] = (*paths[node["parent"]], name)
        calls["/".join(paths[node["id"]])] = node["calls"]
    assert calls == {path: 1 if path == "main" else TIMES for path in wanted}
    ops = report(run.traces()[0])["ops"]
    assert {op["name"]: op["unwound"] for op in ops if op["unwound"] or op["open"]} == {"thrower_deep": 3 * TIMES}
    assert {op["name"]: op["self_flop"] for op in ops if op["self_flop"]} == {"behind": 64 * TIMES, "next": 8 * TIMES}


@pytest.mark.parametrize("program, further", [("left_threads", set()), ("left_threads-traced", {"run", "leave"})])
def test_what_a_thread_left(tprof, program, further):
    """All that is open on it ends with it, of whatever kind."""
    run = tprof.run([WORKLOADS / program, TIMES], [LIBRARY], {"TPROF_OPS": "qsort,instrument"})
    assert (run.status, run.stdout) == (0, b"left\n")
    summary = report(run.traces()[0])
    ops = {op["name"]: (op["calls"], op["unwound"], op["open"]) for op in summary["ops"] if op["name"] != "main"}
    assert ops == {name: (TIMES, TIMES, 0) for name in {"outer", "qsort", "inner"} | further}
    assert summary["op_ends_unmatched"] == 0


def test_off(tprof):
    run = tprof.run([WORKLOADS / "op_calls", TIMES], [LIBRARY], {"TPROF_OPS": "off"})
    assert ops_of(run.traces()[0]) == {}


def test_unknown_value_is_named(tprof):
    run = tprof.run([WORKLOADS / "steady", 5], [LIBRARY], {"TPROF_OPS": ","})
    assert run.status == 0
    assert run.stderr.count(b"\n") == 1 and b"TPROF_OPS" in run.stderr and b"torch" in run.stderr


def test_blas_of_the_demo(tprof):
    """The trainer calls OpenBLAS three ways a step: its own calls, and those that OpenBLAS makes inside, are told apart."""
    digits = WORKLOADS.parents[1] / "tests/workloads/data/digits.csv"
    run = tprof.run([WORKLOADS / "digits", digits], [LIBRARY], {"TPROF_OPS": "blas"})
    ops = ops_of(run.traces()[0])
    assert ops["cblas_sgemm"][0] >= 3000


def hooks_of(trace):
    run = subprocess.run([ANALYZE, "info", "--json", trace], capture_output=True, check=True)
    return json.loads(run.stdout)["capture"]["hooks"]


def test_coverage_is_told(tprof):
    """What was hooked in which object, and what was not, and why."""
    run = tprof.run([WORKLOADS / "op_calls", TIMES], [LIBRARY], {"TPROF_OPS": "op_*,*setjmp*,-op_excluded"})
    hooks = hooks_of(run.traces()[0])
    own = [module for module in hooks["modules"] if module["module"].endswith("/op_calls")]
    assert own[0]["functions"] == own[0]["pointers"] >= 10
    assert hooks["slots"] == sum(module["pointers"] for module in hooks["modules"])
    assert hooks["functions"] == len(set(ops_of(run.traces()[0])) | {"op_vector"})  # which needs AVX2
    refused = [skipped for skipped in hooks["skipped"] if "return twice" in skipped["reason"]]
    assert any(skipped["module"].endswith("/op_calls") for skipped in refused)


# Of a run.
REPORTS = ("summary", "ops", "steps", "hotspots", "peak", "leaks", "threads", "timeline", "roofline", "lines")


def options_of(command, tmp_path):
    if command != "roofline":
        return []
    (tmp_path / "machine.json").write_text(json.dumps(MACHINE))
    return ["--machine", tmp_path / "machine.json"]


def text_of(command, trace, tmp_path):
    full = ["--full"] if command == "summary" else []
    return analyze(command, *full, *options_of(command, tmp_path), trace).stdout


def answer_of(command, trace, tmp_path):
    return report(trace, command=command, options=options_of(command, tmp_path))


def test_coverage_in_the_reports(tprof, tmp_path):
    """The JSON of each report on a run has what info lists."""
    trace, other = (tprof.run([WORKLOADS / "op_calls", TIMES], [LIBRARY], {"TPROF_OPS": "op_*,*setjmp*,-op_excluded"}).traces()[0]
                    for _ in range(2))
    hooks = hooks_of(trace)
    for command in REPORTS:
        assert answer_of(command, trace, tmp_path)["capture"]["hooks"] == hooks, command
    assert f"are timed, through {hooks['slots']} pointer" in analyze("info", trace).stdout
    for command in ("diff", "compare"):
        assert f"tprof-analyze info {trace} {other}   says what was hooked" in analyze(command, trace, other).stdout


def symbols(*command, of=r"\b(op_\w+)"):
    return set(re.findall(of, subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def test_functions_that_no_pointer_reaches(tprof):
    """As readelf knows them: what the library defines, and neither it nor the program has a relocation for."""
    program, library = WORKLOADS / "op_dlsym", WORKLOADS / "libsignatures.so"
    hooks = hooks_of(tprof.run([program, "next", 1], [LIBRARY], {"TPROF_OPS": "*"}).traces()[0])
    defined = symbols("nm", "-D", "--defined-only", library, of=r" T (\w+)")
    pointed = symbols("readelf", "-rW", program, of=r"\b(\w+)") | symbols("readelf", "-rW", library, of=r"\b(\w+)")
    unreached = {Path(s["module"]).name: s["functions"] for s in hooks["skipped"] if "through no pointer" in s["reason"]}
    assert unreached["libsignatures.so"] == len(defined - pointed)
    assert 0 < len(defined - pointed) < len(defined)


def test_functions_that_no_pointer_reaches_by_name(tprof):
    """They are hooked in their code, or refused by name."""
    program, library = WORKLOADS / "op_dlsym", WORKLOADS / "libsignatures.so"
    hooks = hooks_of(tprof.run([program, "next", 1], [LIBRARY], {"TPROF_OPS": "op_*"}).traces()[0])
    defined = symbols("nm", "-D", "--defined-only", library, of=r" T (op_\w+)")
    pointed = symbols("readelf", "-rW", program) | symbols("readelf", "-rW", library)
    in_code = [m["functions"] for m in hooks["modules"] if m["by"] == "code" and m["module"].endswith("/libsignatures.so")]
    refused = [s["function"] for s in hooks["skipped"] if s["module"].endswith("/libsignatures.so")]
    assert set(refused) < defined - pointed
    assert in_code == [len(defined - pointed) - len(refused)]
    assert 0 < len(defined - pointed) < len(defined)


def test_time_outside_of_every_op(tprof, tmp_path):
    """Of a program that spends some of its time in ops: each report says what the JSON does."""
    trace = tprof.run([WORKLOADS / "thread_work"], [LIBRARY]).traces()[0]
    capture = report(trace)["capture"]
    assert 0 < capture["cpu_outside_ops_ns"] < capture["cpu_ns"]
    said = f"{100 * capture['cpu_outside_ops_ns'] / capture['cpu_ns']:.1f}% of it outside of every op"
    assert [command for command in (*REPORTS, "info") if said not in text_of(command, trace, tmp_path)] == []
    for command in REPORTS:
        assert answer_of(command, trace, tmp_path)["capture"]["cpu_outside_ops_ns"] == capture["cpu_outside_ops_ns"], command


def test_time_of_the_hooks_is_no_functions(tprof):
    """Of calls that take a few nanoseconds: what the stub and the trampoline take is the collector's, and not outside of ops."""
    run = tprof.run([WORKLOADS / "hot", "plain", 20000000, 40], [LIBRARY],
                    {"TPROF_OPS": "blas", "TPROF_CPU": "997", "LD_BIND_NOW": "1"})  # the loader is through before the first sample
    assert run.status == 0
    rows = report(run.traces()[0], command="hotspots", options=["--top", "0"])["cpu"]
    assert sum(row["self_samples"] for row in rows) > 10
    modules = {Path(row["module"] or "").name for row in rows if row["self_samples"]}
    assert modules <= {"hot", "libtinyblas.so", "libc.so.6", "[vdso]"}
    assert report(run.traces()[0])["capture"]["cpu_own_ns"] > 0


def skipped_of(hooks, reason):
    return {(s["module"].rsplit("/", 1)[1], s["pointers"], s["functions"]) for s in hooks["skipped"] if reason in s["reason"]}


def test_a_function_that_nobody_defines(tprof):
    run = tprof.run([WORKLOADS / "unbound"], [LIBRARY], {"TPROF_OPS": "op_*"})
    assert (run.status, run.stdout, run.stderr) == (0, b"unbound: done\n", b"")
    hooks = hooks_of(run.traces()[0])
    assert (hooks["slots"], hooks["modules"]) == (0, [])
    assert skipped_of(hooks, "not found") == {("unbound", 1, 1)}


def test_more_functions_than_stubs(tprof):
    """17,000; those that have none are told, and the others are hooked."""
    run = tprof.run([WORKLOADS / "steady", 1], [LIBRARY, WORKLOADS / "libmany.so"], {"TPROF_OPS": "many_*"})
    assert (run.status, run.stderr) == (0, b"")
    hooks = hooks_of(run.traces()[0])
    assert skipped_of(hooks, "no room") == {("libmany.so", 17000 - 16384, 17000 - 16384)}
    assert [(m["pointers"], m["functions"]) for m in hooks["modules"]] == [(16384, 16384)]
    assert (hooks["slots"], hooks["functions"]) == (16384, 16384)


def test_pages_that_stay_read_only(tprof):
    """RELRO that can't be lifted: nothing is hooked, all of it is told, and the program runs."""
    command = [WORKLOADS / "read_only", WORKLOADS / "op_calls-now", 5]
    if tprof.run(command).status == 77:
        pytest.skip("seccomp is not to be had")
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "op_*", "TPROF_EXE": "op_calls-now"})
    assert run.status == 0 and b"5 jumps" in run.stdout
    hooks = hooks_of(run.traces()[0])
    assert hooks["slots"] == 0 and hooks["modules"] == [] and ops_of(run.traces()[0]) == {}
    there = symbols("readelf", "-rW", WORKLOADS / "op_calls-now")
    assert skipped_of(hooks, "writable") == {("op_calls-now", len(there), len(there))}


def test_a_forked_child_tells_its_hooks(tprof):
    """It has its parent's, and its trace may be all that is looked at."""
    run = tprof.run([WORKLOADS / "fork", "fork"], [LIBRARY], {"TPROF_OPS": "waitpid,getpid,fork,usleep"})
    assert run.status == 0
    told = [hooks_of(trace) for trace in run.traces()]
    assert len(told) == 2 and told[0]["slots"] > 0 and told[0]["modules"] and told[0]["skipped"]
    assert told[0] == told[1]


@pytest.mark.parametrize("how,calls", [("handle", 2 * TIMES), ("next", TIMES), ("pointer", TIMES)])
def test_functions_asked_for_by_name(tprof, how, calls):
    """dlsym of an object gives the stub, RTLD_NEXT the function: whoever interposes does not come round for ever."""
    command = [WORKLOADS / "op_dlsym", how, TIMES]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "op_*"})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    assert run.status == 0
    assert ops_of(run.traces()[0])["op_none"] == (calls, 0)


def test_nothing_is_disturbed(tprof):
    """x87 and 512-bit results, stack arguments near the most that is passed on, control words, errno; and threads that end
    within a hooked function, by pthread_exit and by cancellation, with their clean-up run."""
    command = [WORKLOADS / "op_torture", 100]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "torture_*"})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    assert run.status == 0 and b"20 threads, 20 cleaned up" in run.stdout
    trace = run.traces()[0]
    ops = ops_of(trace)
    for name in ("torture_x87", "torture_huge", "torture_giant", "torture_errno"):
        assert ops[name] == (100, 0), name
    assert ops["torture_large"] == (200, 0)
    answer = subprocess.run([ANALYZE, "ops", "--json", "--top", "0", trace], capture_output=True, check=True)
    left = {op["name"]: op["calls"] + op["open"] for op in json.loads(answer.stdout)["ops"]}
    assert (left["torture_exit"], left["torture_wait"]) == (10, 10)


TWICE = """
#include <setjmp.h>
#include <stdio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

pid_t __vfork(void);

static ucontext_t here, there;
static char stack[65536];
static volatile int turns;

static void beside(void)
{
	turns++;
	swapcontext(&there, &here);
	turns++;
}

static void child(pid_t pid)
{
	int status = 1;

	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	turns += !status;
}

int main(void)
{
	sigjmp_buf signals;
	jmp_buf plain;
	volatile int jumps = 0;

	for (int i = 0; i < 100; i++) {
		if (!_setjmp(plain))
			longjmp(plain, 1);
		jumps++;
		if (!sigsetjmp(signals, 1))
			siglongjmp(signals, 1);
		jumps++;
		volatile int again = 0;
		getcontext(&here);
		if (!again++)
			setcontext(&here);
		jumps++;
		getcontext(&there);
		there.uc_stack.ss_sp = stack;
		there.uc_stack.ss_size = sizeof(stack);
		there.uc_link = &here;
		makecontext(&there, beside, 0);
		swapcontext(&here, &there);
		swapcontext(&here, &there);
	}
	child(vfork());
	child(__vfork());
	printf("%d jumps, %d turns\\n", jumps, turns);
	return 0;
}
"""


def test_what_returns_twice(tprof):
    """Functions that return a second time are none to be hooked, whatever the glob."""
    (tprof.directory / "twice.c").write_text(TWICE)
    subprocess.run(["gcc", "-O1", "-o", tprof.directory / "twice", tprof.directory / "twice.c"], check=True)
    run = tprof.run([tprof.directory / "twice"], [LIBRARY], {"TPROF_OPS": "*"})
    assert (run.status, run.stdout, run.stderr) == (0, b"300 jumps, 202 turns\n", b"")
    ops = ops_of(run.traces()[0])
    assert "waitpid" in ops and not [name for name in ops if re.search("setjmp|fork|getcontext|swapcontext", name)]


def test_a_hundred_thousand_throws(tprof):
    command = [WORKLOADS / "op_throws", 100000]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "thrower_*", "TPROF_ALLOC": "off"}, timeout=300)
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    ops = ops_of(run.traces()[0])
    assert ops["thrower_top"] == (100000, 0)
    assert ops["thrower_deep"] == (100000, 100000)


@pytest.mark.parametrize("how, env", [("", {}), ("", {"TPROF_START": "off"}), ("fork", {"TPROF_CHILDREN": "0"}),
                                      ("thread", {"TPROF_START": "off"})])
def test_arguments_while_nothing_is_recorded(tprof, how, env):
    """All arguments arrive, wherever the caller's frame lies, in a program that is hooked and not recorded, too."""
    run = tprof.profile([WORKLOADS / "windows", *([how] if how else [])], env={"TPROF_OPS": "op_many", **env})
    assert run.stdout == b"wrong 0\n"
    capture = report(run.traces()[0])["capture"]
    assert capture["hooks"]["functions"] == 1
    assert len(run.traces()) == 1


def test_ops_of_a_late_start(tprof):
    """A program that never asks the loader for anything has its ops nevertheless, and what recording one costs is known."""
    run = tprof.profile([WORKLOADS / "windows", "start"], env={"TPROF_OPS": "op_many", "TPROF_START": "off"})
    assert ops_of(run.traces()[0]) == {"op_many": (3 * 4096 // 16, 0)}
    at = offset_of("op_inside_ticks")
    assert sum(struct.unpack("<2I", run.traces()[0].read_bytes()[at:at + 8])) > 0


def test_handlers_that_are_left(tprof):
    """On a stack of their own: their ops end unwound when the program goes on on its stack, and nothing is within them."""
    times = 50
    command = [WORKLOADS / "left_handlers", times]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OPS": "tiny_*,blas", "TPROF_CPU": "0"})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, b"") and bare.status == 0
    assert {op["name"]: (op["calls"], op["unwound"]) for op in report(run.traces()[0])["ops"]} == \
        {"tiny_call": (times, times), "cblas_sdot": (times, 0)}
    tree = report(run.traces()[0], command="ops", options=["--tree", "--top", "0"])["tree"]
    assert sorted((node["name"], node["parent"], node["calls"]) for node in tree) == \
        [("cblas_sdot", None, times), ("tiny_call", None, times)]
