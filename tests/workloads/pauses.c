/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording switched on and off by the program, and the truth of what is recorded: blocks that began while it was on, to
 * their ends.
 *
 *     pauses ROUNDS [off]    `off`: as with TPROF_START=off, nothing of before the first start is known
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include <tprof.h>

#include "truth.h"

#define SLOTS 400

static struct truth truth;
static uint64_t seed = 7;
static int recording = 1;

static struct slot {
	void *block;
	size_t size;
	int known;
} slots[SLOTS];

static void new_block(struct slot *slot)
{
	slot->size = truth_between(&seed, 1, 5000);
	slot->block = malloc(slot->size);
	if (!slot->block)
		truth_die("malloc");
	slot->known = recording;
	if (recording)
		truth_alloc(&truth, slot->size);
}

static void move_block(struct slot *slot)
{
	size_t size = truth_between(&seed, 1, 5000);
	void *block = realloc(slot->block, size);

	if (!block)
		truth_die("realloc");
	if (slot->known)
		truth_free(&truth, slot->size);
	slot->known = recording || slot->known;
	if (slot->known)
		truth_alloc(&truth, size);
	slot->block = block;
	slot->size = size;
}

static void end_block(struct slot *slot)
{
	if (slot->known)
		truth_free(&truth, slot->size);
	free(slot->block);
	slot->block = NULL;
}

static void churn(int times)
{
	for (int i = 0; i < times; i++) {
		struct slot *slot = &slots[truth_random(&seed) % SLOTS];

		if (!slot->block)
			new_block(slot);
		else if (truth_random(&seed) % 2)
			move_block(slot);
		else
			end_block(slot);
	}
}

static void start(void)
{
	tprof_start();
	recording = 1;
}

static void stop(void)
{
	tprof_stop();
	recording = 0;
}

/* Ops across the switch: an end never ends another's. */
static void ops(void)
{
	tprof_op_begin("outer", "test");
	stop();
	tprof_op_begin("unseen", "test");
	tprof_op_begin("unseen", "test");
	tprof_op_end();
	start();
	tprof_op_begin("inner", "test");
	tprof_op_end();
	tprof_op_end(); /* unseen */
	stop();
	tprof_op_end(); /* outer */
	tprof_step(1);	/* in a pause: no step */
	start();
	tprof_step(1);
}

static void *beside(void *unused)
{
	free(unused);
	return NULL;
}

/* Mappings: one that ends in a pause, one that begins in it. */
static void mappings(void)
{
	char *known = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *unknown;

	stop();
	unknown = mmap(NULL, 3 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unknown = mremap(unknown, 3 << 20, 5 << 20, MREMAP_MAYMOVE);
	munmap(known, 1 << 20);
	start();
	if (unknown == MAP_FAILED)
		truth_die("mremap");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread;

	recording = argc < 3;
	churn(2000);
	tprof_start(); /* on already, or now */
	recording = 1;
	tprof_start();
	for (int i = 0; i < rounds; i++) {
		churn(1000);
		stop();
		stop();
		churn(1000);
		start();
		ops();
	}
	mappings();
	stop();
	churn(3000);
	if (pthread_create(&thread, NULL, beside, NULL) || pthread_join(thread, NULL))
		truth_die("thread");
	truth_write(&truth);
	return 0;
}
