/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/buckets.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The 32 in "f32" is part of a word, not a dimension; the numbers in "2x32" and "n=32" are dimensions. */
static bool is_dimension(const char *shape, const char *at)
{
	return isdigit((unsigned char)*at) && (at == shape || (!isalnum((unsigned char)at[-1]) && at[-1] != '.') ||
					       (at[-1] == 'x' && at > shape + 1 && isdigit((unsigned char)at[-2])));
}

static uint64_t round_up(uint64_t number)
{
	return number < 2 ? number : UINT64_C(1) << (64 - __builtin_clzll(number - 1));
}

double tpa_shape_work(const char *shape, char *rounded, double *rounded_work)
{
	double sum = 0, product = 1, rounded_sum = 0, rounded_product = 1;
	bool any = false;

	for (const char *p = shape;;) {
		if (*p == ',' || !*p) {
			sum += any ? product : 0;
			rounded_sum += any ? rounded_product : 0;
			product = rounded_product = 1;
			any = false;
		}
		if (is_dimension(shape, p)) {
			char *end;
			uint64_t number = strtoull(p, &end, 10), up;

			number = number < UINT32_MAX ? number : UINT32_MAX;
			up = round_up(number);
			product *= (double)number;
			rounded_product *= (double)up;
			any = true;
			if (rounded)
				rounded += sprintf(rounded, "%" PRIu64, up);
			p = end;
			continue;
		}
		if (rounded)
			*rounded++ = *p;
		if (!*p++)
			break;
	}
	*rounded_work = rounded_sum;
	return sum;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static double mean_of_rest(const struct tpa_shape_stats *shape)
{
	return shape->calls > 1 ? (double)(shape->calls_ns - shape->first_ns) / (double)(shape->calls - 1) : 0;
}

static void add(struct tpa_buckets *buckets, const struct tpa_shape_stats *shape, double growth, size_t *timed)
{
	double rest = mean_of_rest(shape), excess = (double)shape->first_ns - rest;

	buckets->shapes++;
	if (shape->calls < 2)
		return;
	++*timed;
	buckets->excess_ns += excess > 0 ? excess : 0;
	buckets->padding_ns += (double)shape->calls * rest * (growth - 1);
}

struct tpa_buckets tpa_buckets_of(const struct tpa_op_stats *op)
{
	char **names = tpa_zalloc(op->shape_count, sizeof(char *));
	struct tpa_buckets buckets = { 0 };
	size_t named = 0, timed = 0;

	for (size_t i = 0; i < op->shape_count; i++) {
		const char *text = op->shapes[i].text;
		double work, rounded;

		if (!text)
			continue;
		names[named] = tpa_zalloc(4 * strlen(text) + 1, 1);
		work = tpa_shape_work(text, names[named++], &rounded);
		if (work > 0)
			add(&buckets, &op->shapes[i], rounded / work, &timed);
		else
			free(names[--named]);
	}
	qsort(names, named, sizeof(*names), by_name);
	for (size_t i = 0; i < named; i++)
		buckets.buckets += !i || strcmp(names[i - 1], names[i]) != 0;
	buckets.excess_ns = timed ? buckets.excess_ns / (double)timed : 0;
	buckets.saved_ns = (double)(buckets.shapes - buckets.buckets) * buckets.excess_ns;
	while (named)
		free(names[--named]);
	free(names);
	return buckets;
}
