/* SPDX-License-Identifier: Apache-2.0 */
/* Times the kernels on one core and on all: one thread per core, all started together. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/now.h"
#include "machine/kernels.h"

#define RUN_NS 1000000.0 /* per run; the best run counts, as other programs disturb some */
#define RUNS 100	 /* many short runs, so that some are undisturbed */
#define TOTAL_NS 400000000.0
#define RUNS_LEAST 8
#define WINDOW (UINT64_C(16) << 20) /* bytes of memory that a run reads: more would take longer and tell no more */
#define MEMORY_MAX (UINT64_C(1) << 30)
#define LAST_MAX (UINT64_C(8) << 20)
#define SPINS 20000 /* about 0.2 to 1 ms */

struct work {
	tpa_flop_kernel *flop;
	tpa_load_kernel *load;
	size_t bytes;  /* working set of each thread */
	size_t window; /* bytes per run, consecutive from run to run; 0: the whole set, several times */
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
	double begin_ns[RUNS], end_ns[RUNS], done; /* done: FLOP or bytes per run */
};

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
 * Starts all threads together. Early threads spin: waking a sleeping core takes about as long as a part of a run,
 * above all in a virtual machine. A thread yields only if another is late, as there may be more work than cores.
 */
static void meet(struct team *team)
{
	uint32_t meeting = __atomic_load_n(&team->meetings, __ATOMIC_RELAXED);

	/*
	 * Acquire and release make each thread's earlier writes visible to all later ones. The last thread's store to
	 * `meetings` ends the loop.
	 */
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

/* Finds, on one core, the rounds that take about RUN_NS, and how many such runs fit into the time. */
static void calibrate(struct team *team, const void *set)
{
	double took = 0, run_ns;

	team->rounds = 1;
	team->runs = RUNS;
	if (team->work->window)
		return;
	for (team->rounds = 1; took < RUN_NS / 8; team->rounds *= 2) {
		double begin = (double)tpa_now_ns(CLOCK_MONOTONIC);

		run(team->work, set, team->rounds, 0);
		took = (double)tpa_now_ns(CLOCK_MONOTONIC) - begin;
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

/* The thread that reads the set writes it first: a page is allocated near the core that touches it first. */
static void *make_set(size_t bytes)
{
	void *set = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;

	if (set == MAP_FAILED)
		return NULL;
	if (set) {
		madvise(set, bytes, MADV_HUGEPAGE); /* measure the cache, not the TLB */
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

/*
 * The first thread determines the rounds. All threads run equally often, even after a failure, so that none waits
 * forever.
 */
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
	run(work, set, team->rounds, 0); /* warm up vector units and clocks */
	for (int i = 0; i < team->runs; i++) {
		meet(team);
		member->begin_ns[i] = (double)tpa_now_ns(CLOCK_MONOTONIC);
		member->done = run(work, set, team->rounds, i + 1);
		member->end_ns[i] = (double)tpa_now_ns(CLOCK_MONOTONIC);
	}
out:
	if (set)
		munmap(set, work->bytes);
	return NULL;
}

/* The work of all threads by the time from the first start to the last end, in the best run. */
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

/* GFLOP/s or GB/s of `threads` cores; 0 on failure. */
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
	if (started < threads) { /* threads that wait at the barrier can't be released */
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
 * Half a cache, so that the set stays in it, but more than the previous cache holds. For the last cache, each core's
 * share of a quarter: virtual machines on the same host use an unknown part of it.
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

/* The best rate of all ways of reading; 0 on failure. */
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

	if (level == TPA_LEVEL_MEMORY) /* other programs disturb a whole pass: time parts of it */
		work.window = WINDOW;
	if (!work.bytes)
		return level != TPA_LEVEL_MEMORY; /* the cache may not exist */
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
