/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_ends STEPS: blocks of random sizes come and go, a random number of times a step, and what was allocated up to the end
 * of each step, and is live there, is written down in the end: a pair for each step.
 */
#include <stdio.h>

#include <tprof.h>

#include "truth.h"

#define SLOTS 100
#define STEPS_MOST 10000
#define ENTRY_MOST 48 /* characters of a pair */

static struct truth truth, ends[STEPS_MOST];
static uint64_t seed = 11;

static void change_one(void)
{
	static struct {
		void *block;
		size_t size;
	} slots[SLOTS], *slot;

	slot = &slots[truth_random(&seed) % SLOTS];
	if (slot->block) {
		truth_free(&truth, slot->size);
		free(slot->block);
		slot->block = NULL;
		return;
	}
	slot->size = truth_between(&seed, 1, 5000);
	slot->block = malloc(slot->size);
	if (!slot->block)
		truth_die("malloc");
	truth_alloc(&truth, slot->size);
}

static void write_ends(size_t count)
{
	static char text[STEPS_MOST * ENTRY_MOST];
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(text + length, ENTRY_MOST, "%c[%" PRIu64 ", %" PRIu64 "]", i ? ',' : '[',
					   ends[i].allocations, ends[i].live_bytes);
	text[length++] = ']';
	truth_write_text("", text, length);
}

int main(int argc, char **argv)
{
	size_t steps = argc > 1 ? (size_t)atol(argv[1]) : 100;

	if (!steps || steps > STEPS_MOST)
		truth_die("the number of steps");
	for (size_t i = 0; i < steps; i++) {
		for (size_t changes = truth_between(&seed, 0, 20); changes; changes--)
			change_one();
		tprof_step(1);
		ends[i] = truth;
	}
	for (int i = 0; i < 50; i++) /* behind the last step */
		change_one();
	write_ends(steps);
	return 0;
}
