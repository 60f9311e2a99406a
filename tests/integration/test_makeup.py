# SPDX-License-Identifier: Apache-2.0
"""What resident memory is made of: programs that know what they map, against the readings of smaps and against the kernel."""
import json
import re
import subprocess

import pytest
from conftest import LIBRARY, PYTHON, analyze, nothing_lost, report

MIB = 2**20

PARTS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define MIB ((size_t)1 << 20)
static char table[24 * MIB];
__attribute__((noinline)) static char *weights(void)
{
	char *p = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memset(p, 1, 32 * MIB);
}
__attribute__((noinline)) static char *scratch(void)
{
	char *p = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memset(p, 1, 16 * MIB);
}
__attribute__((noinline)) static char *by_break(void)
{
	char *p = sbrk(8 * MIB);
	return memset(p, 1, 8 * MIB);
}
__attribute__((noinline)) static char *message(void)
{
	char *p = mmap(NULL, 12 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return memset(p, 1, 12 * MIB);
}
static char *past_the_hooks(void)
{
	register long flags __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS, fd __asm__("r8") = -1, offset __asm__("r9") = 0;
	char *p;
	__asm__ volatile("syscall" : "=a"(p) : "a"(SYS_mmap), "D"(0), "S"(40 * MIB), "d"(PROT_READ | PROT_WRITE), "r"(flags),
			 "r"(fd), "r"(offset) : "rcx", "r11", "memory");
	return memset(p, 1, 40 * MIB);
}
static void *in_thread(void *barrier)
{
	volatile char deep[6 * MIB];
	memset((char *)deep, 1, sizeof(deep));
	pthread_barrier_wait(barrier);
	pause();
	return (void *)(long)deep[5];
}
int main(void)
{
	pthread_barrier_t barrier;
	pthread_t thread;
	char *blocks = malloc(20 * MIB), *small[1000];
	memset(blocks, 1, 20 * MIB);
	for (int i = 0; i < 1000; i++)
		small[i] = memset(malloc(2000), 1, 2000);
	memset(table, 1, sizeof(table));
	char *all[] = { weights(), scratch(), by_break(), message(), past_the_hooks() };
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, in_thread, &barrier);
	pthread_barrier_wait(&barrier);
	usleep(150000);
	char line[200];
	long rss = 0, n;
	FILE *f = fopen("/proc/self/smaps", "r");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Rss: %ld kB", &n) == 1)
			rss += n;
	printf("%ld %d\n", rss, all[0][5] + all[1][5] + all[2][5] + all[3][5] + all[4][5] + small[3][5] + blocks[7] + table[9]);
	return 0;
}
"""


def compiled(directory, name, text):
    source = directory / f"{name}.c"
    source.write_text(text)
    subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "-fno-optimize-sibling-calls", source, "-o", directory / name,
                    "-pthread"], check=True)
    return directory / name


def owner(moment, part, name):
    """Bytes of a part that a function mapped, or a file of that name has."""
    return sum(o["bytes"] for o in moment["owners"] if o["part"] == part and
               (o["stack"] and name in {frame["function"] for frame in o["stack"]} or
                not o["stack"] and (o["path"] or "").endswith("/" + name)))


def test_each_part_is_what_it_is(tprof, tmp_path):
    run = tprof.run([compiled(tmp_path, "parts", PARTS)], [LIBRARY])
    assert run.status == 0, run.stderr
    summary = report(run.traces()[0])
    nothing_lost(summary)
    memory, rss = summary["memory"], int(run.stdout.split()[0]) * 1024
    assert memory["readings"] >= 1 and memory["unseen_known"] is True
    for moment in (memory["peak"], memory["end"]):
        parts = moment["parts"]
        assert sum(parts.values()) == moment["rss_bytes"] == pytest.approx(rss, abs=MIB)
        assert moment["private_bytes"] + moment["shared_bytes"] == moment["rss_bytes"] >= moment["pss_bytes"]
        assert moment["pss_bytes"] >= moment["private_bytes"]
        # Of mappings that the kernel joined with others, a page of which was never touched, each has its share.
        assert parts["mapped"] == pytest.approx(56 * MIB, abs=65536)
        for name, size in (("weights", 32), ("scratch", 16), ("by_break", 8)):
            assert owner(moment, "mapped", name) == pytest.approx(size * MIB, abs=65536)
        assert parts["shared_memory"] == owner(moment, "shared_memory", "message") == 12 * MIB
        assert parts["unseen"] == pytest.approx(40 * MIB, abs=MIB // 2)
        assert owner(moment, "static", "parts") == pytest.approx(24 * MIB, abs=MIB // 16)
        assert parts["heap"] == pytest.approx(20 * MIB + 1000 * 2016, abs=MIB // 2)
        assert parts["stacks"] == pytest.approx(6 * MIB, abs=MIB // 4)
        assert moment["live_bytes"] == pytest.approx(20 * MIB + 2000000, abs=MIB // 16)
    for command in ("summary", "peak", "leaks"):
        text = analyze(command, run.traces()[0]).stdout
        assert re.search(r"3[12]\.\d MiB +\d+\.\d%  mapped by weights \(.*parts\.c:\d+\) ← main\n", text), text
    text = analyze("peak", "--by", "function", "--exact", run.traces()[0]).stdout
    assert re.search(rf" {12 * MIB:,} B +\d+\.\d%  shared memory, mapped by message \(parts\)\n", text), text
    assert re.search(r"%  mapped by scratch \(parts\)\n", text) and re.search(r"%  mapped by by_break \(parts\)\n", text)
    assert "  mapped by system calls of the program's own, which tprof does not see\n" in text
    assert re.search(r"  static data \(\.data, \.bss\) of parts\n", text) and re.search(r"  stacks of threads\n", text)
    text = analyze("leaks", "--by", "line", run.traces()[0]).stdout
    assert re.search(r"mapped by .*parts\.c:\d+ \(weights\)\n", text), text


GROWS = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define STEP ((size_t)1 << 20)
static char table[64 * STEP];
int main(int count, char **names)
{
	char what = names[1][0], *raw = NULL;
	if (what == 'r')
		raw = (char *)syscall(SYS_mmap, NULL, 64 * STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	usleep(30000);
	for (size_t i = 0; i < 64; i++) {
		char *p = what == 's' ? mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) :
			  what == 'b' ? sbrk(STEP) : what == 'r' ? raw + i * STEP : table + i * STEP;
		free(malloc(100));
		memset(p, 1, STEP);
		usleep(10000);
	}
	return count > 2;
}
"""


@pytest.mark.parametrize("what, part, words", [("table", "static", r"static data \(.data, .bss\)"),
                                               ("raw", "unseen", "mapped past the hooks"), ("break", "mapped", "anonymous mmap"),
                                               ("shared", "shared_memory", "shared memory")])
def test_growth_is_put_down_to_what_grows(tprof, tmp_path, what, part, words):
    """And not to the allocator: no fragmentation."""
    run = tprof.run([compiled(tmp_path, "grows", GROWS), what], [LIBRARY])
    assert run.status == 0, run.stderr
    growth = report(run.traces()[0], command="leaks")["growth"]
    parts, rss = growth["parts"], growth["memory"]["rss"]
    for end in ("first_bytes", "last_bytes"):
        assert sum(line[end] for line in parts.values()) == pytest.approx(rss[end], abs=8)
    grown = {name: line["last_bytes"] - line["first_bytes"] for name, line in parts.items()}
    total = rss["last_bytes"] - rss["first_bytes"]
    assert total > 32 * MIB
    assert grown[part] > 0.75 * total and max(grown[name] for name in grown if name != part) < 0.25 * total, grown
    text = analyze("leaks", run.traces()[0]).stdout
    summary = report(run.traces()[0])["memory"]
    # A break is counted at each look. The others by the readings: on a slow machine there are too few to be sure.
    word = "grows" if part == "mapped" or summary["readings"] >= 20 else r"\S+"
    assert re.search(rf"^  {words}  +.*  {word}$", text, re.M), text
    assert "fragmentation, or memory from past the hooks" not in text
    assert summary["growth"] == {"unit": "second", "parts": parts}
    assert summary["end"]["parts"][part] == pytest.approx(64 * MIB, abs=MIB)


BREAK = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <unistd.h>
int main(void)
{
	char *first = sbrk(8 << 20), *now = sbrk(0);
	errno = 77;
	if (now != first + (8 << 20) || sbrk(-(4 << 20)) != now || sbrk(0) != first + (4 << 20) || errno != 77)
		return 1;
	if (brk(first + (6 << 20)) || sbrk(0) != first + (6 << 20) || brk(first + (5 << 20)) || sbrk(0) != first + (5 << 20))
		return 2;
	if (sbrk((intptr_t)1 << 60) != (void *)-1 || errno != ENOMEM || sbrk(0) != first + (5 << 20))
		return 3;
	return brk((void *)((uintptr_t)1 << 62)) != -1 || errno != ENOMEM ? 4 : 0;
}
"""


def test_the_program_break(tprof, tmp_path):
    run = tprof.run([compiled(tmp_path, "break", BREAK)], [LIBRARY])
    assert run.status == 0
    heap = report(run.traces()[0])["heap"]
    assert (heap["maps"], heap["unmaps"]) == (2, 2)
    assert heap["mapped_peak_bytes"] == 8 * MIB and heap["mapped_end_bytes"] == 5 * MIB


COPIES = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define MIB ((size_t)1 << 20)
static long private_kib(void)
{
	char line[200];
	long n, sum = 0;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_%*[DC]%*[a-z]: %ld kB", &n) == 1)
			sum += n;
	fclose(f);
	return sum;
}
int main(void)
{
	char *data = malloc(64 * MIB);
	memset(data, 1, 64 * MIB);
	for (size_t k = 0; k < 3; k++) {
		if (fork() == 0) {
			usleep(40000);
			free(malloc(100));
			memset(data, 2, k * 20 * MIB);
			usleep(100000);
			printf("%d %zu %ld\n", (int)getpid(), k * 20, private_kib());
			fflush(stdout);
			_exit(data[5] == 3);
		}
		wait(NULL);
	}
	return 0;
}
"""


def test_pages_that_a_fork_copies(tprof, tmp_path):
    """A worker that writes to its parent's memory costs as much, though it allocates nothing; one that reads it does not."""
    run = tprof.run([compiled(tmp_path, "copies", COPIES)], [LIBRARY])
    assert run.status == 0, run.stderr
    truth = {int(pid): (int(size) * MIB, int(kib) * 1024) for pid, size, kib in re.findall(r"(\d+) (\d+) (\d+)", run.stdout.decode())}
    assert len(truth) == 3
    traces = {json.loads(analyze("summary", "--json", trace).stdout)["process"]["pid"]: trace for trace in run.traces()}
    for pid, (size, private) in truth.items():
        memory = report(traces[pid])["memory"]
        end = memory["end"]
        assert memory["inherited_bytes"] >= 64 * MIB and memory["pss_peak_bytes"] >= end["pss_bytes"]
        assert end["copied_bytes"] == pytest.approx(size, abs=MIB)
        assert end["private_bytes"] == pytest.approx(private, abs=MIB)
        assert end["shared_bytes"] >= 63 * MIB - size
        words = f"{size // MIB}.{{0,3}} MiB of its parent's pages were copied as they were written to"
        assert bool(re.search(words, analyze("summary", "--full", traces[pid]).stdout)) == (size > 0)
        text = analyze("leaks", traces[pid]).stdout
        assert ("it grew without an allocation: " in text) == (size > 0), text
    parent = next(trace for pid, trace in traces.items() if pid not in truth)
    assert report(parent)["memory"]["end"]["copied_bytes"] == 0 and "were copied" not in analyze("summary", "--full", parent).stdout


ARENAS = """
import time
kept = [(i, float(i)) for i in range(300000)]
time.sleep(0.1)
bytes(100000)
time.sleep(0.1)
bytes(100000)
"""


def test_arenas_of_python_are_named(tprof):
    run = tprof.run([PYTHON, "-c", ARENAS], [LIBRARY])
    assert run.status == 0, run.stderr
    peak = report(run.traces()[0])["memory"]["peak"]
    arenas = sum(o["bytes"] for o in peak["owners"] if o["held_by"] == "Python's arenas of small objects")
    assert arenas > 16 * MIB
    for command in ("summary", "peak"):
        text = analyze(command, run.traces()[0]).stdout
        assert re.search(r"%  Python's arenas of small objects\n", text)
        assert "record with TPROF_PYTHON=alloc to see the objects in them" in text


EMPTIED = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char *blocks[1000], later[64 * 1024];
int main(void) {
	for (int i = 0; i < 1000; i++)
		blocks[i] = memset(malloc(60000), 1, 60000);
	char *last = malloc(100);
	usleep(150000);
	for (int i = 0; i < 1000; i++)
		free(blocks[i]);
	memset(later, 1, sizeof(later));
	usleep(150000);
	return !last;
}
"""


def test_the_peak_is_not_read_when_all_is_freed(tprof, tmp_path):
    """What is freed below a block that stays is still resident: RSS is largest at the end, where nothing is left to see."""
    run = tprof.run([compiled(tmp_path, "emptied", EMPTIED)], [LIBRARY])
    memory = report(run.traces()[0])["memory"]
    assert memory["peak"]["live_bytes"] > 50000000 > 1000000 > memory["end"]["live_bytes"]
    assert memory["end"]["rss_bytes"] > memory["peak"]["rss_bytes"]
