/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_stress [TRACE LIST]: batches of four threads write random events of every kind. A batch takes over what the one
 * before left, half-full chunks included; no two threads get the same. With arguments the chunks become a trace file,
 * and what was written into them a list, which tests/unit/roundtrip_test.c holds against it.
 */
#include "harness.h"
#include "roundtrip.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/state.h"
#include "core/sys.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4
#define BATCHES 8
#define EVENTS 12000 /* a thread's */

static struct roundtrip_event *written[BATCHES * THREADS];
static struct tpc_thread *structs[THREADS];
static pthread_barrier_t met;

static uint64_t draw(uint64_t *random)
{
	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *random >> 11;
}

/* A number of up to `bits` bits, small ones as often as large ones. */
static uint64_t number(uint64_t *random, unsigned int bits)
{
	return draw(random) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - (1 + draw(random) % bits));
}

static void put_block(struct tpc_thread *thread, uint64_t *random, struct roundtrip_event *event)
{
	uint64_t address = number(random, 47) << (draw(random) % 8 ? 3 : 0); /* some have no short form */

	if (draw(random) % 4 == 0)
		address = 0x7f0000000000 + draw(random) % 300 * 64; /* and some come again and again */
	event->address = address;
	if (event->kind == ROUNDTRIP_FREE) {
		event->fn = (uint8_t)(TPROF_FN_FREE + draw(random) % 8);
		tpc_emit_free(thread, tpc_clock_before(), address, event->fn);
		return;
	}
	event->size = number(random, 40);
	event->usable = draw(random) % 2 ? tprof_usable_guess(event->size) : event->size + number(random, 20);
	event->node = (uint32_t)number(random, 31);
	event->fn = (uint8_t)(draw(random) % 14);
	event->alignment = event->fn == TPROF_FN_MALLOC && !(address & 7) ? 0 : (uint8_t)(draw(random) % 20);
	tpc_emit_alloc(thread, tpc_clock_after(),
		       &(struct tpc_block){ .address = address,
					    .size = event->size,
					    .usable = event->usable,
					    .node = event->node,
					    .fn = event->fn,
					    .alignment = event->alignment });
}

static void put_mapping(struct tpc_thread *thread, uint64_t *random, struct roundtrip_event *event)
{
	event->address = number(random, 35) * TPC_PAGE;
	event->size = number(random, 40);
	if (event->kind == ROUNDTRIP_UNMAP) {
		event->flag = draw(random) % 2;
		tpc_emit_unmap(thread, tpc_clock_before(), event->address, event->size, event->flag);
		return;
	}
	event->flag = draw(random) % 2;
	event->usable = number(random, 20);
	event->protection = draw(random) % 8;
	event->node = (uint32_t)number(random, 31);
	tpc_emit_map(thread, tpc_clock_after(),
		     &(struct tpc_map){ .address = event->address,
					.length = event->size,
					.protection = event->protection,
					.flags = event->usable | (event->flag ? TPROF_MAP_REMAP : 0),
					.node = event->node });
}

static void put_text(uint64_t *random, struct roundtrip_event *event)
{
	size_t length = draw(random) % sizeof(event->text);

	for (size_t i = 0; i < length; i++)
		event->text[i] = (char)('a' + draw(random) % 26);
}

static void put_other(struct tpc_thread *thread, uint64_t *random, struct roundtrip_event *event)
{
	uint64_t now = tpc_clock_before();

	event->size = number(random, 40);
	event->usable = number(random, 40);
	switch (event->kind) {
	case ROUNDTRIP_MEMORY:
		event->size *= TPC_PAGE;
		event->usable *= TPC_PAGE;
		tpc_emit_memory(thread, now, &(struct tpc_memory){ event->size, event->usable, 0 }, NULL);
		break;
	case ROUNDTRIP_SAMPLE:
		event->node = (uint32_t)number(random, 31);
		tpc_emit_sample(thread, now, event->node, event->size);
		break;
	case ROUNDTRIP_OP:
		event->size = 1 + number(random, 20);
		tpc_emit_op(thread, now, (uint32_t)event->size);
		break;
	case ROUNDTRIP_OP_END:
		event->flag = draw(random) % 2;
		tpc_emit_op_end(thread, now, event->flag);
		break;
	case ROUNDTRIP_STEP:
		tpc_emit_step(thread, now, event->size);
		break;
	case ROUNDTRIP_DETAIL:
		put_text(random, event);
		tpc_emit_detail(thread, now, event->text, event->size, event->usable);
		break;
	case ROUNDTRIP_MARK:
		put_text(random, event);
		tpc_emit_mark(thread, now, event->text);
		break;
	case ROUNDTRIP_CANCEL:
		tpc_emit_cancel(thread, now);
		break;
	}
}

static void put(struct tpc_thread *thread, uint64_t *random, struct roundtrip_event *event)
{
	uint64_t kind = draw(random) % (2 * ROUNDTRIP_KINDS);

	event->thread = thread->number;
	event->kind = kind < ROUNDTRIP_KINDS ? (uint32_t)kind : kind % 2 ? ROUNDTRIP_ALLOC : ROUNDTRIP_FREE;
	if (event->kind == ROUNDTRIP_ALLOC || event->kind == ROUNDTRIP_FREE)
		put_block(thread, random, event);
	else if (event->kind == ROUNDTRIP_MAP || event->kind == ROUNDTRIP_UNMAP)
		put_mapping(thread, random, event);
	else
		put_other(thread, random, event);
	event->time = thread->time;
}

static void *work(void *argument)
{
	size_t i = (size_t)(uintptr_t)argument;
	uint64_t random = i + 1;
	struct tpc_thread *thread;

	pthread_barrier_wait(&met);
	thread = tpc_thread_attach();
	/* An atomic read: another thread may try to take the struct over at this moment, in vain. */
	HARNESS_CHECK(thread && thread == tpc_self && tpc_load(&thread->tid) == (uint32_t)gettid());
	structs[i % THREADS] = thread;
	thread->busy = TPC_BUSY_RECORD;
	for (size_t k = 0; k < EVENTS; k++)
		put(thread, &random, &written[i][k]);
	thread->busy = TPC_IDLE;
	pthread_barrier_wait(&met);
	return NULL;
}

static void run_batch(size_t batch)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&met, NULL, THREADS);
	for (size_t i = 0; i < THREADS; i++) {
		size_t index = batch * THREADS + i;

		written[index] = calloc(EVENTS, sizeof(*written[index]));
		HARNESS_CHECK(written[index]);
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)index);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < THREADS; i++) /* joined, and the kernel may know them still: then none is taken over */
		while (tpc_sys_thread_lives(tpc_state.pid, tpc_load(&structs[i]->tid)))
			sched_yield();
	pthread_barrier_destroy(&met);
	for (size_t i = 0; i < THREADS; i++)
		for (size_t k = 0; k < i; k++)
			HARNESS_CHECK(structs[i] != structs[k]);
}

/* ---- for the reader ---- */

static void put_bytes(FILE *file, const void *bytes, size_t size)
{
	HARNESS_CHECK(fwrite(bytes, size, 1, file) == 1);
}

static void write_trace(const char *path)
{
	static uint8_t page[TPROF_HEADER_SIZE];
	FILE *file = fopen(path, "wbe");

	HARNESS_CHECK(file);
	memcpy(tpc_header->magic, TPROF_MAGIC, sizeof(tpc_header->magic));
	tpc_header->version = TPROF_VERSION;
	tpc_header->header_size = TPROF_HEADER_SIZE;
	tpc_header->chunk_size = TPROF_CHUNK_SIZE;
	tpc_header->page_size = TPC_PAGE;
	tpc_header->clock = tpc_clock_kind;
	tpc_header->tick_shift = tpc_emit_shift;
	tpc_header->chunks = harness_chunk_count();
	tpc_header->end = TPROF_END_EXIT;
	tpc_header->finish = tpc_clock_moment();
	memcpy(page, tpc_header, sizeof(*tpc_header));
	put_bytes(file, page, sizeof(page));
	for (size_t i = 0; i < harness_chunk_count(); i++)
		put_bytes(file, harness_chunk(i), TPROF_CHUNK_SIZE);
	HARNESS_CHECK(fclose(file) == 0);
}

static void write_list(const char *path)
{
	FILE *file = fopen(path, "wbe");

	HARNESS_CHECK(file);
	for (size_t i = 0; i < BATCHES * THREADS; i++)
		put_bytes(file, written[i], EVENTS * sizeof(*written[i]));
	HARNESS_CHECK(fclose(file) == 0);
}

/* However many threads there were: a stamp is held against another's once two have allocated. */
static void check_who_shares_the_clock(void)
{
	for (size_t i = 0; i < THREADS; i++) {
		HARNESS_CHECK(tpc_clock_is_shared() == (i > 1));
		tpc_thread_allocates(structs[i]);
	}
}

int main(int argc, char **argv)
{
	size_t made = 0;

	tpc_clock_start();
	harness_start();
	tpc_state.pid = (uint32_t)getpid();
	tpc_emit_shift = 4;
	tpc_header->start = tpc_clock_moment();
	for (size_t batch = 0; batch < BATCHES; batch++)
		run_batch(batch);
	for (const struct tpc_thread *thread = structs[0]; thread; thread = thread->next)
		made++;
	HARNESS_CHECK(made <= THREADS); /* all batches had the same */
	HARNESS_CHECK(tpc_header->threads == BATCHES * THREADS);
	check_who_shares_the_clock();
	if (argc == 3) {
		write_trace(argv[1]);
		write_list(argv[2]);
	}
	printf("events: %d by %d threads, %zu chunks\n", EVENTS * BATCHES * THREADS, BATCHES * THREADS,
	       harness_chunk_count());
	return 0;
}
