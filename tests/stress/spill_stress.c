/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads record into a trace file whose disk is full at times, so that their chunks wait in memory. Whatever the
 * disk says at the end, each event is in the file or counted as lost; and where there is room at last, each is in the
 * file, also those of threads that record on beside the end.
 */
#include "harness.h"

#include "core/spill.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/emit.h"
#include "core/output.h"
#include "core/process.h"
#include "core/recorded.h"
#include "core/reserve.h"
#include "core/state.h"
#include "core/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define EVENTS 30000 /* of a thread at least */
#define TURNS 60

static char path[] = "/tmp/spill_stress.XXXXXX";
static uint32_t disk_full, halt;
/*
 * All attach before one ends: a later thread would take over a dead one's struct, and that the kernel no longer knows the
 * dead one, which is what orders the two, ThreadSanitizer can't see.
 */
static pthread_barrier_t met;
static uint64_t events[THREADS], records[THREADS];

/* ---- the disk; the linker puts these in place of core/reserve.c's, which are __real_ ---- */

int __real_tpc_reserve_space(int fd, uint64_t offset, uint64_t length);
int __wrap_tpc_reserve_space(int fd, uint64_t offset, uint64_t length);
void *__wrap_tpc_reserve_map(int fd, uint64_t offset, uint64_t length, int *error);

int __wrap_tpc_reserve_space(int fd, uint64_t offset, uint64_t length)
{
	return offset && tpc_load(&disk_full) ? -ENOSPC : __real_tpc_reserve_space(fd, offset, length);
}

/* By libc, which tells ThreadSanitizer that this is new memory, whoever had these addresses before. */
void *__wrap_tpc_reserve_map(int fd, uint64_t offset, uint64_t length, int *error)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	*error = p == MAP_FAILED ? -errno : 0;
	return p == MAP_FAILED ? NULL : p;
}

/* ---- the threads ---- */

/* What hooks do when a sample of memory is due. */
static void settle(struct tpc_thread *thread)
{
	tpc_spill_write(TPC_SPILL_AT_ONCE);
	tpc_spill_settle(thread->chunk);
}

static void record(struct tpc_thread *thread, size_t me, uint64_t i)
{
	struct tpc_block block = { .address = (i + 1) * 16, .size = i, .usable = tprof_usable_guess(i) };

	thread->busy = TPC_BUSY_RECORD;
	tpc_emit_alloc(thread, tpc_clock_after(), &block);
	events[me]++;
	if (i % 4 == 0)
		tpc_table_value(records[me]++, &"0123"[me], 1);
	if (i % 1024 == 0 && tpc_spill_waits())
		settle(thread);
	thread->busy = TPC_IDLE;
}

/* Before there is no place left in memory, which ends recording: on a busy machine the disk may be full for long. */
static void wait_for_places(void)
{
	while (tpc_load(&tpc_header->chunks_aside) > TPC_SPILL_MOST / 2 && tpc_load(&disk_full) && !tpc_load(&halt))
		sched_yield();
}

static void *work(void *argument)
{
	size_t me = (size_t)(uintptr_t)argument;
	struct tpc_thread *thread = tpc_thread_attach();

	HARNESS_CHECK(thread);
	pthread_barrier_wait(&met);
	for (uint64_t i = 0; i < EVENTS || (me % 2 && !tpc_load(&halt)); i++) {
		if (i % 1024 == 0)
			wait_for_places();
		record(thread, me, i);
	}
	return NULL;
}

/* A disk that is full again and again; what the process's end does, beside threads that record on. */
static void fill_and_empty(void)
{
	for (int turn = 0; turn < TURNS; turn++) {
		tpc_store(&disk_full, 1u);
		while (!tpc_spill_waits())
			sched_yield();
		usleep(100);
		tpc_store(&disk_full, 0u);
		tpc_spill_end();
	}
	tpc_store(&disk_full, 1u);
	while (!tpc_spill_waits())
		sched_yield();
}

/* ---- the file ---- */

static void read_tables(const struct tprof_chunk *chunk, uint8_t *seen[THREADS])
{
	const uint8_t *p = (const uint8_t *)(chunk + 1), *end = p + chunk->committed;

	while (p < end) {
		uint64_t value = 0;

		HARNESS_CHECK(*p == TPROF_TABLE_VALUE << 2);
		for (unsigned int shift = 0, more = 1; more; shift += 7, p++) {
			value |= (uint64_t)(p[2] & 0x7f) << shift;
			more = p[2] & 0x80;
		}
		HARNESS_CHECK(p[2] >= '0' && p[2] < '0' + THREADS);
		HARNESS_CHECK(value < records[p[2] - '0'] && !seen[p[2] - '0'][value]);
		seen[p[2] - '0'][value] = 1;
		p += 3;
	}
}

static uint64_t read_trace(uint8_t *seen[THREADS])
{
	int fd = open(path, O_RDONLY);
	const char *file =
		mmap(NULL, TPROF_HEADER_SIZE + tpc_header->chunks * TPROF_CHUNK_SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	struct stat status;
	uint64_t found = 0;

	HARNESS_CHECK(file != MAP_FAILED && fstat(fd, &status) == 0);
	for (uint64_t at = TPROF_HEADER_SIZE; at + TPROF_CHUNK_SIZE <= (uint64_t)status.st_size;
	     at += TPROF_CHUNK_SIZE) {
		const struct tprof_chunk *chunk = (const struct tprof_chunk *)(file + at);

		if (chunk->magic != TPROF_CHUNK_MAGIC)
			continue;
		found += tpc_recorded_count(chunk);
		if (chunk->kind == TPROF_CHUNK_TABLES)
			read_tables(chunk, seen);
	}
	return found;
}

static void check(bool full)
{
	uint64_t all = 0, found, short_of = 0;
	uint8_t *seen[THREADS];

	for (size_t i = 0; i < THREADS; i++) {
		seen[i] = calloc(records[i], 1);
		HARNESS_CHECK(seen[i]);
		all += events[i];
	}
	found = read_trace(seen);
	for (size_t i = 0; i < THREADS; i++)
		for (uint64_t k = 0; k < records[i]; k++)
			short_of += !seen[i][k];
	printf("aside: disk %s at the end: %lu events of %lu, %lu lost, %lu records short, %lu chunks\n",
	       full ? "full" : "empty", found, all, tpc_header->lost[TPROF_LOST_NO_SPACE], short_of,
	       tpc_header->chunks);
	HARNESS_CHECK(found + tpc_header->lost[TPROF_LOST_NO_SPACE] == all);
	HARNESS_CHECK(tpc_header->chunks_aside == 0 && !tpc_spill_waits());
	/* All that waited for room at the end may have been a chunk of tables. */
	HARNESS_CHECK(full == (found < all || short_of));
	/* Whether table records are missing is said. */
	HARNESS_CHECK(short_of ? tpc_header->tables_from != 0 : full || !tpc_header->tables_from);
	HARNESS_CHECK(full == ((tpc_header->flags & TPROF_FLAG_STOPPED) != 0));
}

/* ---- */

static void start(void)
{
	static struct tpc_identity identity;
	const char *reason;
	int fd = mkstemp(path);

	HARNESS_CHECK(fd >= 0);
	close(fd);
	unlink(path);
	tpc_config.output = path;
	tpc_clock_start();
	tpc_identify(&identity);
	tpc_state.pid = identity.pid;
	tpc_header = tpc_output_create(&identity, 0, NULL, &reason);
	HARNESS_CHECK(tpc_header);
	tpc_emit_shift = tpc_header->tick_shift;
	tpc_store_release(&tpc_state.mode, (uint32_t)TPC_MODE_ON);
}

static void run(bool full)
{
	pthread_t threads[THREADS];

	start();
	pthread_barrier_init(&met, NULL, THREADS);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	fill_and_empty();
	tpc_store(&halt, 1u);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	tpc_store(&disk_full, (uint32_t)full);
	tpc_spill_end();
	check(full);
	unlink(path);
}

int main(void)
{
	for (int full = 0; full < 2; full++) {
		int status;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			run(full);
			exit(0);
		}
		HARNESS_CHECK(waitpid(child, &status, 0) == child && status == 0);
	}
	return 0;
}
