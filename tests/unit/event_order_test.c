/* SPDX-License-Identifier: Apache-2.0 */
/* The event reader: order between threads, chunks that change hands, borders of windows and chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "reading.h"

/* On equal times frees go first, but not before what their own thread did before. */
static void test_order(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ 0 });
	struct reading reading;

	(void)state;
	do_alloc(gen, 1, 10, 0x1000);
	do_alloc(gen, 2, 20, 0x2000);
	do_alloc(gen, 1, 30, 0x3000); /* thread 1: alloc, free at 30; thread 2: free, alloc at 30 */
	gen_release(gen, 1, 30, 0x1000, TPROF_FN_FREE);
	gen_release(gen, 2, 30, 0x2000, TPROF_FN_FREE);
	do_alloc(gen, 2, 30, 0x2000);
	do_alloc(gen, 1, 40, 0x4000);
	reading = begin(gen);
	assert_int_equal(next(&reading, TPA_EVENT_ALLOC, 10)->thread, 1);
	assert_int_equal(next(&reading, TPA_EVENT_ALLOC, 20)->thread, 2);
	assert_int_equal(next(&reading, TPA_EVENT_FREE, 30)->thread, 2);
	assert_int_equal(next(&reading, TPA_EVENT_ALLOC, 30)->block.address, 0x3000);
	assert_int_equal(next(&reading, TPA_EVENT_FREE, 30)->block.address, 0x1000);
	assert_int_equal(next(&reading, TPA_EVENT_ALLOC, 30)->thread, 2);
	next(&reading, TPA_EVENT_ALLOC, 40);
	end(&reading, 0);
	gen_free(gen);
}

/* A thread fills a chunk and goes on in another within one tick: its order holds. */
static void test_order_across_chunks(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .tick_shift = 20 });
	uint64_t i, count = 3000;
	struct reading reading;

	(void)state;
	for (i = 0; i < count; i++) {
		if (i % 2)
			gen_release(gen, 1, 5, 0x1000 + 32 * (i / 2), TPROF_FN_FREE);
		else
			do_alloc(gen, 1, 5, 0x1000 + 32 * (i / 2));
	}
	reading = begin(gen);
	for (i = 0; i < count; i++)
		assert_int_equal(next(&reading, i % 2 ? TPA_EVENT_FREE : TPA_EVENT_ALLOC, 0)->block.address,
				 0x1000 + 32 * (i / 2));
	end(&reading, 0);
	gen_free(gen);
}

/* Threads that live one after the other share a chunk; others run beside. */
static void test_takeover(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .chunk_size = 65536 });
	uint32_t thread, seen[64] = { 0 }, changes = 0;
	const struct tpa_event *event;
	uint64_t i, time = 0;
	struct reading reading;

	(void)state;
	for (thread = 2; thread < 60; thread++) {
		for (i = 0; i < 20; i++) {
			time += 3;
			do_alloc(gen, 1, time, 0x100000 + time * 8);
			time += 3;
			do_alloc(gen, thread, time, 0x100000 + time * 8);
		}
		gen_end_thread(gen, thread);
	}
	assert_int_equal(gen_header(gen)->chunks, 2);
	reading = begin(gen);
	time = 0;
	while ((event = tpa_events_next(reading.events))) {
		assert_true(event->time >= time);
		time = event->time;
		if (event->kind == TPA_EVENT_THREAD) {
			changes++;
			continue;
		}
		assert_int_equal(event->block.address, 0x100000 + time * 8);
		assert_int_equal(event->tid, 4711 + event->thread - 1);
		seen[event->thread]++;
	}
	assert_int_equal(changes, 57);
	assert_int_equal(seen[1], 58 * 20);
	for (thread = 2; thread < 60; thread++)
		assert_int_equal(seen[thread], 20);
	end(&reading, 0);
	gen_free(gen);
}

/* Many windows of many chunks: nothing is lost at their borders. */
static void test_borders(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .chunk_size = 1 << 20, .start_ticks = 5 });
	uint64_t i, count = 400000;
	struct reading reading;

	(void)state;
	for (i = 0; i < count; i++) {
		struct gen_alloc alloc = { .address = 0x10000 + i * 6151 % 100003 * 16,
					   .size = i * i,
					   .node = (uint32_t)(i * 7919 % 50000) };

		if (i % 1000 == 999)
			gen_name(gen, 1, 5 + 100 * i, "name");
		else
			gen_alloc(gen, 1, 5 + 100 * i, &alloc);
	}
	reading = begin(gen);
	for (i = 0; i < count; i++) {
		const struct tpa_event *event;

		if (i % 1000 == 999) {
			event = next(&reading, TPA_EVENT_NAME, 5 + 100 * i);
			assert_memory_equal(event->name.text, "name", 4);
			continue;
		}
		event = next(&reading, TPA_EVENT_ALLOC, 5 + 100 * i);
		assert_int_equal(event->alloc.address, 0x10000 + i * 6151 % 100003 * 16);
		assert_int_equal(event->alloc.bytes, i * i);
		assert_int_equal(event->node, i * 7919 % 50000);
	}
	end(&reading, 0);
	gen_free(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_across_chunks),
		cmocka_unit_test(test_takeover),
		cmocka_unit_test(test_borders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
