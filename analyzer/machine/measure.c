/* SPDX-License-Identifier: Apache-2.0 */
/* Times the kernels, on one core and on all at once: each thread on a core of its own, all begun together. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "machine/kernels.h"

#define RUN_NS 1000000.0 /* of one timing; the best counts, as others run on the machine too, */
#define RUNS 100	 /* and of many short ones some are not disturbed */
#define TOTAL_NS 400000000.0
#define RUNS_LEAST 8
#define WINDOW (UINT64_C(16) << 20) /* of memory: it takes no longer */
#define MEMORY_MAX (UINT64_C(1) << 30)
#define LAST_MAX (UINT64_C(8) << 20)
#define SPINS 20000 /* some 0.2 to 1 ms */

struct work {
	tpa_flop_kernel *flop;
	tpa_load_kernel *load;
	size_t bytes;  /* of each thread's own working set */
	size_t window; /* of it that one run reads, each run the next one; 0: all of it, several times */
};

struct team {
	const struct work *work;
	uint32_t members, arrived, meetings;
	uint64_t rounds;
	int runs;
	bool failed;
};

struct member {
	struct team *team;
	pthread_t id;
	int cpu;
	bool first;
	double begin_ns[RUNS], end_ns[RUNS], done; /* done: FLOP or bytes of one run */
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double run(const struct work *work, const char *set, uint64_t rounds, int number)
{
	size_t windows = work->window && work->bytes > work->window ? work->bytes / work->window : 1,
	       bytes = work->bytes / windows;

	if (work->flop)
		return work->flop(rounds);
	work->load(set + (size_t)number % windows * bytes, bytes, rounds);
	return (double)bytes * (double)rounds;
}

/*
 * All begin together: who comes first waits awake, for to wake up a core that sleeps takes as long as a part of a run, above all
 * in a virtual machine. Only if another is late, because there is more to do here than there are cores, is its core given away.
 */
static void meet(struct team *team)
{
	uint32_t meeting = __atomic_load_n(&team->meetings, __ATOMIC_RELAXED);

	/* Acquire and release: what each did before is seen by all behind. The last one's store of `meetings` is for the loop. */
	if (__atomic_add_fetch(&team->arrived, 1, __ATOMIC_ACQ_REL) == team->members) {
		__atomic_store_n(&team->arrived, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&team->meetings, meeting + 1, __ATOMIC_RELEASE);
		return;
	}
	for (int spins = 0; __atomic_load_n(&team->meetings, __ATOMIC_ACQUIRE) == meeting;) {
		if (spins++ < SPINS) {
			__builtin_ia32_pause();
		} else {
			sched_yield();
			spins = SPINS;
		}
	}
}

/* Rounds that take about RUN_NS, found on one core, and how many such runs there are time for. */
static void calibrate(struct team *team, const void *set)
{
	double took = 0, run_ns;

	team->rounds = 1;
	team->runs = RUNS;
	if (team->work->window)
		return;
	for (team->rounds = 1; took < RUN_NS / 8; team->rounds *= 2) {
		double begin = now_ns();

		run(team->work, set, team->rounds, 0);
		took = now_ns() - begin;
	}
	team->rounds /= 2;
	run_ns = took;
	if (took < RUN_NS) {
		team->rounds = (uint64_t)((double)team->rounds * RUN_NS / took) + 1;
		run_ns = RUN_NS;
	}
	team->runs = run_ns * RUNS < TOTAL_NS ? RUNS : (int)(TOTAL_NS / run_ns);
	team->runs = team->runs < RUNS_LEAST ? RUNS_LEAST : team->runs;
}

/* Written to by the thread that reads it: pages are near the core that touches them first. */
static void *make_set(size_t bytes)
{
	void *set = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;

	if (set == MAP_FAILED)
		return NULL;
	if (set) {
		madvise(set, bytes, MADV_HUGEPAGE); /* the cache is measured, not the TLB */
		memset(set, 1, bytes);
	}
	return set;
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* The first thread finds out how many rounds there are. All run as often, failed or not: nobody waits for ever. */
static void *member_main(void *context)
{
	struct member *member = context;
	struct team *team = member->team;
	const struct work *work = team->work;
	void *set;

	pin(member->cpu);
	set = make_set(work->bytes);
	if (work->bytes && !set)
		__atomic_store_n(&team->failed, true, __ATOMIC_RELAXED);
	meet(team);
	if (__atomic_load_n(&team->failed, __ATOMIC_RELAXED))
		goto out;
	if (member->first)
		calibrate(team, set);
	meet(team);
	run(work, set, team->rounds, 0); /* vector units and clocks wake up */
	for (int i = 0; i < team->runs; i++) {
		meet(team);
		member->begin_ns[i] = now_ns();
		member->done = run(work, set, team->rounds, i + 1);
		member->end_ns[i] = now_ns();
	}
out:
	if (set)
		munmap(set, work->bytes);
	return NULL;
}

/* What all did, by the time from the first's begin to the last's end; of the best run. */
static double best_rate(const struct member *members, uint32_t count, int runs)
{
	double best = 0;

	for (int i = 0; i < runs; i++) {
		double begin = members[0].begin_ns[i], end = 0, done = 0;

		for (uint32_t m = 0; m < count; m++) {
			begin = members[m].begin_ns[i] < begin ? members[m].begin_ns[i] : begin;
			end = members[m].end_ns[i] > end ? members[m].end_ns[i] : end;
			done += members[m].done;
		}
		if (end > begin && done / (end - begin) > best)
			best = done / (end - begin);
	}
	return best;
}

static int nth_cpu(const cpu_set_t *allowed, uint32_t n)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, allowed) && n-- == 0)
			return cpu;
	return 0;
}

/* GFLOP/s or GB/s of `threads` cores; 0: it failed. */
static double rate(const struct work *work, const cpu_set_t *allowed, uint32_t threads)
{
	struct member *members = tpa_zalloc(threads, sizeof(*members));
	struct team team = { .work = work, .members = threads };
	uint32_t started = 0;
	double best = 0;

	for (; started < threads; started++) {
		members[started].team = &team;
		members[started].first = started == 0;
		members[started].cpu = nth_cpu(allowed, started);
		if (pthread_create(&members[started].id, NULL, member_main, &members[started]) != 0)
			break;
	}
	if (started < threads) { /* those that wait at the barrier can't be helped out of it */
		fputs("tprof-analyze: no threads can be made\n", stderr);
		exit(2);
	}
	for (uint32_t i = 0; i < threads; i++)
		pthread_join(members[i].id, NULL);
	if (!team.failed)
		best = best_rate(members, threads, team.runs);
	free(members);
	return best;
}

/* ---- working sets ---- */

static uint64_t round_down(uint64_t bytes)
{
	return bytes / 4096 * 4096;
}

/*
 * Half a cache, so that it stays there; more than the cache before it holds. Of the last one, each core's part of a quarter:
 * other machines on this one hold the rest of it, and what they leave is not known.
 */
static uint64_t set_bytes(const struct tpa_machine *machine, enum tpa_level level, uint32_t threads)
{
	uint64_t own = machine->cache_bytes[level == TPA_LEVEL_MEMORY ? TPA_LEVEL_L3 : level], part, before, memory;

	if (level == TPA_LEVEL_MEMORY) {
		memory = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
		own = 4 * (own ? own : machine->cache_bytes[TPA_LEVEL_L2]);
		own = own < (UINT64_C(64) << 20) ? UINT64_C(64) << 20 : own;
		own = own < MEMORY_MAX ? own : MEMORY_MAX;
		return round_down((own < memory ? own : memory) / threads);
	}
	if (!own)
		return 0;
	if (level != TPA_LEVEL_L3)
		return round_down(own / 2);
	before = 2 * machine->cache_bytes[TPA_LEVEL_L2];
	part = own / 4 / threads < LAST_MAX ? own / 4 / threads : LAST_MAX;
	return round_down(part > before ? part : before);
}

/* The best of all ways to read. 0: it failed. */
static double best_load(struct work *work, const cpu_set_t *allowed, uint32_t threads)
{
	double best = 0;

	for (tpa_load_kernel *const *load = tpa_load_kernels_widest(); *load; load++) {
		double one;

		work->load = *load;
		one = rate(work, allowed, threads);
		best = one > best ? one : best;
	}
	return best;
}

static bool measure_bandwidth(struct tpa_machine *machine, const cpu_set_t *allowed, enum tpa_level level)
{
	struct work work = { .bytes = set_bytes(machine, level, 1) };
	struct tpa_rate *to = &machine->bandwidth[level];

	if (level == TPA_LEVEL_MEMORY) /* a pass takes too long for others not to come between: the best part of one */
		work.window = WINDOW;
	if (!work.bytes)
		return level != TPA_LEVEL_MEMORY; /* there may be no such cache */
	to->one = best_load(&work, allowed, 1);
	work.bytes = set_bytes(machine, level, machine->cores);
	to->all = machine->cores > 1 ? best_load(&work, allowed, machine->cores) : to->one;
	return to->one > 0 && to->all > 0;
}

static bool measure_flops(struct tpa_machine *machine, const cpu_set_t *allowed, enum tpa_width width,
			  enum tpa_precision precision)
{
	struct work work = { .flop = tpa_flop_kernel_of(width, precision) };
	struct tpa_rate *to = &machine->flops[width][precision];

	if (!work.flop)
		return true;
	to->one = rate(&work, allowed, 1);
	to->all = machine->cores > 1 ? rate(&work, allowed, machine->cores) : to->one;
	return to->one > 0 && to->all > 0;
}

static bool measure_width(struct tpa_machine *machine, const cpu_set_t *allowed, enum tpa_width width)
{
	bool good = true;

	for (int precision = 0; good && precision < TPA_PRECISIONS; precision++)
		good = measure_flops(machine, allowed, width, (enum tpa_precision)precision);
	return good;
}

bool tpa_machine_measure(struct tpa_machine *machine, void (*say)(const char *what))
{
	cpu_set_t allowed;
	bool good = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
	char text[64];

	for (int width = 0; good && width < TPA_WIDTHS; width++) {
		snprintf(text, sizeof(text), "multiply-adds, %s", tpa_width_names[width]);
		if (say)
			say(text);
		good = measure_width(machine, &allowed, (enum tpa_width)width);
	}
	for (int level = 0; good && level < TPA_LEVELS; level++) {
		snprintf(text, sizeof(text), "reading from %s", tpa_level_names[level]);
		if (say)
			say(text);
		good = measure_bandwidth(machine, &allowed, (enum tpa_level)level);
	}
	machine->measured_unix_s = (uint64_t)time(NULL);
	return good;
}
