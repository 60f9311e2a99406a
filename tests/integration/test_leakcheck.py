# SPDX-License-Identifier: Apache-2.0
"""Which blocks nothing points to: on a program whose answer is known, beside Valgrind and LeakSanitizer."""
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import ANALYZE, LIBRARY, PYTHON, ROOT, WORKLOADS, analyze, nothing_lost, report
from test_control import asleep, ctl, wait_until

KINDS = ("definitely_lost", "indirectly_lost", "possibly_lost", "still_reachable")
# Function, kind: size of a block, blocks.
ANSWER = {
    ("reached_by_global", "still_reachable"): (1001, 4),
    ("reached_by_tls", "still_reachable"): (1103, 4),
    ("reached_by_chain", "still_reachable"): (1205, 4),
    ("thread", "still_reachable"): (None, 8),
    ("held_by_register", "still_reachable"): (2429, 1),
    ("pointed_into", "possibly_lost"): (1307, 4),
    ("tagged_low", "possibly_lost"): (1409, 4),
    ("tagged_high", "definitely_lost"): (1511, 4),
    ("forgotten", "definitely_lost"): (1613, 4),
    ("forgotten_with_child", "definitely_lost"): (1715, 4),
    ("forgotten_with_child", "indirectly_lost"): (1817, 4),
    ("forgotten_ring", "definitely_lost"): (1919, 4),
    ("forgotten_ring", "indirectly_lost"): (1919, 4),
    ("named_by_freed", "definitely_lost"): (2123, 4),
}
OWN = {function for function, _ in ANSWER}


def answer_of(trace):
    """As ANSWER: bytes and blocks of the program's own functions."""
    found = {}
    for kind, part in {k: report(trace, command="leaks", options=["--top", "0"])["reachability"][k]
                       for k in KINDS}.items():
        for site in part["sites"]:
            for frame in site["stack"]:
                if frame["function"] in OWN:
                    old = found.get((frame["function"], kind), (0, 0))
                    found[frame["function"], kind] = old[0] + site["bytes"], old[1] + site["blocks"]
    return found


def expected():
    return {key: ((2225 + 2327) * 4 if size is None else size * blocks, blocks)
            for key, (size, blocks) in ANSWER.items()}


@pytest.mark.parametrize("allocator", ["glibc", "jemalloc", "tcmalloc", "mimalloc"])
def test_at_exit(tprof, allocator):
    """The program notices nothing, and every block is what it is."""
    run = tprof.profile([WORKLOADS / "lost"], allocator=allocator, env={"TPROF_LEAKCHECK": "exit"})
    assert answer_of(run.traces()[0]) == expected()
    nothing_lost(report(run.traces()[0]))
    text = analyze("leaks", run.traces()[0]).stdout
    assert re.search(r"in 20 blocks definitely lost", text) and "4. 5.90 KiB in 4 blocks" in text


def lost_of(trace, kind):
    part = report(trace, command="leaks", options=["--top", "0"])["reachability"][kind]
    return {frame["function"]: site["blocks"] for site in part["sites"] for frame in site["stack"]
            if frame["function"] in ("held_by_running", "held_by_waiting", "forgotten_often")}


def test_registers_of_a_thread_that_runs(tprof):
    """They can't be read without stopping it: what they could hold is only possibly lost, more of one stack is. (The CPU
    sampler's signal would leave them on the thread's stack.)"""
    run = tprof.profile([WORKLOADS / "lost", "spin"], env={"TPROF_LEAKCHECK": "exit", "TPROF_CPU": "0"})
    assert lost_of(run.traces()[0], "definitely_lost") == {"forgotten_often": 100}
    assert lost_of(run.traces()[0], "possibly_lost") == {"held_by_running": 1}


def test_registers_of_a_thread_that_waits(tprof):
    """In a system call of its own, which nothing of ours sees: the same. (test_leakcheck_waits.py: in libc's functions.)"""
    run = tprof.profile([WORKLOADS / "lost", "register"], env={"TPROF_LEAKCHECK": "exit", "TPROF_CPU": "0"})
    trace = run.traces()[0]
    assert lost_of(trace, "definitely_lost") == {"forgotten_often": 100}
    assert lost_of(trace, "possibly_lost") == {"held_by_waiting": 1}
    found = report(trace, command="leaks")["reachability"]
    assert (found["threads_waiting"], found["threads_running"], found["registers_unseen"]) == (1, 0, 6)
    assert re.search(r"registers of 1 other thread are not searched \(1 waited, 0 ran\)", analyze("leaks", trace).stdout)
    run = tprof.profile([WORKLOADS / "lost", "spin"], env={"TPROF_LEAKCHECK": "exit", "TPROF_CPU": "0"})
    assert "(0 waited, 1 ran)" in analyze("leaks", run.traces()[0]).stdout


def test_the_cause_of_a_failure_is_told(tprof):
    """A search that can't be had says why, and the program's status is its own."""
    library = tprof.directory / "lib"
    library.mkdir()
    shutil.copy(LIBRARY, library / "libtprof.so")
    checked = {"TPROF_LEAKCHECK": "exit"}
    run = tprof.run([WORKLOADS / "lost"], [library / "libtprof.so"], checked)
    assert run.status == 0 and b"bin/tprof-analyze could not be started" in run.stderr
    found = report(run.traces()[0], command="leaks")
    assert found["search"]["at_end"] == "failed" and "could not be started" in found["search"]["reason"]
    (tprof.directory / "bin").mkdir()
    analyzer = tprof.directory / "bin/tprof-analyze"
    for text, words in (("exit 7", b"bin/tprof-analyze ended with status 7"), ("kill -9 $$", b"was ended by signal 9")):
        analyzer.write_text(f"#!/bin/sh\n{text}\n")
        analyzer.chmod(0o755)
        run = tprof.run([WORKLOADS / "lost"], [library / "libtprof.so"], checked)
        assert run.status == 0 and words in run.stderr


HEIR = r"""
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct link {
	struct link *next;
	void *block;
} *chain;

static void *paths(int depth, unsigned path)
{
	void *block = NULL;

	if (!depth)
		return malloc(40);
	if (path & 1)
		block = paths(depth - 1, path >> 1);
	else
		block = paths(depth - 1, path >> 1);
	return block;
}

static void inherit(void)
{
	for (int i = 0; i < 300; i++) {
		struct link *link = mmap(NULL, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		link->next = chain;
		link->block = malloc(1000);
		chain = link;
	}
}

int main(void)
{
	for (unsigned path = 0; path < 1 << 16; path++)
		free(paths(16, path));
	if (!fork())
		inherit();
	else
		wait(NULL);
	return 0;
}
"""


def test_where_the_parents_tables_were(tprof):
    """A forked child has given them back: what it maps there is its own, and searched."""
    (tprof.directory / "heir.c").write_text(HEIR)
    subprocess.run(["gcc", "-O0", tprof.directory / "heir.c", "-o", tprof.directory / "heir"], check=True)
    run = tprof.profile([tprof.directory / "heir"], env={"TPROF_LEAKCHECK": "exit"})
    parent, child = sorted(run.traces(), key=lambda trace: trace.name != "trace.bin")
    assert report(parent)["heap"]["allocations"] >= 1 << 16
    found = report(child, command="leaks", options=["--top", "0"])["reachability"]
    assert {kind: [(site["blocks"], site["bytes"]) for site in found[kind]["sites"]
                   if site["stack"][0]["function"] == "inherit"] for kind in KINDS} == {
        **{kind: [] for kind in KINDS}, "still_reachable": [(300, 300000)]}


def test_while_it_runs(tprof):
    process, run = tprof.start([WORKLOADS / "lost", "wait"])
    try:
        wait_until(process, (run.directory / "ready").exists)
        (other,) = {int(task) for task in os.listdir(f"/proc/{process.pid}/task")} - {process.pid}
        asleep(process, other)
        said = ctl(process.pid, "leakcheck")
        assert "1 other thread was in a system call, 0 ran; all their registers were searched" in said
        assert "definitely lost" in said and "in 20 blocks" in said
        assert answer_of(run.traces()[0]) == expected()
        assert "in 20 blocks" in ctl(process.pid, "leakcheck")
        # What was searched is gone, as soon as the kernel has come to it.
        wait_until(process, lambda: subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], stdout=subprocess.PIPE,
                                                   check=False).stdout == b"")
        (run.directory / "end").touch()
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
    assert answer_of(run.traces()[0]) == expected()
    nothing_lost(report(run.traces()[0]))


LOSES = """
import ctypes, os, time
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
def lose():
    for _ in range(100):
        malloc(333)
def other(depth):
    return malloc(444) if depth == 0 else other(depth - 1)
lose()
open("ready", "w").close()
while not os.path.exists("end"):
    time.sleep(0.01)
for depth in range(300):
    other(depth)
"""


def test_stacks_of_python_that_runs_on(tprof):
    """What was found names the same stacks when the trace has more of them than as it was found."""
    process, run = tprof.start([PYTHON, "-c", LOSES])
    try:
        wait_until(process, (run.directory / "ready").exists)
        ctl(process.pid, "leakcheck")
        (run.directory / "end").touch()
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
    found = report(run.traces()[0], command="leaks", options=["--top", "0"])["reachability"]
    (lost,) = [site for site in found["definitely_lost"]["sites"] if site["bytes"] >= 333 * 90]
    assert [frame["function"] for frame in lost["stack"] if frame["language"] == "python"] == ["lose", "<module>"]


def test_valgrind_says_the_same(tprof):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    run = tprof.run(["valgrind", "--leak-check=full", "--show-leak-kinds=all", "--xml=yes", "--xml-file=out.xml",
                     WORKLOADS / "lost"])
    assert run.status == 0
    names = dict(zip(("Leak_DefinitelyLost", "Leak_IndirectlyLost", "Leak_PossiblyLost", "Leak_StillReachable"), KINDS))
    found = {}
    for error in xml.etree.ElementTree.parse(run.directory / "out.xml").getroot().iter("error"):
        functions = [f.text for f in error.iter("fn")]
        own = [f for f in functions if f in OWN]
        if own and error.find("kind").text in names:
            key = own[0], names[error.find("kind").text]
            old = found.get(key, (0, 0))
            what = error.find("xwhat")
            # What hangs on a lost block is counted with it, too.
            indirect = re.search(r"\(([\d,]+) direct", what.find("text").text)
            size = int(indirect.group(1).replace(",", "")) if indirect else int(what.find("leakedbytes").text)
            found[key] = old[0] + size, old[1] + int(what.find("leakedblocks").text)
    assert {k: v[0] for k, v in found.items()} == {k: v[0] for k, v in expected().items()}


def test_leak_sanitizer_says_the_same(tprof):
    """It knows no possibly lost, takes pointers into blocks as pointers, and calls both of a ring indirect."""
    program = tprof.directory / "lost"
    built = subprocess.run(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-fno-builtin", "-fsanitize=leak", "-o",
                            program, ROOT / "tests/workloads/lost.c"], stderr=subprocess.PIPE, check=False)
    if built.returncode:
        pytest.skip("no LeakSanitizer here")
    run = tprof.run([program], env={"LSAN_OPTIONS": "max_leaks=100:fast_unwind_on_malloc=0"})
    said = run.stderr.decode()
    if "LeakSanitizer has encountered a fatal error" in said:
        pytest.skip("LeakSanitizer can't work here (ptrace)")
    sizes = {}
    for block in re.split(r"\n\n", said):
        head = re.search(r"leak of (\d+) byte\(s\) in \d+ object", block)
        own = [f for f in re.findall(r" in (\w+) ", block) if f in OWN]
        if head and own:
            sizes[own[0]] = sizes.get(own[0], 0) + int(head.group(1))
    lost = {}
    for (function, kind), (size, _) in expected().items():
        if kind in ("definitely_lost", "indirectly_lost"):
            lost[function] = lost.get(function, 0) + size
    assert sizes == lost


def test_of_a_large_program(tprof):
    """Python: all of its blocks can be reached, as Valgrind says too; many only from its own mappings, here through a list."""
    program = """import json, decimal, ctypes
kept = [bytes(600) for _ in range(1000)]
ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
print(1)"""
    run = tprof.run([PYTHON, "-c", program], [LIBRARY],
                    {"TPROF_LEAKCHECK": "exit", "TPROF_CPU": "0"})
    assert run.status == 0 and run.stdout == b"1\n" and run.stderr == b""
    found = report(run.traces()[0], command="leaks")["reachability"]
    assert found["still_reachable"]["blocks"] > 1000
    assert [found[kind]["blocks"] for kind in KINDS[:3]] == [0, 0, 0]


@pytest.mark.parametrize("how, words", [
    ("_exit", "was ended by _exit()"), ("quick_exit", "was ended by quick_exit()"),
    ("exit_group", "the system call exit_group"), ("kill", "a signal"), ("abort", "a signal"), ("term", "a signal")])
def test_ends_that_pass_the_search_by(tprof, how, words):
    run = tprof.run([WORKLOADS / "ends", how], [LIBRARY], {"TPROF_LEAKCHECK": "exit"})
    leaks = report(run.traces()[0], command="leaks")
    assert leaks["reachability"] is None and leaks["search"]["at_end"] == "passed by"
    assert words in leaks["search"]["reason"] and leaks["search"]["time_ns"] is None
    text = analyze("leaks", run.traces()[0]).stdout
    assert "The leak check at the end was not made" in text and words in text


def test_nothing_was_alive(tprof):
    """That is a result; not to have searched is none."""
    (tprof.directory / "none.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", tprof.directory / "none.c", "-o", tprof.directory / "none"], check=True)
    run = tprof.run([tprof.directory / "none"], [LIBRARY], {"TPROF_LEAKCHECK": "exit"})
    leaks = report(run.traces()[0], command="leaks")
    assert [leaks["reachability"][kind]["blocks"] for kind in KINDS] == [0, 0, 0, 0]
    assert leaks["search"]["at_end"] == "done" and leaks["search"]["reason"] is None
    assert leaks["search"]["time_ns"] == leaks["reachability"]["time_ns"]
    assert "0 B in 0 blocks definitely lost" in analyze("leaks", run.traces()[0]).stdout
    run = tprof.run([tprof.directory / "none"], [LIBRARY])
    leaks = report(run.traces()[0], command="leaks")
    assert leaks["reachability"] is None and leaks["search"]["at_end"] == "not asked"


FORBIDS = r"""
#include <stdlib.h>
#include <sys/prctl.h>

int main(void)
{
	malloc(100);
	return prctl(PR_SET_DUMPABLE, 0);
}
"""


def test_permissions_forbid_the_search(tprof):
    """As of a program that changes its user, or may not be read: the report says so, and not only standard error."""
    library = tprof.directory / "lib"
    for folder in (library, tprof.directory / "bin"):
        folder.mkdir()
    shutil.copy(LIBRARY, library / "libtprof.so")
    analyzer = tprof.directory / "bin/tprof-analyze"
    # Root may look all the same, but for what it gives up.
    drop = "setpriv --bounding-set=-all --inh-caps=-all " if os.geteuid() == 0 else ""
    analyzer.write_text(f'#!/bin/sh\nexec {drop}{ANALYZE} "$@"\n')
    analyzer.chmod(0o755)
    (tprof.directory / "forbids.c").write_text(FORBIDS)
    subprocess.run(["gcc", tprof.directory / "forbids.c", "-o", tprof.directory / "forbids"], check=True)
    run = tprof.run([tprof.directory / "forbids"], [library / "libtprof.so"], {"TPROF_LEAKCHECK": "exit"})
    assert run.status == 0
    leaks = report(run.traces()[0], command="leaks")
    assert leaks["reachability"] is None and leaks["search"]["at_end"] == "forbidden", run.stderr
    assert "permissions forbade it" in analyze("leaks", run.traces()[0]).stdout


def test_wrong_values(tprof):
    run = tprof.run([WORKLOADS / "steady", 1], [LIBRARY], {"TPROF_LEAKCHECK": "always"})
    assert b"TPROF_LEAKCHECK=always: allowed is exit" in run.stderr and run.status == 0
    assert report(run.traces()[0], command="leaks")["reachability"] is None
