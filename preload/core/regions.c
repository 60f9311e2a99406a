/* SPDX-License-Identifier: Apache-2.0 */
#include "core/regions.h"

#include "core/budget.h"
#include "core/clock.h"
#include "core/emit.h"
#include "core/maps.h"
#include "core/process.h"
#include "core/resident.h"
#include "core/state.h"
#include "core/tables.h"
#include "core/text.h"
#include "core/trylock.h"
#include "core/usage.h"

/*
 * A reading takes at most 1/SHARE of the time, and the distance to the next one is at least 1/SPREAD of the run so far:
 * a run of a day has a few hundred. A new maximum of RSS is read earlier, so that the reading with the largest RSS is
 * near the peak. With TPROF_MAX_OVERHEAD it is not, and as the next reading may be of more memory, twice the latest cost counts.
 */
#define SHARE 400
#define SPREAD 128
#define SHARE_HIGH 50
#define HIGH_PART 16 /* by that part of the highest RSS so far */
#define FIRST_NS 20000000
#define LEAST_NS 10000000
/*
 * At its end, a process that ran for less than this many times the cost of a reading has none. A reading costs a
 * millisecond, and 10 ns a page.
 */
#define SHARE_END 25
#define END_NS UINT64_C(1000000)
#define END_PAGE_NS 10
#define NEVER UINT64_MAX

#define REGIONS_MAX 2048u
#define MAPPINGS_MOST 16384u /* with more, nothing is read: it would stop a thread for 100 ms or more */
#define FILES_MAX 2048u	     /* a power of 2; half of it is used */

struct region {
	uintptr_t low, high;
	uint32_t kind, file;
	uint64_t kib[TPROF_REGION_SIZES];
};

/* All of this belongs to the thread that has the turn. */
static tpc_shared_u32 turn;
static struct region regions[REGIONS_MAX];
static size_t count, mappings;
static uint64_t left_out[TPROF_REGION_SIZES]; /* of mappings that did not fit */
static uint32_t own_file;		      /* the trace */
static char lines[16384];

/* Paths that are numbered in the trace, by a 64-bit hash. */
static struct {
	uint64_t hash; /* 0: unused */
	uint32_t number;
} files[FILES_MAX];
static uint32_t file_count;

#define COSTS 4
static uint64_t highest;      /* RSS at any reading */
static uint64_t costs[COSTS]; /* ticks that the last readings took */
static size_t next_cost;

/* The least of the last costs, as interruptions only add to them. 0: none is known. */
static uint64_t cost_of_one(void)
{
	uint64_t least = 0;

	for (size_t i = 0; i < COSTS; i++)
		least = costs[i] && (!least || costs[i] < least) ? costs[i] : least;
	return least;
}

static uint64_t hash_of(const char *path)
{
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * UINT64_C(1099511628211);
	return hash ? hash : 1;
}

/* 0: there are too many paths. */
static uint32_t number_of(const char *path)
{
	uint64_t hash = hash_of(path);
	size_t at = hash % FILES_MAX;

	while (files[at].hash && files[at].hash != hash)
		at = (at + 1) % FILES_MAX;
	if (files[at].hash)
		return files[at].number;
	if (file_count == FILES_MAX / 2)
		return 0;
	files[at].hash = hash;
	files[at].number = ++file_count;
	tpc_table_file(file_count, path, strnlen(path, TPC_TABLE_TEXT_MAX));
	return file_count;
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static uint32_t kind_of(const struct tpc_mapping *mapping)
{
	if (starts(mapping->path, "/dev/shm/") || starts(mapping->path, "/memfd:") || starts(mapping->path, "/SYSV") ||
	    starts(mapping->path, "/dev/zero"))
		return TPROF_REGION_SHARED;
	if (*mapping->path)
		return TPROF_REGION_FILE;
	if (mapping->shared)
		return TPROF_REGION_SHARED;
	if (starts(mapping->label, "[heap]"))
		return TPROF_REGION_HEAP;
	if (starts(mapping->label, "[stack"))
		return TPROF_REGION_STACK;
	return *mapping->label && !starts(mapping->label, "[anon") ? TPROF_REGION_OTHER : TPROF_REGION_ANONYMOUS;
}

/* ---- reading ---- */

static bool is_empty(const struct region *region)
{
	return !region->kib[TPROF_REGION_RSS] && !region->kib[TPROF_REGION_SWAP];
}

static void add_sizes(uint64_t *to, const uint64_t *from)
{
	for (size_t i = 0; i < TPROF_REGION_SIZES; i++)
		to[i] += from[i];
}

/*
 * The mappings of one file form one region. A region without resident memory is dropped, unless more of its file may
 * follow.
 */
static struct region *next_region(const struct region *region)
{
	struct region *last = count ? &regions[count - 1] : NULL;

	if (last && last->kind == TPROF_REGION_FILE && last->file && last->file == region->file) {
		last->high = region->high;
		return last;
	}
	if (last && is_empty(last))
		count--;
	if (count == REGIONS_MAX) {
		add_sizes(left_out, regions[--count].kib);
		regions[count].kind = TPROF_REGION_OTHER;
	}
	regions[count] = *region;
	return &regions[count++];
}

static void begin_region(const struct tpc_mapping *mapping)
{
	uintptr_t header = (uintptr_t)&tpc_header_area;
	struct region region = { mapping->range.low, mapping->range.high, kind_of(mapping), 0, { 0 } };

	if (*mapping->path)
		region.file = number_of(mapping->path);
	if (region.low <= header && header < region.high)
		own_file = region.file;
	next_region(&region);
}

static bool look_at(char *line, void *data)
{
	static const struct {
		const char *name;
		uint32_t size; /* enum tprof_region_size */
	} names[] = { { "Rss:", TPROF_REGION_RSS },
		      { "Pss:", TPROF_REGION_PSS },
		      { "Private_Clean:", TPROF_REGION_PRIVATE },
		      { "Private_Dirty:", TPROF_REGION_PRIVATE },
		      { "Anonymous:", TPROF_REGION_ANONYMOUS_PART },
		      { "Swap:", TPROF_REGION_SWAP } };
	struct tpc_mapping mapping;

	(void)data;
	if (tpc_maps_parse(line, &mapping)) {
		begin_region(&mapping);
		return ++mappings > MAPPINGS_MOST;
	}
	for (size_t i = 0; count && i < TPC_LENGTH(names); i++) {
		const char *at = line + strlen(names[i].name);
		uint64_t kib;

		if (!starts(line, names[i].name))
			continue;
		while (*at == ' ')
			at++;
		if (tpc_text_number(&at, &kib))
			regions[count - 1].kib[names[i].size] += kib;
		break;
	}
	return false;
}

/* ---- writing ---- */

static struct tpc_thread *writer;
static uint64_t written;

static void put_range(bool stack, uintptr_t low, uintptr_t high, uint64_t bytes)
{
	uint64_t kib[TPROF_REGION_SIZES] = { [TPROF_REGION_RSS] = bytes / 1024 };

	if (!bytes)
		return;
	tpc_emit_region(
		writer, tpc_clock_before(),
		&(struct tpc_region){ stack ? TPROF_REGION_THREAD_STACK : TPROF_REGION_OWN, low, high, 0, kib });
	written++;
}

static void write_regions(struct tpc_thread *thread)
{
	written = 0;
	for (size_t i = 0; i < count; i++) {
		const struct region *region = &regions[i];

		if (is_empty(region))
			continue;
		tpc_emit_region(
			thread, tpc_clock_before(),
			&(struct tpc_region){ own_file && region->file == own_file ? TPROF_REGION_TRACE : region->kind,
					      region->low, region->high, region->file, region->kib });
		written++;
	}
	if (left_out[TPROF_REGION_RSS] || left_out[TPROF_REGION_SWAP]) {
		tpc_emit_region(thread, tpc_clock_before(),
				&(struct tpc_region){ TPROF_REGION_OTHER, 0, 0, 0, left_out });
		written++;
	}
}

/* A reading that is incomplete has no end record, and readers skip it. */
static bool read_all(struct tpc_thread *thread)
{
	count = mappings = 0;
	own_file = 0;
	memset(left_out, 0, sizeof(left_out));
	if (!tpc_lines_each("/proc/self/smaps", lines, sizeof(lines), look_at, NULL) || !count ||
	    mappings > MAPPINGS_MOST)
		return false;
	write_regions(thread);
	writer = thread;
	if (tpc_resident_ranges(put_range))
		tpc_emit_region(thread, tpc_clock_before(),
				&(struct tpc_region){ TPROF_REGION_END, 0, 0, (uint32_t)written, left_out });
	return true;
}

/* ---- when ---- */

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void read_now(struct tpc_thread *thread, uint64_t ticks, uint64_t rss)
{
	uint64_t distance, took;

	tpc_usage_emit(thread, ticks); /* its page faults bound how much of a parent's memory was copied */
	if (!read_all(thread)) {
		tpc_store(&tpc_state.next_regions, NEVER);
		return;
	}
	took = tpc_clock_before() - ticks;
	costs[next_cost++ % COSTS] = took;
	highest = most(highest, rss);
	took = tpc_budget_is_on() ? 2 * took : cost_of_one();
	distance = most(took * tpc_budget_part(SHARE), (ticks - tpc_header->start.ticks) / SPREAD);
	tpc_store(&tpc_state.last_regions, ticks);
	tpc_store(&tpc_state.next_regions, ticks + most(distance, tpc_clock_ticks(LEAST_NS)));
}

static bool is_due(uint64_t ticks, uint64_t rss)
{
	uint64_t due = tpc_load(&tpc_state.next_regions), last = tpc_load(&tpc_state.last_regions);

	if (due == NEVER)
		return false;
	if (!last)
		return ticks >= tpc_header->start.ticks + tpc_clock_ticks(FIRST_NS);
	return ticks >= due || (rss > highest + highest / HIGH_PART && ticks >= last + cost_of_one() * SHARE_HIGH &&
				!tpc_budget_is_on());
}

void tpc_regions_due(struct tpc_thread *thread, uint64_t rss)
{
	uint64_t ticks = tpc_clock_before();

	if (!is_due(ticks, rss) || !tpc_trylock_take(&turn))
		return;
	if (is_due(ticks, rss)) /* no other thread has read it meanwhile */
		read_now(thread, ticks, rss);
	tpc_trylock_end(&turn);
}

void tpc_regions_at_end(struct tpc_thread *thread)
{
	uint64_t ticks = tpc_clock_before(), ran = ticks - tpc_header->start.ticks, takes;
	struct tpc_memory memory;

	if (tpc_load(&tpc_state.next_regions) == NEVER || ran < tpc_clock_ticks(END_NS * tpc_budget_part(SHARE_END)) ||
	    !tpc_memory(&memory))
		return;
	takes = END_NS + memory.rss / TPC_PAGE * END_PAGE_NS;
	if (ran < tpc_clock_ticks(takes * tpc_budget_part(SHARE_END)) || !tpc_trylock_take(&turn))
		return;
	read_now(thread, ticks, memory.rss);
	tpc_trylock_end(&turn);
}

void tpc_regions_forget(void)
{
	memset(files, 0, sizeof(files));
	file_count = 0;
	highest = 0;
	tpc_unshared(turn) = 0;
}
