# SPDX-License-Identifier: Apache-2.0
"""Programs that do what once went wrong: each behaves as without tprof, and its trace is whole and exact."""
import os
import shutil
import subprocess

import pytest
from conftest import (ALLOCATORS, LAUNCHER, LIBRARY, ROOT, WORKLOADS, add, allocator_library, analyze, functions, heap_of,
                      nothing_lost, report, sites)
from second_reader import Trace
from test_truth import NOTHING

SAMPLED = {"TPROF_CPU": "2000"}
QUIET = {"TPROF_CPU": "0"}


def exact(run, summary):
    assert heap_of(summary) == add(run.truth(), NOTHING)
    assert summary["heap"]["unmatched_frees"] == 0
    nothing_lost(summary)


# ---- stacks that a program makes itself ----

@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_stack_that_lost_its_upper_part(tprof, env):
    """The bounds of a coroutine's stack are no more than a memory of it."""
    run, summary = tprof.summary([WORKLOADS / "coroutines", "shrunk"], env=env)
    exact(run, summary)


@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_stacks_made_and_unmapped(tprof, env):
    """Thousands of them, at addresses used again: each allocation has its frames, the last as the first."""
    run, summary = tprof.summary([WORKLOADS / "coroutines", "pool"], env=env)
    exact(run, summary)
    paths = {4000: ["allocate", *3 * ["descend"], "pool"], 3002: ["allocate", *6 * ["descend"], "generator"]}
    found = sites(run.traces()[0], "leaks")
    assert [(s["largest_bytes"], functions(s["stack"])[:len(paths[s["largest_bytes"]])]) for s in found] == list(
        paths.items())
    assert found[0]["blocks"] == 20000
    assert found[0]["blocks"] + found[1]["blocks"] == run.truth()["end_blocks"]


def test_samples_on_a_small_stack(tprof):
    """Two pages with a guard below: the sampler's signal must do with what the program left."""
    run, summary = tprof.summary([WORKLOADS / "coroutines", "small"], env=SAMPLED)
    exact(run, summary)
    (row,) = [row for row in summary["cpu"] if row["function"] == "burn_with_little_left"]
    assert row["total_samples"] > 0  # on a busy machine they come late, and few


@pytest.mark.parametrize("env", [{}, {"TPROF_START": "off"}, {"TPROF_ALLOC": "sample:1000"}])
def test_what_hooks_use_of_a_stack(tprof, env):
    """README's number: who makes stacks of its own can count on it. The sampler's signal frame would come on top."""
    run = tprof.run([WORKLOADS / "stack_needs", 3000], [LIBRARY], {"TPROF_OPS": "bind_call", **QUIET, **env})
    assert run.status == 0
    needs = {line.split()[0]: int(line.split()[1]) for line in run.stdout.decode().splitlines()}
    assert list(needs) == ["malloc", "mmap", "op"]
    assert max(needs.values()) <= 6144, needs


# ---- handlers that came into a recording ----

@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_fork_in_a_handler(tprof, env):
    """The child goes back into the interrupted recording, which is its parent's: the parent's trace has nothing of it."""
    run = tprof.profile([WORKLOADS / "handlers", "fork"], env=env)
    assert run.stdout == b"forks 60 bad 0\n"
    exact(run, report(run.directory / "trace.bin"))
    children = run.traces()[1:]
    assert len(children) == 60
    for child in report(*children)["processes"]:
        nothing_lost(child)
        assert child["heap"]["unmatched_frees"] == 0
        assert 190 <= child["heap"]["allocations"] <= 202  # one may have been in the making
        assert (child["process"]["end"], child["process"]["status"]) == ("exit", 0)


def test_fork_at_any_instruction_of_a_hook(tprof):
    """What the child finishes is not in its parent's trace, where the parent finishes it too."""
    run = tprof.run([WORKLOADS / "handlers", "step"], [LIBRARY], {**QUIET, "TPROF_CHILDREN": "0"})
    assert run.stdout == b"maps 8 bad 0\n"
    assert int(run.stderr.split()[0]) > 500  # it is hooks that are stepped through
    summary = report(run.traces()[0])
    exact(run, summary)
    assert (summary["heap"]["maps"], summary["heap"]["unmaps"]) == (8, 8)


@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_longjmp_out_of_a_hook(tprof, env):
    """What comes after is recorded, each call; what was left half-way is counted as lost."""
    run, summary = tprof.summary([WORKLOADS / "handlers", "longjmp"], env=env)
    heap = summary["heap"]
    assert heap_of(summary) == add(run.truth(), NOTHING)
    assert heap["unmatched_frees"] == 0
    assert summary["capture"]["damage"] == []
    assert summary["capture"]["lost_events"] == summary["capture"]["lost"].get("reentrant", 0) <= 300
    assert summary["capture"]["stopped"] is False
    (site,) = [s for s in sites(run.traces()[0], "hotspots") if s["largest_bytes"] == 777]
    assert functions(site["stack"])[:7] == 6 * ["deep"] + ["jump_out_of_calls"]


# ---- what programs do to themselves ----

def test_title_over_arguments_and_environment(tprof):
    """What was read from there at the start is kept: a fork finds its name, and reports have the true arguments."""
    run = tprof.profile([WORKLOADS / "odd", "title"], env={"TPROF_OUTPUT": "trace.%e.bin", "TPROF_EXE": "od?"})
    truths = run.truths()
    assert len(truths) == 2
    found = {p["process"]["pid"]: p for p in report(*run.traces())["processes"]}
    for pid, truth in truths.items():
        assert heap_of(found[pid]) == add(truth, NOTHING)
        nothing_lost(found[pid])
        assert found[pid]["process"]["exe"] == str(WORKLOADS / "odd")
    assert sorted(os.listdir(run.directory)) == sorted(
        [*(p.name for p in run.directory.glob("truth*")), "trace.odd.bin",
         f"trace.odd.{max(set(truths) - {report(run.directory / 'trace.odd.bin')['process']['pid']})}.bin"])


def test_few_descriptors_beside_threads(tprof):
    """The trace grows in four threads while the program's own files come and go: never is one of them touched."""
    run, summary = tprof.summary([WORKLOADS / "odd", "descriptors"])
    assert run.stdout == b"odd: 0 files changed\n"
    nothing_lost(summary)
    truth, heap = run.truth(), summary["heap"]
    extras = heap["allocations"] - truth["allocations"]
    assert extras == 4  # libc's blocks for the threads' TLS
    assert heap["frees"] - truth["frees"] == heap["allocations"] - truth["allocations"] - heap["end_blocks"]
    assert summary["capture"]["trace_bytes"] > 40 * 65536


@pytest.mark.parametrize("how", ["numbers", "few_numbers"])
def test_numbers_of_descriptors_beside_threads(tprof, how):
    """A program counts on the lowest free number, and puts a file of its own there, while memory is looked at in other threads:
    it is never given another one, nor is its file read or closed."""
    run, summary = tprof.summary([WORKLOADS / "odd", how])
    assert run.stdout == b"odd: 0 descriptors were wrong\n"
    nothing_lost(summary)
    assert summary["heap"]["rss_peak_bytes"] > 0
    assert len(report(run.traces()[0], command="timeline")["timeline"]["points"]) > 2


def test_numbers_of_descriptors_beside_a_leak_check(tprof):
    """The same, while the check asks the kernel again and again what a thread does that never waits."""
    run = tprof.profile([WORKLOADS / "odd", "last_numbers"], env={"TPROF_LEAKCHECK": "exit", "TPROF_CPU": "0"})
    assert (run.stdout, run.stderr) == (b"", b"")
    found = report(run.traces()[0], command="leaks")["reachability"]
    assert (found["threads_running"], found["threads_waiting"]) == (1, 0)


@pytest.mark.parametrize("how", ["sandbox", "sandbox_syscall", "sandbox_syscall_prctl"])
@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_sandbox(tprof, how, env):
    """A filter that kills for any call but a few: recording ends before it, what follows is counted and said."""
    run, summary = tprof.summary([WORKLOADS / "odd", how], env=env)
    assert (run.status, run.stdout) == (7, b"odd: done inside\n")
    truth, heap, capture = run.truth(), summary["heap"], summary["capture"]
    assert (heap["allocations"], heap["frees"], heap["end_blocks"]) == (500, 500, 0)
    assert capture["stopped"] is True
    assert capture["lost"]["sandbox"] == capture["lost_events"]
    assert heap["allocations"] + heap["frees"] + capture["lost_events"] == truth["allocations"] + truth["frees"]
    assert "sandbox" in analyze(run.traces()[0]).stdout
    assert summary["process"]["end"] == "exit" and summary["process"]["status"] == 7


HIDDEN_VERSIONS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
static char arena[1 << 20];
static size_t taken;
static void *take(size_t size)
{
	size_t at = __atomic_fetch_add(&taken, (size + 31) / 16 * 16, __ATOMIC_RELAXED);
	*(size_t *)(arena + at) = size;
	return arena + at + 16;
}
void *own_malloc(size_t size) { return take(size); }
void *own_calloc(size_t count, size_t size) { return take(count * size); }
void own_free(void *block) { (void)block; }
void *own_realloc(void *block, size_t size)
{
	void *new = take(size);
	return block ? memcpy(new, block, size < ((size_t *)block)[-2] ? size : ((size_t *)block)[-2]) : new;
}
size_t own_size(void *block) { return block ? ((size_t *)block)[-2] : 0; }
__asm__(".symver own_malloc, malloc@GLIBC_2.2.5");
__asm__(".symver own_calloc, calloc@GLIBC_2.2.5");
__asm__(".symver own_free, free@GLIBC_2.2.5");
__asm__(".symver own_realloc, realloc@GLIBC_2.2.5");
__asm__(".symver own_size, malloc_usable_size@GLIBC_2.2.5");
"""


def test_allocator_that_has_no_default_version(tprof, tmp_path):
    """The loader binds references to the version that they ask for: libc's heap checker has no other."""
    (tmp_path / "hidden.c").write_text(HIDDEN_VERSIONS)
    (tmp_path / "hidden.map").write_text("GLIBC_2.2.5 { global: malloc; calloc; free; realloc; malloc_usable_size; local: *; };")
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-shared", "-fPIC", tmp_path / "hidden.c",
                    f"-Wl,--version-script={tmp_path}/hidden.map", "-o", tmp_path / "libhidden.so"], check=True)
    (tmp_path / "user.c").write_text("""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	Dl_info info;
	void *block = malloc(1001);
	const char *where = dladdr(block, &info) && info.dli_fname ? info.dli_fname : "elsewhere";
	int own = strstr(where, "libhidden.so") != NULL;
	block = realloc(block, 2002);
	puts(own && dladdr(block, &info) ? "own" : "another's");
	free(block);
	return 0;
}""")
    subprocess.run(["gcc", "-O1", "-fno-builtin", tmp_path / "user.c", "-o", tmp_path / "user"], check=True)
    bare = tprof.run([tmp_path / "user"], [tmp_path / "libhidden.so"])
    run = tprof.run([tmp_path / "user"], [LIBRARY, tmp_path / "libhidden.so"])
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, b"own\n")
    assert "libhidden.so" in analyze("info", run.traces()[0]).stdout
    assert report(run.traces()[0])["heap"]["allocations"] >= 2


def test_heap_checker_of_libc(tprof, tmp_path):
    (tmp_path / "over.c").write_text("""
#include <stdlib.h>
#include <string.h>
int main(void) { char *block = malloc(20); memset(block, 120, 25); free(block); return 0; }""")
    subprocess.run(["gcc", "-O0", "-w", "-fno-builtin", tmp_path / "over.c", "-o", tmp_path / "over"], check=True)
    settings = {"GLIBC_TUNABLES": "glibc.malloc.check=3"}
    bare = tprof.run([tmp_path / "over"], ["libc_malloc_debug.so.0"], settings)
    run = tprof.run([tmp_path / "over"], [LIBRARY, "libc_malloc_debug.so.0"], settings)
    assert (run.status, run.stderr) == (bare.status, bare.stderr) == (-6, b"free(): invalid pointer")
    assert "libc_malloc_debug.so.0" in analyze("info", run.traces()[0]).stdout


def test_allocator_without_usable_size(tprof):
    """libc's malloc_usable_size is not asked about another allocator's blocks."""
    fence = WORKLOADS / "libfence.so"
    command = ["/bin/ls", "-la", ROOT / "tests/workloads"]
    bare = tprof.run(command, [fence])
    run = tprof.run(command, [LIBRARY, fence], QUIET)
    assert bare.status == 0
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr)
    summary = report(run.traces()[0])
    nothing_lost(summary)
    assert summary["heap"]["allocations"] > 20
    assert summary["heap"]["unmatched_frees"] == 0
    run = tprof.run([WORKLOADS / "steady", 500], [LIBRARY, fence], QUIET)
    assert heap_of(report(run.traces()[0])) == add(run.truth(), NOTHING)


WHOLE_FAMILY = """
#include <cstdio>
#include <cstdlib>
#include <string>
extern "C" void free_sized(void *, size_t) __attribute__((weak));
static std::string early(500, 'e'); /* by operator new, in a constructor */
int main()
{
	for (int i = 0; i < 100; i++) {
		free(reallocarray(reallocarray(nullptr, 10, 10), 10, 1000));
		free(reallocarray(malloc(10), 10, 100));
		delete[] new std::string[3]{ early, early + 'x', early };
		if (void *block = malloc(20); free_sized)
			free_sized(block, 20);
		else
			free(block);
	}
	puts("done");
}
"""


def of_main(trace):
    """What is called from main: allocations, bytes and stack of each site; and what is left of it."""
    return sorted((command, site["allocations"] if command == "hotspots" else site["blocks"], site["bytes"], functions(site["stack"]))
                  for command in ("hotspots", "leaks") for site in sites(trace, command) if "main" in functions(site["stack"]))


@pytest.mark.parametrize("first", ["fence", "program", *(name for name, (library, _) in ALLOCATORS.items() if library)])
def test_allocator_before_the_hooks(tprof, tmp_path, first):
    """What it lacks of the family reaches the hooks, and its blocks are its own: nothing is mixed up, nothing half recorded."""
    (tmp_path / "family.cc").write_text(WHOLE_FAMILY)
    subprocess.run(["gcc", "-c", "-O1", "-fno-builtin", ROOT / "tests/workloads/fence.c", "-o", tmp_path / "fence.o"],
                   check=True)
    subprocess.run(["g++", "-std=c++17", "-O1", "-fno-builtin", tmp_path / "family.cc",
                    *([tmp_path / "fence.o"] if first == "program" else []), "-o", tmp_path / "family"], check=True)
    before = {"fence": [WORKLOADS / "libfence.so"], "program": []}
    before = before[first] if first in before else [allocator_library(first)]
    bare = tprof.run([tmp_path / "family"], before)
    run = tprof.run([tmp_path / "family"], [*before, LIBRARY], QUIET)
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) == (0, b"done\n", b"")
    summary = report(run.traces()[0])
    # The fence's free is too short to be hooked in its code; those of real allocators are.
    real = first not in ("fence", "program")
    assert summary["capture"]["foreign_malloc"] is not real
    if not real:
        assert heap_of(summary) == NOTHING
        return
    libc = tprof.run([tmp_path / "family"], [LIBRARY], QUIET).traces()[0]
    assert of_main(run.traces()[0]) == of_main(libc) and sum(site[1] for site in of_main(libc)) == 1000 + 1 # and stdio
    assert summary["heap"]["unmatched_frees"] == 0


def test_libraries_that_come_and_go_beside_threads(tprof):
    """Three threads load and unload libraries, whose blocks two more walk past: each is blamed for its own, by name."""
    for i in range(12):
        shutil.copy(WORKLOADS / f"libplugin_{'ab'[i % 2]}.so", tprof.directory / f"plugin{i}.so")
    run, summary = tprof.summary([WORKLOADS / "dl", "race", tprof.directory])
    nothing_lost(summary)
    truth = run.truth()
    by_function = {"plugin_a_allocate": 0, "plugin_b_allocate": 0}
    for site in sites(run.traces()[0], "leaks"):
        name = functions(site["stack"])[0]
        if name in by_function:
            by_function[name] += site["bytes"]
    assert by_function == {"plugin_a_allocate": truth["a_bytes"], "plugin_b_allocate": truth["b_bytes"]}


# ---- the loader, used by several threads ----

@pytest.fixture
def lazy_libraries(tmp_path):
    folder = tmp_path / "libraries"
    folder.mkdir()
    shutil.copy(WORKLOADS / "libtinyblas.so", folder)
    for i in range(8):
        shutil.copy(WORKLOADS / "liblazyblas.so", folder / f"lazy{i}.so")
    return folder


def test_libraries_with_lazy_calls_loaded_by_threads(tprof, lazy_libraries):
    """What their calls lead to is asked of the loader, while other threads load: nobody waits for the other for ever."""
    run, summary = tprof.summary([WORKLOADS / "loaders", "race", lazy_libraries, 500], env=QUIET)
    assert run.stdout == b"right 2000\n"
    assert summary["capture"]["damage"] == []
    assert [op["name"] for op in summary["ops"]] == ["cblas_sdot"]


def test_forks_beside_a_thread_that_asks_the_loader(tprof, lazy_libraries):
    """A lock of the loader's that is held at a fork is held in the child for ever: each child loads a library."""
    run = tprof.profile([WORKLOADS / "loaders", "fork", lazy_libraries, 150], env=QUIET)
    assert run.stdout == b"children 150\n"
    assert len(run.traces()) == 151


@pytest.mark.parametrize("env", [QUIET, SAMPLED])
def test_program_with_a_sanitizer(tprof, env):
    """It asks for libc's functions before anything of ours has begun. Its malloc is its own, and the report says so."""
    run, summary = tprof.summary([WORKLOADS / "steady-asan", 500], env={"ASAN_OPTIONS": "detect_leaks=0", **env})
    assert run.status == 0
    assert summary["capture"]["damage"] == []


@pytest.mark.parametrize("sanitizer", ["address", "thread", "leak"])
def test_launcher_puts_a_sanitizer_first(tprof, tmp_path, sanitizer):
    """gcc's end the program as it begins where another library stands before theirs; the report says whose malloc it is."""
    program = tmp_path / "program"
    subprocess.run(["gcc", "-O1", "-fno-builtin", f"-fsanitize={sanitizer}", "-I", ROOT / "include", "-x", "c", "-",
                    "-o", program], check=True, input=b"""
#include <stdio.h>
#include <stdlib.h>
#include <tprof.h>
int main(void)
{
	for (int i = 0; i < 10; i++) {
		tprof_op_begin("loop", "phase");
		free(malloc(100));
		tprof_op_end();
	}
	return puts("fine") < 0;
}
""")
    bare = tprof.run([program])
    if bare.status != 0:
        pytest.skip(f"{sanitizer} does not work here: {bare.stderr.decode()}")
    run = tprof.run([LAUNCHER, "run", "--", program])
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, b"fine\n"), run.stderr
    assert b"is built with a sanitizer: lib" in run.stderr
    summary = report(run.traces()[0])
    assert [(op["name"], op["calls"]) for op in summary["ops"]] == [("loop", 10)]
    assert summary["capture"]["foreign_malloc"] and summary["heap"]["allocations"] == 0
    assert "san.so" in (said := analyze(run.traces()[0]).stdout) and "stands before libtprof.so" in said


@pytest.mark.parametrize("how", ["events", "folded", "within"])
def test_longjmp_at_any_instruction_of_an_op(tprof, how):
    """Of what is left half-way nothing stays open: what is around it and what comes after begins and ends as it did."""
    env = {"TPROF_OPS": "cblas_sdot,cblas_saxpy,tiny_call", "TPROF_CPU": "0"}
    run = tprof.run([WORKLOADS / "op_jumps", how], [LIBRARY], env)
    assert (run.status, run.stdout) == (0, b"op_jumps: done\n")
    tries, (trace,) = run.truth()["tries"], run.traces()
    found = report(trace, command="ops", options=["--top", "0"])
    ops = {op["name"]: op for op in found["ops"]}
    assert tries > 300  # it is the hook that is stepped through
    assert {op["open"] for op in ops.values()} == {0}
    assert found["capture"]["lost_events"] == found["capture"]["lost"]["reentrant"] < tries
    around, left, after = ops["tiny_call"], ops["cblas_sdot"], ops["cblas_saxpy"]
    assert (after["calls"], after["unwound"], after["folded"]) == (tries + 1, 0, 0)
    warm = 0 if how == "events" else 1500 * tries
    if how != "within":
        assert (around["calls"], around["unwound"]) == (tries + 1, 0)
        assert warm < left["calls"] <= warm + tries + 1
    else:
        assert warm + tries < around["calls"] <= warm + 2 * tries + 1
        assert 0 < left["calls"] <= tries
    assert 0 < (around if how == "within" else left)["unwound"] < tries

    depth, depths, number = 0, [], {}
    for event in Trace(trace.read_bytes()).events:
        if event[1] not in ("op", "op_end"):
            continue
        if event[1] == "op":  # of the three, which were called first in this order
            depths.append((number.setdefault(event[2], len(number)), depth))
        depth += 1 if event[1] == "op" else -1
        assert depth >= 0
    assert depth == 0
    assert [at for op, at in depths if op == 2] == [0] + tries * [1], "each saxpy is in its own tiny_call, and no other"


# ---- a task that shares a thread's memory and TLS ----

@pytest.mark.parametrize("who", ["main", "thread"])
def test_task_that_shares_a_thread(tprof, who):
    """A raw clone's: each of its calls is lost and counted, its maker's are recorded as if it were not there."""
    run, summary = tprof.summary([WORKLOADS / "shared_task", who], env=QUIET)
    extras = tprof.extras([WORKLOADS / "shared_task", "idle"], env=QUIET) if who == "thread" else NOTHING
    assert run.status == 0 and run.stdout == b"shared_task: done\n"
    assert heap_of(summary) == add(run.truth(), extras)
    lost = {cause: n for cause, n in summary["capture"]["lost"].items() if n}
    assert lost == {"foreign_task": 50 * 5} and summary["capture"]["lost_events"] == 50 * 5
    assert summary["heap"]["unmatched_frees"] == 50  # the blocks that the task passed on
    assert summary["capture"]["damage"] == [] and summary["capture"]["stopped"] is False
    assert summary["process"]["end"] == "exit" and summary["process"]["status"] == 0
    assert summary["process"]["pid"] == run.truth()["pid"]


@pytest.mark.parametrize("env", [SAMPLED, {"TPROF_START": "off"}, {"TPROF_ALLOC": "sample:1000"}, {"TPROF_ALLOC": "off"}])
def test_nobody_notices_a_task_that_shares_a_thread(tprof, env):
    for who in ("main", "thread"):
        tprof.summary([WORKLOADS / "shared_task", who], env=env)
