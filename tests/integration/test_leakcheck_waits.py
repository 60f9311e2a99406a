# SPDX-License-Identifier: Apache-2.0
"""Blocks that only a register of a thread holds which waits: tests/workloads/waits.c says what is right."""
import re
import subprocess

import pytest
from conftest import LIBRARY, WORKLOADS, analyze, nothing_lost, report
from test_leakcheck import lost_of

# What the names of all the calls' kinds are in libc; some save the one register on the stack, some the other.
CALLS = ("pause", "sleep", "usleep", "nanosleep", "clock_nanosleep", "poll", "ppoll", "select", "pselect", "epoll_wait",
         "epoll_pwait", "read", "recv", "recvfrom", "sigsuspend", "sem_wait", "pthread_cond_wait",
         "pthread_barrier_wait", "pthread_join", "syscall")
ANY = ("definitely_lost", "indirectly_lost", "possibly_lost", "still_reachable")


def waits(tprof, *arguments, **env):
    run = tprof.profile([WORKLOADS / "waits", *arguments], env={"TPROF_LEAKCHECK": "exit", "TPROF_CPU": "0", **env})
    trace = run.traces()[0]
    nothing_lost(report(trace))
    assert lost_of(trace, "definitely_lost").get("forgotten_often") == 100
    found = report(trace, command="leaks")["reachability"]
    kinds = [kind for kind in ANY if "held_by_waiting" in lost_of(trace, kind)]
    return kinds, (found["threads_waiting"], found["threads_running"], found["threads_searched"],
                   found["registers_unseen"]), trace


@pytest.mark.parametrize("call", CALLS)
def test_a_register_of_a_thread_that_waits(tprof, call):
    kinds, threads, trace = waits(tprof, call, "r12")
    assert (kinds, threads) == (["still_reachable"], (1, 0, 1, 0))
    assert "are not searched" not in analyze("leaks", trace).stdout
    kinds, threads, _ = waits(tprof, call, "r12", "lost")
    assert (kinds, threads) == (["definitely_lost"], (1, 0, 1, 0))


@pytest.mark.parametrize("register", ["rbx", "r12", "r13", "r15"])
@pytest.mark.parametrize("call", ["pause", "pthread_cond_wait", "epoll_wait"])
def test_each_register(tprof, call, register):
    assert waits(tprof, call, register)[0] == ["still_reachable"]
    assert waits(tprof, call, register, "lost")[0] == ["definitely_lost"]


def test_without_ops(tprof):
    """TPROF_OPS=off hooks no op; threads that wait are known all the same, and show as no hooked pointer."""
    assert waits(tprof, "pause", "r12", TPROF_OPS="off")[:2] == (["still_reachable"], (1, 0, 1, 0))
    _, _, trace = waits(tprof, "pause", "r12", "lost", TPROF_OPS="off")
    capture = report(trace)["capture"]
    assert capture["hooks"]["slots"] == 0 and capture["op_events"] == 0


def test_a_call_that_has_returned(tprof):
    """What the registers held then is no root; of the call that the thread waits in nothing is known."""
    kinds, threads, trace = waits(tprof, "nanosleep", "r12", "stale")
    assert (kinds, threads) == (["possibly_lost"], (1, 0, 0, 6))
    assert re.search(r"registers of 1 other thread are not searched \(1 waited, 0 ran\)", analyze("leaks", trace).stdout)


# What hides a thread's registers: system calls by instructions of their own, and functions that are no hooked ones.
HIDDEN = ("GOMP_barrier", "pthread_mutex_lock", "made")


@pytest.mark.parametrize("register", ["rbx", "r12"])
@pytest.mark.parametrize("call", HIDDEN)
def test_registers_that_nobody_knows(tprof, call, register):
    """A block that they alone may hold is never called definitely lost."""
    hidden = {"GOMP_STACKSIZE": "1M", "OMP_WAIT_POLICY": "passive"}
    kinds, threads, _ = waits(tprof, call, register, **hidden)
    assert kinds in (["possibly_lost"], ["still_reachable"])  # the callee may have saved it on the stack
    assert threads[1] == 0 and threads[3] >= 6
    kinds, threads, trace = waits(tprof, call, register, "lost", **hidden)
    assert kinds == ["possibly_lost"] and threads[3] >= 6
    assert re.search(r"registers of \d other threads? (is|are) not searched", analyze("leaks", trace).stdout)


@pytest.mark.parametrize("register", ["rbx", "r12", "r15"])
@pytest.mark.parametrize("call", HIDDEN)
def test_a_call_from_where_another_has_returned(tprof, call, register):
    """The stack leads to the same return address at the same place; what was written down is the other call's."""
    kinds, threads, _ = waits(tprof, call, register, "again", OMP_WAIT_POLICY="passive")
    assert kinds in (["possibly_lost"], ["still_reachable"])
    assert threads[1] == 0 and threads[3] >= 6


def test_cancellation(tprof):
    """A thread that is cancelled in pause() unwinds as it does without tprof."""
    plain = subprocess.run([WORKLOADS / "waits", "cancel"], stdout=subprocess.PIPE, check=True).stdout
    run = tprof.run([WORKLOADS / "waits", "cancel"], [LIBRARY])
    assert plain == b"1 1\n" and (run.status, run.stdout, run.stderr) == (0, plain, b"")


@pytest.mark.parametrize("ops", ["off", "usleep"])
@pytest.mark.parametrize("result", ["(int)n + 1", "getppid() > 0 ? (int)n + 1 : 0"])
def test_an_interposer_is_not_passed_by(tprof, result, ops):
    """A function of the program's own in place of libc's, without a version, is called as it would be: also of a library that
    has versions of what it calls itself."""
    (tprof.directory / "lib.c").write_text(f"#include <unistd.h>\nint usleep(unsigned int n) {{ return {result}; }}\n")
    (tprof.directory / "main.c").write_text("#include <stdio.h>\n#include <unistd.h>\n"
                                            "int main(void) { printf(\"%d\\n\", usleep(76)); return 0; }\n")
    library, program = tprof.directory / "lib.so", tprof.directory / "main"
    for command in (["gcc", "-shared", "-fPIC", "-o", library, tprof.directory / "lib.c"],
                    ["gcc", "-Wl,-z,lazy", "-o", program, tprof.directory / "main.c"]):
        subprocess.run(command, check=True)
    run = tprof.run([program], [LIBRARY, library], {"TPROF_OPS": ops})
    assert (run.status, run.stdout, run.stderr) == (0, b"77\n", b"")
