# SPDX-License-Identifier: Apache-2.0
"""A trace that can't be written, or not to its end: the program runs on, and what is lost is counted."""
import os
import shutil
import struct
import subprocess

import pytest
from conftest import (ALLOCATORS, LIBRARY, PYTHON, WORKLOADS, add, allocator_library, analyze, functions, heap_of,
                      nothing_lost, report, sites)
from test_truth import NOTHING

COUNT = 300000  # some megabytes of trace
NO_SAMPLES = {"TPROF_CPU": "0"}  # lost ones would be lost events, which the programs do not count


def check_partial(run, lossy=True):
    """The recorded and the lost make up the truth."""
    summary = report(run.traces()[0])
    truth, heap = run.truth(), summary["heap"]
    lost = summary["capture"]["lost_events"]
    assert heap["allocations"] + lost == truth["allocations"]
    assert heap["end_blocks"] + lost == truth["end_blocks"]
    assert (lost > 0) is lossy
    assert summary["capture"]["stopped"] is lossy
    return summary


def one_line(stderr, word):
    lines = stderr.decode().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("tprof: ")
    assert word in lines[0]


@pytest.mark.parametrize("output", ["no/such/directory/t.bin", "/proc/nothing/t.bin", "/"])
def test_unwritable_output(tprof, output):
    run = tprof.run([WORKLOADS / "steady", COUNT], [LIBRARY], {"TPROF_OUTPUT": output})
    assert (run.status, run.stdout) == (0, b"steady: done\n")
    one_line(run.stderr, output)


def limited(tprof, limit, count=COUNT, env=None):
    return tprof.run([WORKLOADS / "limits", limit, WORKLOADS / "steady", count], [],
                     {**NO_SAMPLES, **(env or {}), "LIMITS_PRELOAD": str(LIBRARY)})


@pytest.mark.parametrize("size", [0, 10000, 1000000])
def test_file_size_limit(tprof, size):
    """Beyond RLIMIT_FSIZE the kernel sends SIGXFSZ: to the program, which did nothing."""
    bare = tprof.run([WORKLOADS / "limits", f"fsize={max(size, 1000)}", WORKLOADS / "steady", COUNT])
    # The truth is written to a file too: with no room for it, the program's own end is what it would have been.
    run = limited(tprof, f"fsize={max(size, 1000)}")
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, b"steady: done\n")
    if size >= 1000000:
        one_line(run.stderr, "")
        check_partial(run)


@pytest.mark.parametrize("megabytes", [20, 30, 60])
def test_address_space_limit(tprof, megabytes):
    limit = f"as={megabytes * 1000000}"
    bare = tprof.run([WORKLOADS / "limits", limit, WORKLOADS / "steady", 20000])
    run = limited(tprof, limit, 20000)
    assert (bare.status, bare.stdout) == (0, b"steady: done\n")
    assert (run.status, run.stdout) == (bare.status, bare.stdout)
    for trace in run.traces():
        summary = report(trace)
        assert summary["heap"]["allocations"] + summary["capture"]["lost_events"] == 20000


@pytest.mark.parametrize("groups", [0, 140, 180, 185, 190, 2000])
def test_peak_of_a_user_in_many_groups(tprof, groups):
    """They stand before it in /proc/PID/status, in a line of any length."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("groups are root's to set")
    listed = ["--groups", ",".join(str(10**9 + i) for i in range(groups))] if groups else ["--clear-groups"]
    run = tprof.run(["setpriv", *listed, WORKLOADS / "limits", "nofile=1024", WORKLOADS / "steady", 1000], [],
                    {"LIMITS_PRELOAD": str(LIBRARY)})
    assert (run.status, run.stdout) == (0, b"steady: done\n")
    peak = struct.unpack_from("Q", run.traces()[0].read_bytes(), 368)[0]  # tprof-trace(5)
    assert peak % 1024 == 0 and 500_000 < peak < 100_000_000


@pytest.mark.parametrize("count", [4, 5, 10])
def test_few_descriptors(tprof, count):
    bare = tprof.run([WORKLOADS / "limits", f"nofile={count}", WORKLOADS / "steady", 1000])
    run = limited(tprof, f"nofile={count}", 1000)
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, b"steady: done\n")
    for trace in run.traces():
        summary = report(trace)
        assert summary["heap"]["allocations"] + summary["capture"]["lost_events"] == 1000


def test_no_descriptor_for_a_trace_that_is_there(tprof):
    """Whether it is one can't be told then: it is left alone, and the line says why."""
    earlier = limited(tprof, "nofile=64", 1000).traces()[0]
    before = earlier.read_bytes()
    run = limited(tprof, "nofile=4", 1000, {"TPROF_OUTPUT": str(earlier)})
    assert (run.status, run.stdout) == (0, b"steady: done\n")
    one_line(run.stderr, "no file descriptor is left")
    assert earlier.read_bytes() == before


@pytest.mark.parametrize("settings", [{}, {"TPROF_ALLOC": "sample:100"}], ids=["trace", "sample"])
@pytest.mark.parametrize("events", [0, 100000])
def test_no_memory_left(tprof, events, settings):
    """What the program asks for fails as it would without tprof, which may find no room for its trace either."""
    command = [WORKLOADS / "starved", events]
    bare, run = tprof.run(command), tprof.run(command, [LIBRARY], settings)
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, b"starved: done\n"), run.stderr
    summary = report(run.traces()[0])
    assert summary["capture"]["damage"] == []
    assert summary["capture"]["stopped"] is (events > 0)
    if events:
        one_line(run.stderr, "RLIMIT_AS")
    if not settings:
        truth, heap = run.truth(), summary["heap"]
        lost = {cause: count for cause, count in summary["capture"]["lost"].items() if count}
        lost.pop("memory_sample", None)
        recorded = heap["allocations"] + heap["frees"] + sum(lost.values())
        assert recorded == truth["allocations"] + truth["frees"]


@pytest.mark.parametrize("manner", ["leave", "forget"])
@pytest.mark.parametrize("count", [64, 1024])
def test_no_descriptor_left(tprof, count, manner):
    """For as long as the program has taken them all, also the one that the collector kept: the trace grows all the same."""
    bare = tprof.run([WORKLOADS / "limits", f"nofile={count}", WORKLOADS / "few", manner])
    run = tprof.run([WORKLOADS / "limits", f"nofile={count}", WORKLOADS / "few", manner], [],
                    {"LIMITS_PRELOAD": str(LIBRARY)})
    assert (run.status, run.stdout, run.stderr) == (bare.status, bare.stdout, bare.stderr) == (0, b"few: done\n", b"")
    summary = report(run.traces()[0])
    assert heap_of(summary) == add(run.truth(), NOTHING)
    lost = {cause for cause, count in summary["capture"]["lost"].items() if count}
    assert summary["capture"]["stopped"] is False and lost <= {"memory_sample"}  # /proc can't be read meanwhile
    assert summary["capture"]["damage"] == []


OPERATORS = """
#include <cstdlib>
#include <new>
int main()
{
	for (int i = 0; i < 50000; i++) {
		void *block = ::operator new(24), *array = ::operator new[](33);
		::operator delete(block);
		::operator delete[](array);
	}
}
"""

JEMALLOCS = """
#include <jemalloc/jemalloc.h>
int main(void)
{
	for (int i = 0; i < 50000; i++) {
		void *block = rallocx(mallocx(24, 0), 3000, 0), *other = mallocx(50, 0);
		xallocx(block, 2900, 0, 0);
		dallocx(block, 0);
		sdallocx(other, 50, 0);
	}
}
"""


@pytest.mark.parametrize("text, allocator", [(OPERATORS, name) for name in ALLOCATORS] + [(JEMALLOCS, "jemalloc")],
                         ids=[*ALLOCATORS, "mallocx"])
def test_all_that_is_lost_is_counted(tprof, tmp_path, text, allocator):
    """Once: an allocator's own operators, and what they call that is hooked too."""
    (tmp_path / "calls.cc").write_text(text)
    subprocess.run(["g++", "-O1", "-fno-builtin", tmp_path / "calls.cc", "-o", tmp_path / "calls",
                    *(["-ljemalloc"] if text is JEMALLOCS else [])], check=True)
    events = []
    for size in (100_000_000, 300_000):
        library = allocator_library(allocator)
        run = tprof.run([WORKLOADS / "limits", f"fsize={size}", tmp_path / "calls"], [],
                        {"LIMITS_PRELOAD": ":".join(str(path) for path in (LIBRARY, library) if path)})
        assert run.status == 0
        summary = report(run.traces()[0])
        assert (summary["capture"]["lost_events"] > 0) is (size == 300_000)
        events.append(summary["heap"]["allocations"] + summary["heap"]["frees"] + summary["capture"]["lost_events"])
    assert events[0] >= 200_000 and events[0] == events[1]


@pytest.mark.parametrize("threads", [1, 4])
def test_full_disk(tprof, small_disk, threads):
    """A sparse file would be a SIGBUS in the program when its pages are touched."""
    command = [WORKLOADS / "truth", threads, 400000 // threads, 1]
    bare = tprof.run(command)
    run = tprof.run(command, [LIBRARY], {"TPROF_OUTPUT": str(small_disk / "trace.bin"), **NO_SAMPLES})
    assert (run.status, run.stdout) == (bare.status, bare.stdout) == (0, b"truth: done\n")
    one_line(run.stderr, "space")
    summary = report(small_disk / "trace.bin")
    truth = run.truth()
    recorded = summary["heap"]["allocations"] + summary["heap"]["frees"]
    assert summary["capture"]["lost_events"] > 0
    assert recorded > 50000
    if threads == 1:
        assert recorded + summary["capture"]["lost_events"] == truth["allocations"] + truth["frees"]


# Fills its disk, allocates, makes room, and allocates again: counts for itself.
FOR_A_WHILE = """
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static void fill(const char *path)
{
	static char zeros[4096];
	int file = open(path, O_WRONLY | O_CREAT, 0600);
	while (write(file, zeros, sizeof(zeros)) > 0)
		;
	close(file);
}
static void work(long count)
{
	void *volatile blocks[100] = { NULL };
	for (long i = 0; i < count; i++) {
		free(blocks[i % 100]);
		blocks[i % 100] = malloc(i % 50 + 1);
	}
	for (int i = 0; i < 100; i++)
		free(blocks[i]);
}
static void *run(void *count)
{
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&barrier);
		work((long)count);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	const char *end = argv[2];
	long threads = atol(argv[3]), count = 300000 / threads;
	pthread_t others[8];
	pthread_barrier_init(&barrier, NULL, threads);
	for (long i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, run, (void *)count);
	for (int i = 0; i < 3; i++) {
		if (i == 1)
			fill(argv[1]);
		pthread_barrier_wait(&barrier);
		work(count);
		pthread_barrier_wait(&barrier);
		if (i == 1 && !strcmp(end, "kill"))
			raise(SIGKILL);
		if (i == 1 && strcmp(end, "late"))
			unlink(argv[1]);
		if (i == 1 && !strcmp(end, "fork") && !fork()) {
			work(1000);
			return 0;
		}
		if (i == 1 && !strcmp(end, "fork"))
			wait(NULL);
	}
	for (long i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	if (!strcmp(end, "late"))
		unlink(argv[1]);
	return 0;
}
"""


@pytest.fixture
def full_for_a_while(tprof, small_disk, tmp_path):
    (tmp_path / "while.c").write_text(FOR_A_WHILE)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-pthread", tmp_path / "while.c", "-o", tmp_path / "while"], check=True)

    def run(end, threads):
        # Room for a third of it, and for all, in turns.
        subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
        return tprof.run([tmp_path / "while", small_disk / "filler", end, threads], [LIBRARY],
                         {"TPROF_OUTPUT": str(small_disk / "trace.bin")})
    return run


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("end", ["soon", "late"])
def test_disk_full_for_a_while(full_for_a_while, small_disk, end, threads):
    """Until the program's end, or before it: each event is there, and nobody is told."""
    run = full_for_a_while(end, threads)
    assert (run.status, run.stderr) == (0, b"")
    summary = report(small_disk / "trace.bin")
    nothing_lost(summary)
    assert summary["capture"]["aside_bytes"] == summary["capture"]["stacks_short"] == 0
    own = [site for site in sites(small_disk / "trace.bin", "hotspots") if "work" in functions(site["stack"])]
    assert sum(site["allocations"] for site in own) == 900000
    assert all(functions(site["stack"])[0] == "work" for site in own)
    assert summary["heap"]["allocations"] - summary["heap"]["frees"] == summary["heap"]["end_blocks"] < 20


def test_killed_while_the_disk_is_full(full_for_a_while, small_disk):
    """What waited in its memory is gone, and the report says how much."""
    run = full_for_a_while("kill", 1)
    assert (run.status, run.stderr) == (-9, b"")
    summary = report(small_disk / "trace.bin")
    heap, capture = summary["heap"], summary["capture"]
    assert capture["aside_bytes"] >= 1 << 20 and capture["damage"] == []
    assert 300000 <= heap["allocations"] < 600000
    text = analyze("summary", small_disk / "trace.bin").stdout
    assert "in the program's memory" in text and "no event lost" not in text


def test_forks_while_the_disk_is_full(full_for_a_while, small_disk):
    """What is aside is the parent's alone."""
    run = full_for_a_while("fork", 1)
    assert (run.status, run.stderr) == (0, b"")
    traces = sorted(small_disk.glob("trace*.bin"), key=lambda path: len(path.name))
    for trace, count in zip(traces, (900000, 1000), strict=True):
        summary = report(trace)
        nothing_lost(summary)
        assert summary["capture"]["aside_bytes"] == 0
        assert count <= summary["heap"]["allocations"] < count + 20


REALLOCATIONS = """
#include <stdlib.h>
int main(int argc, char **argv)
{
	char *block = malloc(16);
	for (int i = 1; i < argc; i++)
		free(malloc(argc));
	for (long i = 0; i < 500000; i++)
		block = realloc(block, i & 1 ? 1000 : 100);
	free(block);
	return block == (char *)argv;
}
"""

# Behind tprof: the first reallocation after a word of its on stderr takes longer than the time to the next memory sample.
SLOW = """
#include <dlfcn.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>
void *realloc(void *block, size_t size)
{
	static void *(*real)(void *, size_t);
	static int slept;
	int said = 0;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "realloc");
	if (!slept && ioctl(2, FIONREAD, &said) == 0 && said > 0)
		slept = !usleep(100000);
	return real(block, size);
}
"""


def test_disk_full_in_a_reallocation(tprof, small_disk, tmp_path):
    """Its free is the first event without room. What is due by the time of its allocation is no event that was lost."""
    for name, text, *options in (("reallocations", REALLOCATIONS), ("slow.so", SLOW, "-shared", "-fPIC", "-ldl")):
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        subprocess.run(["gcc", "-O1", "-fno-builtin", "-D_GNU_SOURCE", source, *options, "-o", tmp_path / name], check=True)
    for lead in range(4):  # a chunk ends with an allocation or with a free
        run = tprof.run([tmp_path / "reallocations", *["more"] * lead], [LIBRARY, tmp_path / "slow.so"],
                        {"TPROF_OUTPUT": str(small_disk / "trace.bin"), **NO_SAMPLES})
        assert run.status == 0 and b"space" in run.stderr
        summary = report(small_disk / "trace.bin")
        recorded = summary["heap"]["allocations"] + summary["heap"]["frees"]
        assert recorded + summary["capture"]["lost_events"] == 2 * (500000 + 1 + lead)
        (small_disk / "trace.bin").unlink()


LEVELS = 40

# New stacks all the time, so that tables take the most room.
MANY_STACKS = f"#define LEVELS {LEVELS}" + """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long count;
__attribute__((noinline)) static void *deep(unsigned long path, int levels)
{
	void *volatile block;
	if (levels == 0)
		return malloc(24);
	if (path & 1)
		block = deep(path >> 1, levels - 1);
	else
		block = deep(path >> 1, levels - 1);
	return block;
}
static void *run(void *first)
{
	for (long i = 0; i < count; i++)
		free(deep(((unsigned long)first + 3 * (unsigned long)i + 1) * 0x9e3779b97f4a7c15, LEVELS));
	return NULL;
}
int main(int argc, char **argv)
{
	long threads = atol(argv[1]);
	pthread_t others[4];
	count = atol(argv[2]);
	for (long i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, run, (void *)i);
	run(NULL);
	for (long i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	puts("many: done");
	return 0;
}
"""


@pytest.fixture(name="many_stacks", scope="module")
def build_many_stacks(tmp_path_factory):
    directory = tmp_path_factory.mktemp("many")
    (directory / "many.c").write_text(MANY_STACKS)
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-fno-optimize-sibling-calls", "-pthread", directory / "many.c",
                    "-o", directory / "many"], check=True)
    return directory / "many"


def check_whole(trace):
    """Whatever the report has is right: nothing is damaged, each block and sample has its stack."""
    summary = report(trace)
    assert summary["capture"]["damage"] == [] and summary["capture"]["stacks_short"] == 0
    for site in sites(trace, "hotspots"):
        assert site["stack"] and all(frame["module"] for frame in site["stack"])
        if "deep" in functions(site["stack"]):
            assert functions(site["stack"])[:LEVELS + 1] == ["deep"] * (LEVELS + 1)
    dumped = analyze("dump", trace).stdout.splitlines()
    assert not [line for line in dumped if line.split()[1:2] == ["sample"] and "no stack" in line]
    return summary


def everything(summary):
    return summary["heap"]["allocations"] + summary["heap"]["frees"] + summary["capture"]["lost_events"]


def test_tables_on_a_full_disk(tprof, small_disk, many_stacks):
    """What events refer to could not be written: those are not in the trace, and counted."""
    totals = set()
    for kilobytes in (4000, 276, 427, 511, 700):
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(small_disk)], check=True)
        run = tprof.run([many_stacks, 1, 20000], [LIBRARY], {"TPROF_OUTPUT": str(small_disk / "trace.bin"), **NO_SAMPLES})
        assert (run.status, run.stdout) == (0, b"many: done\n")
        summary = check_whole(small_disk / "trace.bin")
        assert summary["capture"]["stopped"] is (kilobytes < 4000)
        assert (summary["capture"]["lost_events"] > 0) is (kilobytes < 4000)
        totals.add(everything(summary))
        (small_disk / "trace.bin").unlink()
    assert len(totals) == 1


def test_tables_of_threads_on_a_full_disk(tprof, small_disk, many_stacks):
    for kilobytes in (333, 777):
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(small_disk)], check=True)
        run = tprof.run([many_stacks, 3, 7000], [LIBRARY],
                        {"TPROF_OUTPUT": str(small_disk / "trace.bin"), "TPROF_CPU": "999"})
        assert (run.status, run.stdout) == (0, b"many: done\n")
        assert check_whole(small_disk / "trace.bin")["capture"]["lost"]["no_space"] > 0
        (small_disk / "trace.bin").unlink()


@pytest.mark.parametrize("bytes_", [300_000, 555_555])
def test_tables_beyond_the_file_size_limit(tprof, many_stacks, bytes_):
    run = tprof.run([WORKLOADS / "limits", f"fsize={bytes_}", many_stacks, 3, 7000], [],
                    {"LIMITS_PRELOAD": str(LIBRARY), "TPROF_CPU": "999"})
    assert (run.status, run.stdout) == (0, b"many: done\n")
    assert check_whole(run.traces()[0])["capture"]["lost"]["no_space"] > 0


def test_tables_aside_of_a_killed_program(tprof, small_disk, many_stacks):
    """At any instant."""
    for milliseconds in (20, 70, 150):
        subprocess.run(["mount", "-o", f"remount,size={300 + milliseconds}k", str(small_disk)], check=True)
        tprof.run(["timeout", "-s", "KILL", f"0.{milliseconds:03}", many_stacks, 3, 10000000],
                  [LIBRARY], {"TPROF_OUTPUT": str(small_disk / "trace.bin"), "TPROF_EXE": "many"})
        check_whole(small_disk / "trace.bin")
        (small_disk / "trace.bin").unlink()


def test_disk_full_from_the_start(tprof, small_disk):
    filler = os.open(small_disk / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(filler, bytes(4096)):
            pass
    except OSError:
        pass
    os.close(filler)
    run = tprof.run([WORKLOADS / "steady", 1000], [LIBRARY], {"TPROF_OUTPUT": str(small_disk / "trace.bin")})
    assert (run.status, run.stdout) == (0, b"steady: done\n")
    one_line(run.stderr, "space")


@pytest.mark.parametrize("variable, value, allowed", [
    ("TPROF_ALLOC", "everything", "trace"), ("TPROF_DEPTH", "-3", ""), ("TPROF_DEPTH", "many", ""),
    ("TPROF_CHILDREN", "yes please", "0"), ("TPROF_VERBOSE", "9", "")])
def test_value_that_makes_no_sense(tprof, variable, value, allowed):
    """One line naming variable, value and what is allowed; the default is used; the program runs."""
    run = tprof.run([WORKLOADS / "steady", 100], [LIBRARY], {variable: value})
    assert (run.status, run.stdout) == (0, b"steady: done\n")
    one_line(run.stderr, variable)
    assert value in run.stderr.decode() and allowed in run.stderr.decode()
    assert heap_of(report(run.traces()[0])) == add(run.truth(), NOTHING)


def test_alloc_off(tprof):
    run = tprof.profile([WORKLOADS / "steady", 100], env={"TPROF_ALLOC": "off"})
    for trace in run.traces():
        assert report(trace)["heap"]["allocations"] == 0


def test_long_trace(tprof):
    run, summary = tprof.summary([WORKLOADS / "steady", 2000000])
    assert heap_of(summary) == add(run.truth(), NOTHING)
    nothing_lost(summary)


def test_bytes_an_event(tprof):
    """One path, one size after the other, nothing freed: the encoding's own price."""
    _, summary = tprof.summary([WORKLOADS / "steady", 500000])
    assert summary["capture"]["trace_bytes"] / summary["capture"]["alloc_events"] <= 8


@pytest.mark.parametrize("link", ["os.rename", "os.link", "os.symlink"])
def test_another_file_of_the_name(tprof, tmp_path, link):
    """The program closed what it does not know, moved the trace and has a file of its own in its place, or a link to one:
    that file stays as it is, and what could not be written is counted."""
    script = f"""
import os, sys
trace = sys.argv[1]
os.rename(trace, trace + ".moved")
open(trace + ".own", "wb").write(b"mine" * 1000000)
{link}(trace + ".own", trace)
os.closerange(3, 70000)
for i in range(400000):
    b"x" * (1000 + i % 100)
print(open(trace, "rb").read() == b"mine" * 1000000)
"""
    trace = tmp_path / "trace.bin"
    run = tprof.run([PYTHON, "-I", "-c", script, trace], [LIBRARY], {"TPROF_OUTPUT": str(trace)})
    assert (run.status, run.stdout) == (0, b"True\n")
    capture = report(f"{trace}.moved")["capture"]
    assert capture["lost"]["no_file"] == capture["lost_events"] > 0
