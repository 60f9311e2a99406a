/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline's points against what was live, by hand: peaks, quiet stretches, joined intervals, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/samples/timeline.h"

static struct tpa_timeline timeline;
static struct tpa_point now, *points;

/* A timeline of so many points at most; 0: as many as there are. */
static void begin(uint32_t most)
{
	now = (struct tpa_point){ .live_bytes = 0 };
	tpa_timeline_init(&timeline, most);
}

/* Live bytes change to `bytes` at `time`, as a replay tells it. */
static void change(uint64_t time, uint64_t bytes)
{
	tpa_timeline_advance(&timeline, time, &now);
	now.live_bytes = bytes;
	tpa_timeline_record(&timeline, time, &now);
}

/* Returns how many points there are; the caller frees them. */
static size_t finish(uint64_t time)
{
	size_t count;

	points = tpa_timeline_finish(&timeline, time, &now, &count);
	return count;
}

static void assert_point(const struct tpa_point *point, uint64_t time, uint64_t bytes)
{
	assert_int_equal(point->time_ns, time);
	assert_int_equal(point->live_bytes, bytes);
}

/* Nothing happens for long: what lives then has a point where its stretch begins, or a line would lead slantwise through it. */
static void test_quiet_stretch(void **state)
{
	(void)state;
	begin(0);
	change(100, 50);
	change(100, 20); /* in the interval [100, 101) */
	change(200, 70);
	assert_int_equal(finish(300), 4);
	assert_point(&points[0], 100, 50);
	assert_point(&points[1], 101, 20); /* from there on */
	assert_point(&points[2], 200, 70);
	assert_point(&points[3], 300, 70);
	free(points);
}

/* Of neighbouring intervals there is none between. */
static void test_no_stretch_between_neighbours(void **state)
{
	(void)state;
	begin(0);
	change(100, 50);
	change(101, 20);
	change(102, 10);
	change(104, 5); /* [103, 104) is empty */
	/* What is live at an interval's begin counts in it. */
	assert_int_equal(finish(104), 6);
	assert_point(&points[0], 100, 50);
	assert_point(&points[1], 101, 50);
	assert_point(&points[2], 102, 20);
	assert_point(&points[3], 103, 10);
	assert_point(&points[4], 104, 10);
	assert_point(&points[5], 104, 5); /* after the last event */
	free(points);
}

/* However long: as few points as were asked for, in order, with the exact peak and the end. */
static void test_joined(void **state)
{
	uint64_t peak_time = 0, peak = 0, found = 0;
	size_t count;

	(void)state;
	begin(16);
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t bytes = i * 7919 % 10007;

		if (bytes > peak) {
			peak = bytes;
			peak_time = 5 + i * i;
		}
		change(5 + i * i, bytes);
	}
	count = finish(100000000);
	assert_in_range(count, 8, 16);
	for (size_t i = 1; i < count; i++)
		assert_true(points[i].time_ns > points[i - 1].time_ns);
	for (size_t i = 0; i < count; i++)
		if (points[i].live_bytes > points[found].live_bytes)
			found = i;
	assert_point(&points[found], peak_time, peak);
	assert_point(&points[count - 1], 100000000, now.live_bytes);
	free(points);
}

/* The last event frees a block in an interval that it begins: before it more was live, after it that is not so. */
static void test_end(void **state)
{
	(void)state;
	begin(0);
	change(100, 50);
	change(200, 20);
	assert_int_equal(finish(200), 4);
	assert_point(&points[2], 200, 50);
	assert_point(&points[3], 200, 20);
	free(points);
}

/* What was live at that time: a point's values hold until the next one. */
static uint64_t held_at(size_t count, uint64_t time)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count && points[i].time_ns <= time; i++)
		bytes = points[i].live_bytes;
	return bytes;
}

/* However often intervals are joined, a peak does not last through the quiet time behind it. */
static void test_peak_before_quiet_time(void **state)
{
	uint64_t peak = 0;
	size_t count;

	(void)state;
	begin(32);
	change(1000, 5);
	change(1010, 100000);
	change(1020, 7);
	for (uint64_t i = 0; i < 1000; i++)
		change(50000 + 50 * i, 8 + i % 2);
	count = finish(100000);
	assert_in_range(count, 8, 32);
	for (size_t i = 0; i < count; i++)
		peak = points[i].live_bytes > peak ? points[i].live_bytes : peak;
	assert_int_equal(peak, 100000);
	assert_int_equal(held_at(count, 1010), 100000);
	for (uint64_t time = 1020 + 100000 / 8; time <= 100000; time += 100)
		assert_in_range(held_at(count, time), 7, 9);
	free(points);
}

/* The largest RSS is a point, though no block was allocated then. */
static void test_largest_rss(void **state)
{
	size_t count, found = 0;

	(void)state;
	begin(32);
	for (uint64_t i = 0; i < 5000; i++) {
		change(1000 + 10 * i, i % 3);
		tpa_timeline_advance(&timeline, 1005 + 10 * i, &now);
		now.rss = i == 2718 ? 5000000 : 4000 + i % 7;
		tpa_timeline_record_rss(&timeline, 1005 + 10 * i, &now);
	}
	count = finish(60000);
	assert_in_range(count, 8, 32);
	for (size_t i = 0; i < count; i++)
		if (points[i].rss > points[found].rss)
			found = i;
	assert_int_equal(points[found].rss, 5000000);
	assert_int_equal(points[found].time_ns, 1005 + 10 * 2718);
	assert_in_range(points[count - 1].rss, 4000, 4006);
	for (size_t i = 1; i < count; i++)
		assert_true(points[i].time_ns > points[i - 1].time_ns);
	free(points);
}

static void test_nothing(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(finish(300), 0);
	free(points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quiet_stretch),
		cmocka_unit_test(test_no_stretch_between_neighbours),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_peak_before_quiet_time),
		cmocka_unit_test(test_largest_rss),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
