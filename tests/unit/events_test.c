/* SPDX-License-Identifier: Apache-2.0 */
/* The event reader: coding of every kind, what is damaged, what is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "reading.h"

static void test_every_kind(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 16, .tick_shift = 4 });
	struct gen_alloc plain = { .address = 0x7fffffff1230, .size = 40, .node = 17 };
	struct gen_alloc aligned = { .address = 0x7fffffff2000,
				     .size = 4096,
				     .usable = 5000,
				     .node = 99,
				     .fn = TPROF_FN_POSIX_MEMALIGN,
				     .alignment_log2 = 12 };
	struct gen_alloc odd = {
		.address = 0x1003, .size = 3, .usable = 13, .node = 4000000000u, .fn = TPROF_FN_NEW, .alignment_log2 = 1
	};
	const struct tpa_event *event;
	struct reading reading;

	(void)state;
	gen_alloc(gen, 1, 160, &plain);
	gen_alloc(gen, 1, 176, &aligned);
	gen_alloc(gen, 1, 192, &odd);
	gen_release(gen, 1, 208, odd.address, TPROF_FN_DELETE);
	gen_release(gen, 1, 224, plain.address, TPROF_FN_FREE);
	gen_release(gen, 1, 240, aligned.address, TPROF_FN_REALLOC);
	gen_cancel(gen, 1, 256);
	gen_map(gen, 1, 272, 0x7f0000000000, 12345, 0x22, 21);
	gen_unmap(gen, 1, 288, 0x7f0000001000, 4096, true);
	gen_memory(gen, 1, 304, 4096000, 8192000);
	gen_name(gen, 1, 320, "worker");
	gen_release(gen, 1, 336, plain.address, TPROF_FN_FREE);
	reading = begin(gen);

	event = next(&reading, TPA_EVENT_ALLOC, 10);
	assert_int_equal(event->alloc.address, plain.address);
	assert_int_equal(event->alloc.bytes, 40);
	assert_int_equal(event->alloc.usable, 40);
	assert_int_equal(event->node, 17);
	assert_int_equal(event->alloc.fn, TPROF_FN_MALLOC);
	assert_int_equal(event->thread, 1);
	assert_int_equal(event->tid, 4711);
	assert_int_equal(event->offset, 4096 + sizeof(struct tprof_chunk));
	event = next(&reading, TPA_EVENT_ALLOC, 11);
	assert_int_equal(event->alloc.address, aligned.address);
	assert_int_equal(event->alloc.usable, 5000);
	assert_int_equal(event->alloc.fn, TPROF_FN_POSIX_MEMALIGN);
	assert_int_equal(event->alloc.alignment_log2, 12);
	assert_int_equal(event->node, 99);
	event = next(&reading, TPA_EVENT_ALLOC, 12);
	assert_int_equal(event->alloc.address, 0x1003);
	assert_int_equal(event->alloc.usable, 13);
	assert_int_equal(event->node, 4000000000u);
	event = next(&reading, TPA_EVENT_FREE, 13);
	assert_int_equal(event->free.address, 0x1003);
	assert_string_equal(tpa_fn_name(event->free.fn), "delete");
	event = next(&reading, TPA_EVENT_FREE, 14);
	assert_int_equal(event->free.address, plain.address);
	assert_false(event->cancelled);
	event = next(&reading, TPA_EVENT_FREE, 15);
	assert_true(event->cancelled);
	next(&reading, TPA_EVENT_CANCEL, 16);
	event = next(&reading, TPA_EVENT_MAP, 17);
	assert_int_equal(event->map.address, 0x7f0000000000);
	assert_int_equal(event->map.length, 12345);
	assert_int_equal(event->map.prot, 3);
	assert_int_equal(event->map.flags, 0x22);
	assert_false(event->map.remap);
	event = next(&reading, TPA_EVENT_UNMAP, 18);
	assert_int_equal(event->unmap.address, 0x7f0000001000);
	assert_true(event->unmap.remap);
	event = next(&reading, TPA_EVENT_MEMORY, 19);
	assert_int_equal(event->memory.rss, 4096000);
	assert_int_equal(event->memory.vms, 8192000);
	event = next(&reading, TPA_EVENT_NAME, 20);
	assert_int_equal(event->name.length, 6);
	assert_memory_equal(event->name.text, "worker", 6);
	next(&reading, TPA_EVENT_FREE, 21);
	end(&reading, 0);
	gen_free(gen);
}

/* Ops, details, steps and marks; of the table too, with a number that has no record. */
static void test_ops(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 16, .tick_shift = 4 });
	const struct tpa_event *event;
	struct reading reading;

	(void)state;
	gen_op(gen, 1, TPROF_OP_ANNOTATION, "layer", "conv1");
	gen_op(gen, 3, TPROF_OP_ANNOTATION, "", "aten::addmm");
	gen_op_begin(gen, 1, 160, 1);
	gen_detail(gen, 1, 176, 1 << 20, 4096, "2x3,3x4");
	gen_op_begin(gen, 1, 192, 300);
	gen_op_end(gen, 1, 208, true);
	gen_op_end(gen, 1, 224, false);
	gen_step(gen, 1, 240, 64);
	gen_mark(gen, 1, 256, "epoch 2");
	gen_detail(gen, 1, 272, 0, 0, "");
	gen_release(gen, 1, 288, 0x1000, TPROF_FN_FREE);
	reading = begin(gen);

	assert_int_equal(reading.trace->op_count, 4);
	assert_string_equal(reading.trace->ops[1].name, "conv1");
	assert_string_equal(reading.trace->ops[1].category, "layer");
	assert_int_equal(reading.trace->ops[1].origin, TPROF_OP_ANNOTATION);
	assert_null(reading.trace->ops[2].name);
	assert_string_equal(reading.trace->ops[3].name, "aten::addmm");
	assert_string_equal(reading.trace->ops[3].category, "");
	assert_int_equal(next(&reading, TPA_EVENT_OP_BEGIN, 10)->op_begin.op, 1);
	event = next(&reading, TPA_EVENT_DETAIL, 11);
	assert_int_equal(event->detail.flop, 1 << 20);
	assert_int_equal(event->detail.bytes, 4096);
	assert_int_equal(event->detail.shape.length, 7);
	assert_memory_equal(event->detail.shape.text, "2x3,3x4", 7);
	assert_int_equal(next(&reading, TPA_EVENT_OP_BEGIN, 12)->op_begin.op, 300);
	assert_true(next(&reading, TPA_EVENT_OP_END, 13)->op_end.unwound);
	assert_false(next(&reading, TPA_EVENT_OP_END, 14)->op_end.unwound);
	assert_int_equal(next(&reading, TPA_EVENT_STEP, 15)->step.items, 64);
	event = next(&reading, TPA_EVENT_MARK, 16);
	assert_memory_equal(event->mark.text, "epoch 2", event->mark.length);
	assert_int_equal(next(&reading, TPA_EVENT_DETAIL, 17)->detail.shape.length, 0);
	next(&reading, TPA_EVENT_FREE, 18);
	end(&reading, 0);
	gen_free(gen);
}

/* Ops named by a function's address: until it is symbolized by the frame's number, and then by what it is given. */
static void test_op_codes(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct reading reading;

	(void)state;
	gen_module(gen, 1, 0x10000, 0x10000, 0x20000, "/usr/bin/program");
	gen_frame(gen, 7, 1, 0x100, TPROF_FRAME_EXACT);
	gen_op_code(gen, 1, TPROF_OP_FUNCTION, "openmp", 7);
	gen_op_code(gen, 2, TPROF_OP_FUNCTION, "", 99);		 /* its frame is not in the file */
	gen_op_code(gen, 3, TPROF_OP_FUNCTION, "", 4000000000u); /* out of range */
	gen_op_code(gen, 1, TPROF_OP_FUNCTION, "", 7);		 /* taken */
	gen_release(gen, 1, 10, 8, TPROF_FN_FREE);
	reading = begin(gen);
	assert_int_equal(reading.trace->damage_count, 2);
	assert_int_equal(reading.trace->frames[reading.trace->ops[1].frame].pc, 0x10100);
	assert_int_not_equal(reading.trace->ops[2].frame, 0);
	assert_int_equal(reading.trace->frames[reading.trace->ops[2].frame].pc, 0);
	assert_string_equal(reading.trace->ops[1].name, "frame 7");
	tpa_trace_rename_op(reading.trace, 1, "main._omp_fn.0");
	assert_string_equal(reading.trace->ops[1].name, "main._omp_fn.0");
	assert_string_equal(reading.trace->ops[1].category, "openmp");
	next(&reading, TPA_EVENT_FREE, 10);
	end(&reading, 2);
	gen_free(gen);
}

/* Reserved bits, a cut detail, numbers of ops that are taken or out of range: damage, and the rest is read. */
static void test_bad_ops(void **state)
{
	static const uint8_t tags[] = { 0x13, 0x27, 0x0b };
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct reading reading;
	uint32_t i;

	(void)state;
	gen_op(gen, 1, TPROF_OP_ANNOTATION, "", "one");
	gen_op(gen, 1, TPROF_OP_ANNOTATION, "", "two");
	gen_op(gen, 4000000000u, TPROF_OP_ANNOTATION, "", "far");
	for (i = 0; i < sizeof(tags); i++) {
		gen_release(gen, 1 + i, 10, 8, TPROF_FN_FREE);
		gen_raw(gen, 1 + i, 10, (uint8_t[]){ tags[i], 1, 1 }, 3);
	}
	gen_release(gen, 4, 10, 8, TPROF_FN_FREE);
	gen_long(gen, 4, 10, TPROF_EVENT_DETAIL, "\1\1", 2);
	reading = begin(gen);
	assert_int_equal(reading.trace->damage_count, 2);
	assert_string_equal(reading.trace->ops[1].name, "one");
	for (i = 0; i < 4; i++)
		next(&reading, TPA_EVENT_FREE, 10);
	end(&reading, 6);
	gen_free(gen);
}

/* Numbers of each length, as sizes, times and differences of addresses. */
static void test_numbers(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ 0 });
	uint64_t time = 0, address = 8;
	struct reading reading;
	unsigned bit;

	(void)state;
	for (bit = 0; bit < 61; bit++) {
		struct gen_alloc alloc = { .address = address ^ UINT64_C(8) << bit, .node = 1u << bit % 32 };

		alloc.size = bit % 2 ? (UINT64_C(1) << bit) - 1 : UINT64_C(1) << bit;
		alloc.usable = alloc.size + bit;
		time += bit < 58 ? UINT64_C(1) << bit : 0;
		gen_alloc(gen, 1, time, &alloc);
	}
	reading = begin(gen);
	for (bit = 0, time = 0; bit < 61; bit++) {
		const struct tpa_event *event;

		time += bit < 58 ? UINT64_C(1) << bit : 0;
		event = next(&reading, TPA_EVENT_ALLOC, time);
		assert_true(event->alloc.address == (address ^ UINT64_C(8) << bit));
		assert_int_equal(event->alloc.bytes, bit % 2 ? (UINT64_C(1) << bit) - 1 : UINT64_C(1) << bit);
		assert_int_equal(event->node, 1u << bit % 32);
	}
	end(&reading, 0);
	gen_free(gen);
}

/* Types that are not known are stepped over, however long; names larger than a window too. */
static void test_unknown_records(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .chunk_size = 1 << 20 });
	static const uint8_t zeros[3000];
	struct reading reading;
	const uint8_t *bytes;
	size_t size, at;
	uint8_t *copy;

	(void)state;
	do_alloc(gen, 1, 10, 0x1000);
	gen_long(gen, 1, 10, 60, zeros, sizeof(zeros));
	gen_long(gen, 1, 10, 63, zeros, 0);
	do_alloc(gen, 1, 20, 0x2000);
	reading = begin(gen);
	next(&reading, TPA_EVENT_ALLOC, 10);
	next(&reading, TPA_EVENT_ALLOC, 20);
	end(&reading, 0);

	/* The same by hand with 300,000 bytes, which no window holds. */
	bytes = gen_bytes(gen, &size);
	copy = calloc(1, size);
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	at = 4096 + sizeof(struct tprof_chunk);
	memcpy(copy + at, "\xf0\xe0\xa7\x12", 4);	   /* type 60, 300000 bytes */
	memcpy(copy + at + 4 + 300000, "\x02\x05\x02", 3); /* a free at 15 */
	((struct tprof_chunk *)(copy + 4096))->committed = 300007;
	{
		const char *name = gen_save_bytes(copy, size);
		char *error;

		reading.trace = tpa_trace_open(name, &error);
		unlink(name);
		assert_non_null(reading.trace);
		reading.events = tpa_events_open(reading.trace);
	}
	assert_int_equal(next(&reading, TPA_EVENT_FREE, 15)->free.address, 8);
	end(&reading, 0);
	free(copy);
	gen_free(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),	cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_unknown_records), cmocka_unit_test(test_ops),
		cmocka_unit_test(test_bad_ops),		cmocka_unit_test(test_op_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
