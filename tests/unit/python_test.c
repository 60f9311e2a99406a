/* SPDX-License-Identifier: Apache-2.0 */
/* Joined stacks as the reader makes them, and what it says of such that make no sense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/trace.h"
#include "tracegen.h"

enum { MAIN = 1, LOOP, GLUE, LEAF, OUTER, NEXT, INNER, DESERTED };

static struct gen *make(void)
{
	static const uint32_t native[] = { MAIN, LOOP, GLUE, LOOP, LEAF }, python[] = { OUTER, NEXT, INNER };
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 1000 });

	gen_text(gen, TPROF_TEXT_EXE, "/usr/bin/python3", 16);
	gen_module(gen, 1, 0x1000, 0x1000, 0x9000, "/usr/bin/python3");
	for (uint32_t frame = MAIN; frame <= LEAF; frame++)
		gen_frame(gen, frame, 1, 16 * frame, frame == LOOP ? TPROF_FRAME_LOOP : 0);
	gen_code(gen, 1, 10, "train", "/home/me/train.py");
	gen_python(gen, OUTER, 1, 11, TPROF_PYTHON_ENTRY);
	gen_python(gen, NEXT, 1, 12, 0);
	gen_python(gen, INNER, 1, 13, TPROF_PYTHON_ENTRY);
	gen_python(gen, DESERTED, 0, 0, TPROF_PYTHON_ENTRY);
	gen_nodes(gen, 20, TPROF_NODE_ROOT, native, 5); /* 20 to 24 */
	gen_nodes(gen, 30, TPROF_NODE_ROOT, python, 3); /* 30 to 32 */
	return gen;
}

static struct tpa_trace *open_it(struct gen *gen)
{
	char path[] = "/tmp/python_test.XXXXXX", *error = NULL;
	int fd = mkstemp(path);
	size_t size;
	const uint8_t *bytes = gen_bytes(gen, &size);
	struct tpa_trace *trace;

	assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	close(fd);
	trace = tpa_trace_open(path, &error);
	unlink(path);
	assert_non_null(trace);
	return trace;
}

/* The test's own number of a frame. */
static uint32_t number_of(const struct tpa_frame *frame)
{
	return frame->code ? (uint32_t)(OUTER + frame->line - 11) : (uint32_t)((frame->pc - 0x1000) / 16);
}

static void expect(const struct tpa_trace *trace, uint32_t node, const uint32_t *wanted, size_t count,
		   uint32_t wanted_end)
{
	uint32_t frames[32], end;

	assert_int_equal(tpa_trace_stack(trace, tpa_trace_node(trace, node), frames, 32, &end), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(number_of(&trace->frames[frames[i]]), wanted[i]);
	assert_int_equal(end, wanted_end);
}

static void test_in_their_places(void **state)
{
	static const uint32_t whole[] = { LEAF, LOOP, GLUE, LOOP, MAIN };
	static const uint32_t both[] = { LEAF, INNER, LOOP, GLUE, NEXT, OUTER, LOOP, MAIN };
	static const uint32_t one[] = { NEXT, OUTER, LOOP, MAIN };
	static const uint32_t without_inner[] = { LEAF, NEXT, OUTER, LOOP, GLUE, LOOP, MAIN };
	struct gen *gen = make();
	struct tpa_trace *trace;

	(void)state;
	gen_join(gen, 40, 24, 32);
	gen_join(gen, 41, 21, 31);
	gen_join(gen, 42, 24, 31); /* fewer calls than native frames: what is left of these is native */
	gen_join(gen, 43, 24, 32); /* the same again */
	trace = open_it(gen);
	expect(trace, 24, whole, 5, TPROF_NODE_ROOT);
	expect(trace, 40, both, 8, TPROF_NODE_ROOT);
	expect(trace, 41, one, 4, TPROF_NODE_ROOT);
	expect(trace, 42, without_inner, 7, TPROF_NODE_ROOT);
	assert_int_equal(tpa_trace_node(trace, 43), tpa_trace_node(trace, 40));
	assert_string_equal(trace->codes[1].file, "/home/me/train.py");
	assert_string_equal(trace->codes[1].name, "train");
	assert_int_equal(trace->damage_count, 0);
	tpa_trace_close(trace);
	gen_free(gen);
}

/* A call of the loop whose frames are gone has its native frame, and no other takes its place. */
static void test_deserted(void **state)
{
	static const uint32_t last[] = { OUTER, NEXT, DESERTED }, middle[] = { OUTER, DESERTED, INNER };
	static const uint32_t in_loop[] = { LEAF, LOOP, GLUE, NEXT, OUTER, LOOP, MAIN };
	static const uint32_t around[] = { LEAF, INNER, LOOP, GLUE, LOOP, MAIN, OUTER };
	static const uint32_t beyond[] = { LEAF, INNER, LOOP, OUTER };
	static const uint32_t cut[] = { LOOP, LEAF };
	struct gen *gen = make();
	struct tpa_trace *trace;

	(void)state;
	gen_nodes(gen, 50, TPROF_NODE_ROOT, last, 3);
	gen_nodes(gen, 53, TPROF_NODE_ROOT, middle, 3);
	gen_nodes(gen, 56, TPROF_NODE_CUT, cut, 2);
	gen_join(gen, 60, 24, 52);
	gen_join(gen, 61, 24, 55);
	gen_join(gen, 62, 57, 55);
	trace = open_it(gen);
	expect(trace, 60, in_loop, 7, TPROF_NODE_ROOT);
	expect(trace, 61, around, 7, TPROF_NODE_ROOT);
	expect(trace, 62, beyond, 4, TPROF_NODE_ROOT);
	assert_int_equal(trace->damage_count, 0);
	tpa_trace_close(trace);
	gen_free(gen);
}

/* A native stack that was cut keeps the rest of Python's; a Python stack that was cut cuts the whole. */
static void test_ends(void **state)
{
	static const uint32_t cut[] = { LOOP, LEAF }, inner[] = { NEXT, INNER };
	static const uint32_t goes_on[] = { LEAF, INNER, LOOP, NEXT, OUTER };
	static const uint32_t ends[] = { LEAF, INNER, LOOP, GLUE, NEXT, LOOP };
	struct gen *gen = make();
	struct tpa_trace *trace;

	(void)state;
	gen_nodes(gen, 50, TPROF_NODE_CUT, cut, 2);
	gen_nodes(gen, 52, TPROF_NODE_CUT, inner, 2);
	gen_join(gen, 60, 51, 32);
	gen_join(gen, 61, 24, 53);
	trace = open_it(gen);
	expect(trace, 60, goes_on, 5, TPROF_NODE_ROOT);
	expect(trace, 61, ends, 6, TPROF_NODE_CUT);
	tpa_trace_close(trace);
	gen_free(gen);
}

static void test_nonsense(void **state)
{
	static const uint32_t whole[] = { LEAF, LOOP, GLUE, LOOP, MAIN };
	struct gen *gen = make();
	struct tpa_trace *trace;

	(void)state;
	gen_join(gen, 40, 24, 0);  /* no Python stack */
	gen_join(gen, 41, 0, 32);  /* no native one */
	gen_join(gen, 22, 21, 16); /* a number that is taken */
	gen_join(gen, 42, 24, 39); /* a Python node that is not there */
	gen_join(gen, 50, 60, 32); /* a node that comes later: the chunk ends here */
	trace = open_it(gen);
	expect(trace, 40, whole, 5, TPROF_NODE_ROOT);
	expect(trace, 41, (const uint32_t[]){ INNER, NEXT, OUTER }, 3, TPROF_NODE_ROOT);
	expect(trace, 22, whole + 2, 3, TPROF_NODE_ROOT);
	expect(trace, 42, whole, 5, TPROF_NODE_ROOT);
	assert_true(trace->damage_count >= 2);
	tpa_trace_close(trace);
	gen_free(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_their_places),
		cmocka_unit_test(test_deserted),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
