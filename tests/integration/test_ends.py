# SPDX-License-Identifier: Apache-2.0
"""However a process ends, its trace has everything up to there, and says how it ended."""
import random
import signal
import time

import pytest
from conftest import LAUNCHER, WORKLOADS, analyze, add, heap_of, nothing_lost, own_calls, report, sites
from test_truth import NOTHING

# how, (end, status) in the report
ENDS = {
    "exit": ("exit", 7),
    "_exit": ("exit", 3),
    "quick_exit": ("exit", 6),
    "atexit": ("exit", 0),
    "at_quick_exit": ("exit", 0),
    "abort": ("signal", signal.SIGABRT),
    "segfault": ("signal", signal.SIGSEGV),
    "term": ("signal", signal.SIGTERM),
    "kill": ("signal", signal.SIGKILL),
    "exit_group": ("exit", 4),
}
NO_LAST_WORD = ("segfault", "term", "kill")  # nothing of the program's runs when these come


@pytest.mark.parametrize("how", ENDS)
def test_end(tprof, how):
    run, summary = tprof.summary([WORKLOADS / "ends", how])
    assert heap_of(summary) == add(run.truth(), NOTHING)
    nothing_lost(summary)


@pytest.mark.parametrize("how", ENDS)
def test_end_is_named(tprof, how):
    _, summary = tprof.summary([WORKLOADS / "ends", how])
    expected = ("killed", None) if how in NO_LAST_WORD else ENDS[how]
    assert (summary["process"]["end"], summary["process"]["status"]) == expected


@pytest.mark.parametrize("how", ENDS)
def test_launcher_names_every_end(tprof, how):
    """What the program had no time for, tprof run writes down: it waited for it."""
    end, status = ENDS[how]
    run = tprof.run([LAUNCHER, "run", "--", WORKLOADS / "ends", how])
    assert run.status == (status if end == "exit" else 128 + status)
    summary = report(run.traces()[0])
    assert (summary["process"]["end"], summary["process"]["status"]) == (end, status)
    assert heap_of(summary) == add(run.truth(), NOTHING)
    nothing_lost(summary)
    if end == "signal":
        assert f"ended by {signal.Signals(status).name}" in analyze(run.traces()[0]).stdout


def test_launcher_names_only_its_own_command(tprof):
    """A further process that was killed is not the one that the launcher waited for."""
    run = tprof.run([LAUNCHER, "run", "--", "/bin/sh", "-c", f"{WORKLOADS}/ends kill; exit 5"])
    assert run.status == 5
    ends = {p["process"]["exe"].rsplit("/", 1)[1]: (p["process"]["end"], p["process"]["status"])
            for p in report(*run.traces())["processes"]}
    assert ends.pop("ends") == ("killed", None)
    assert set(ends.values()) == {("exit", 5)}


@pytest.mark.parametrize("how", ["tls", "main_thread", "segfault_in_thread"])
def test_end_with_threads(tprof, how):
    run, summary = tprof.summary([WORKLOADS / "ends", how])
    truth, trace = run.truth(), run.traces()[0]
    assert own_calls(trace, "ends") == (truth["allocations"], truth["allocated_bytes"])
    unfreed = [site for site in sites(trace, "leaks") if site["stack"][0]["module"] == "ends"]
    assert sum(site["blocks"] for site in unfreed) == truth["end_blocks"]
    assert sum(site["bytes"] for site in unfreed) == truth["end_bytes"]
    assert summary["heap"]["unmatched_frees"] == 0
    nothing_lost(summary)


def test_before_main_and_behind_exit(tprof):
    """.preinit_array, constructors, static destructors."""
    run, summary = tprof.summary([WORKLOADS / "early"])
    heap, truth = heap_of(summary), run.truth()
    # libstdc++ has one allocation of its own: the pool for exceptions when memory is out.
    assert heap["allocations"] == truth["allocations"] + 1
    assert heap["frees"] == truth["frees"]
    assert heap["end_blocks"] == truth["end_blocks"] + 1
    pool = heap["allocated_bytes"] - truth["allocated_bytes"]
    assert heap["end_bytes"] == truth["end_bytes"] + pool
    assert heap["peak_bytes"] == truth["peak_bytes"] + pool
    nothing_lost(summary)


def wait_for(path):
    """A file that is there is written whole: the programs write it in one call."""
    for _ in range(6000):
        if path.exists() and path.stat().st_size:
            return
        time.sleep(0.01)
    pytest.fail(f"{path} was never written")


def test_while_it_runs(tprof):
    """A trace can be read at any time: it has all up to then."""
    process, run = tprof.start([WORKLOADS / "ends", "pause"])
    try:
        wait_for(run.directory / "truth")
        summary = report(run.traces()[0])
        assert summary["process"]["end"] == "running"
        assert heap_of(summary) == add(run.truth(), NOTHING)
        nothing_lost(summary)
    finally:
        process.kill()
        process.wait()
    summary = report(run.traces()[0])
    assert summary["process"]["end"] == "killed"
    assert heap_of(summary) == add(run.truth(), NOTHING)


@pytest.mark.parametrize("seed", range(8))
def test_killed_at_any_moment(tprof, seed):
    """Whatever the moment, what was written by then is a whole trace: each free has its allocation, nothing is damaged."""
    process, run = tprof.start([WORKLOADS / "truth", 4, 400000000, 1])  # minutes: it is not over by then
    try:
        wait_for(run.directory / "trace.bin")
        time.sleep(random.Random(seed).random() / 4)
    finally:
        process.kill()
        process.wait()
    summary = report(run.traces()[0])
    assert summary["process"]["end"] == "killed"
    assert summary["heap"]["unmatched_frees"] == 0
    assert summary["heap"]["allocations"] - summary["heap"]["frees"] == summary["heap"]["end_blocks"]
    nothing_lost(summary)


FIRST_CALLS = ("malloc calloc realloc reallocarray memalign aligned_alloc posix_memalign valloc pvalloc free malloc_usable_size "
               "mmap munmap mremap mprotect sigaction signal sigaltstack sigprocmask pthread_sigmask pthread_create "
               "pthread_setname_np dlopen dlsym dlclose prctl syscall _exit _Exit quick_exit abort").split()


@pytest.mark.parametrize("settings", [{}, {"TPROF_EXE": "another"}], ids=["recorded", "not"])
def test_very_first_call(tprof, settings):
    """Whatever hooked function a process calls before all others: nothing is known yet of what stands behind the hooks."""
    assert tprof.run([WORKLOADS / "first_call", "list"]).stdout.decode().split() == FIRST_CALLS
    for name in FIRST_CALLS:
        run = tprof.profile([WORKLOADS / "first_call", name], env=settings)
        assert b"wrong" not in run.stdout, name
        if name == "mmap" and not settings:
            assert report(run.traces()[0])["heap"]["maps"] == 1
        if settings:
            assert not run.traces()
        elif (run.directory / "truth").exists():
            truth = run.truth()
            assert own_calls(run.traces()[0], "first_call") == (truth["allocations"], truth["allocated_bytes"]), name
