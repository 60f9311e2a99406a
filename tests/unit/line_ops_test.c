/* SPDX-License-Identifier: Apache-2.0 */
/* The time of ops by the lines that called them, on a trace whose shares are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <unistd.h>

#include "replayed.h"
#include "report/rows/file_lines.h"

#define SOURCE "/home/me/train.py"

enum { TRAIN = 1, ONE, OTHER }; /* frames: lines 11, 12, 13 */
enum {
	BY_ONE = 21,
	BY_OTHER = 31,
	TWICE = 42
}; /* nodes: train calls the one; the other; the one, which calls itself */
enum { MM = 1, WITHIN, WAITS };

static void write_stacks(struct gen *gen)
{
	static const uint32_t one[] = { TRAIN, ONE }, other[] = { TRAIN, OTHER }, twice[] = { TRAIN, ONE, ONE };

	gen_code(gen, 1, 10, "train", SOURCE);
	for (uint32_t frame = TRAIN; frame <= OTHER; frame++)
		gen_python(gen, frame, 1, 10 + frame, 0);
	gen_nodes(gen, BY_ONE - 1, TPROF_NODE_ROOT, one, 2);
	gen_nodes(gen, BY_OTHER - 1, TPROF_NODE_ROOT, other, 2);
	gen_nodes(gen, TWICE - 2, TPROF_NODE_ROOT, twice, 3);
	gen_op(gen, MM, TPROF_OP_FUNCTION, "test", "mm");
	gen_op(gen, WITHIN, TPROF_OP_FUNCTION, "test", "within");
	gen_op(gen, WAITS, TPROF_OP_FUNCTION, "test", "waits");
}

/* mm takes 700 itself, with 8 samples: 6 by the one line, 2 by the other. What is within takes 100, with 1 by the one. */
static void write_events(struct gen *gen)
{
	gen_sample(gen, 1, 900, BY_OTHER, 1); /* in no op */
	gen_op_begin(gen, 1, 1000, MM);
	for (uint64_t i = 0; i < 5; i++)
		gen_sample(gen, 1, 1010 + i, BY_ONE, 1);
	gen_sample(gen, 1, 1020, TWICE, 1);
	gen_op_begin(gen, 1, 1100, WITHIN);
	gen_sample(gen, 1, 1150, BY_ONE, 1);
	gen_op_end(gen, 1, 1200, false);
	gen_op_end(gen, 1, 1600, false);
	gen_op_begin(gen, 1, 2000, MM);
	gen_sample(gen, 1, 2010, BY_OTHER, 1);
	gen_sample(gen, 1, 2020, BY_OTHER, 1);
	gen_op_end(gen, 1, 2200, false);
	gen_op_begin(gen, 1, 3000, WAITS);
	gen_op_end(gen, 1, 3500, false);
}

static const struct tpa_file_line *line_of(const struct tpa_file_lines *lines, int number)
{
	for (size_t i = 0; i < lines->count; i++)
		if (lines->list[i].line == number)
			return &lines->list[i];
	fail_msg("no line %d", number);
	return NULL;
}

static void near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-6)
		fail_msg("%f instead of %f", value, wanted);
}

static void test_shares(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct tpa_interval of_mm = tpa_interval_share(6, 8), of_within = tpa_interval_share(1, 1), interval;
	struct tpa_file_lines *lines = tpa_file_lines_new();
	struct tpa_symbols *symbols;
	struct replayed replayed;

	(void)state;
	write_stacks(gen);
	write_events(gen);
	gen_finish(gen, 4000, 0);
	replayed = replay(gen, NULL);
	symbols = tpa_symbols_open(replayed.trace, NULL);
	tpa_file_lines_add_ops(lines, &replayed.run->processes[0], symbols);
	near(lines->ops_ns, 700 + 100 + 500);
	near(lines->ops_unseen_ns, 500);
	near(line_of(lines, 11)->op_ns, 800);
	near(line_of(lines, 12)->op_ns, 700 * 6 / 8.0 + 100);
	near(line_of(lines, 13)->op_ns, 700 * 2 / 8.0);
	/* No more than there is; as little as the samples allow. */
	interval = tpa_file_line_op_interval(line_of(lines, 11));
	near(interval.high, 800);
	interval = tpa_file_line_op_interval(line_of(lines, 12));
	near(interval.low, 625 - hypot(700 * (0.75 - of_mm.low), 100 * (1 - of_within.low)));
	near(interval.high, 625 + 700 * (of_mm.high - 0.75));
	tpa_file_lines_free(lines);
	tpa_symbols_close(symbols);
	done(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_shares) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
