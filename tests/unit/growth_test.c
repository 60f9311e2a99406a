/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series put together, on sites that are made: a leak that is spread over many is found; each leak is listed once, at the group
 * that it fills; and how often it is wrong where nothing leaks, with groups that overlap as the functions of stacks do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "model/growth/growth_impl.h"

#define LOOKS 96
#define SITES 64
#define MANY 160
#define FAMILIES 200

static uint64_t random_state = 88172645463325252u;

/* Marsaglia's xorshift64, JSS 8 (2003). */
static uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 20) % below;
}

/* Sites in a tree as stacks make one: site i is in group 0 (main), in one of four, in one of sixteen, and in its own. */
struct made {
	struct tpa_growth_kept kept;
	size_t first[MANY + 1];
	uint32_t list[4 * MANY];
	struct tpa_growth_groups groups;
};
enum { OF_FOUR = 1, OF_SIXTEEN = 5, OWN = 21 };

static struct made *make_many(size_t sites)
{
	struct made *made = calloc(1, sizeof(*made));

	made->kept.places.count = LOOKS;
	made->kept.count = sites;
	made->kept.members = calloc(sites, sizeof(*made->kept.members));
	made->kept.states = calloc(sites, sizeof(*made->kept.states));
	for (size_t i = 0; i < LOOKS; i++) {
		made->kept.places.place[i] = i + 1;
		made->kept.places.x[i] = (double)(i + 1);
	}
	for (size_t i = 0; i < sites; i++) {
		uint32_t *groups = made->list + 4 * i;

		made->kept.members[i].node = (uint32_t)i + 100;
		made->kept.states[i].series = calloc(1, sizeof(struct tpa_growth_series));
		groups[0] = 0;
		groups[1] = OF_FOUR + (uint32_t)i % 4;
		groups[2] = OF_SIXTEEN + (uint32_t)i % 16;
		groups[3] = OWN + (uint32_t)i;
		made->first[i + 1] = 4 * (i + 1);
	}
	made->groups = (struct tpa_growth_groups){ made->first, made->list, OWN + sites };
	return made;
}

static struct made *make(void)
{
	return make_many(SITES);
}

static void give(struct made *made, size_t site, size_t look, uint64_t bytes)
{
	struct tpa_growth_state *state = &made->kept.states[site];

	for (size_t i = look; i < LOOKS; i++) {
		state->series->bytes[i] += bytes;
		state->series->blocks[i]++;
	}
	state->bytes = state->series->bytes[LOOKS - 1];
	state->blocks = state->series->blocks[LOOKS - 1];
}

static struct tpa_growth_list pool(struct made *made)
{
	struct tpa_growth_list list;
	size_t varying;

	tpa_growth_pool(&made->kept, &made->groups, &list, &varying);
	for (size_t i = 0; i < made->kept.count; i++)
		free(made->kept.states[i].series);
	free(made->kept.states);
	free(made->kept.members);
	free(made);
	return list;
}

/* 100 bytes a look, to whichever site. */
static void test_spread(void **unused)
{
	struct made *made = make();
	struct tpa_growth_list list;

	(void)unused;
	for (size_t i = 0; i < LOOKS; i++)
		give(made, draw(SITES), i, 100);
	list = pool(made);
	assert_int_equal(list.leaks, 1);
	assert_int_equal(list.list[0].number, 0);
	assert_true(list.list[0].rate > 99.999 && list.list[0].rate < 100.001);
	assert_int_equal(list.list[0].members, SITES);
	assert_int_equal(list.list[0].bytes, 100 * LOOKS);
	free(list.list);
}

/* Two that each fill a group, and one of a single site: three leaks, though main and others have two or three of them. */
static void test_apart(void **unused)
{
	struct made *made = make();
	struct tpa_growth_list list;

	(void)unused;
	for (size_t i = 0; i < LOOKS; i++) {
		give(made, 16 * draw(4) + 3, i, 300);
		give(made, 16 * draw(4) + 6, i, 200);
		give(made, 12, i, 50);
	}
	list = pool(made);
	assert_int_equal(list.leaks, 3);
	assert_int_equal(list.list[0].number, OF_SIXTEEN + 3);
	assert_int_equal(list.list[1].number, OF_SIXTEEN + 6);
	assert_int_equal(list.list[2].number, OWN + 12);
	assert_true(list.leak_rate > 549.99 && list.leak_rate < 550.01);
	free(list.list);
}

/* Each site leaks as steadily as can be: all of them are listed, however many. */
static void test_many(void **unused)
{
	struct made *made = make_many(MANY);
	struct tpa_growth_list list;

	(void)unused;
	for (size_t site = 0; site < MANY; site++)
		for (size_t i = 0; i < LOOKS; i++)
			give(made, site, i, 100 + site);
	list = pool(made);
	assert_int_equal(list.leaks, MANY);
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(list.list[i].members, 1);
	free(list.list);
}

/* What is in a leak's group and does not grow stays out of nobody's way: constants count as bytes, not as growth. */
static void test_constants(void **unused)
{
	struct made *made = make();
	struct tpa_growth_list list;

	(void)unused;
	for (size_t i = 0; i < LOOKS; i++)
		give(made, 16 * draw(3) + 3, i, 300);
	free(made->kept.states[51].series);
	made->kept.states[51] = (struct tpa_growth_state){ .bytes = 12345, .blocks = 1 };
	list = pool(made);
	assert_int_equal(list.leaks, 1);
	assert_int_equal(list.list[0].number, OF_SIXTEEN + 3);
	assert_int_equal(list.list[0].bytes, 300 * LOOKS + 12345);
	assert_int_equal(list.list[0].node % 16, 103 % 16);
	free(list.list);
}

/* At a true rate of 5%, more than 20 of 200 would be seen once in 500 times. */
static void test_no_false_leak(void **unused)
{
	int with = 0;

	(void)unused;
	for (int family = 0; family < FAMILIES; family++) {
		struct made *made = make();
		struct tpa_growth_list list;

		for (size_t site = 0; site < SITES; site++) {
			uint64_t value = 100000;

			for (size_t i = 0; i < LOOKS; i++) {
				value += site % 2 ? draw(2001) - 1000 : 0; /* a walk, or noise */
				made->kept.states[site].series->bytes[i] = value + (site % 2 ? 0 : draw(5000));
			}
		}
		list = pool(made);
		with += list.leaks != 0;
		free(list.list);
	}
	printf("  %d of %d families with a false leak\n", with, FAMILIES);
	assert_true(with <= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),	  cmocka_unit_test(test_apart),		cmocka_unit_test(test_many),
		cmocka_unit_test(test_constants), cmocka_unit_test(test_no_false_leak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
