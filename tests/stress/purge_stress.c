/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three threads find frames that nobody found before, so that the table of frames grows, and is copied; a fourth finds those of
 * an object of its own and forgets them, as at its dlclose, over and over. What was forgotten is not known any more, however a
 * copy of the table came in between.
 */
#include "harness.h"

#include "core/base.h"
#include "stacks/frames.h"

#include <pthread.h>

#define WALKERS 3
#define LIVES 100			/* of the table, which hardly ever grows once it is large */
#define MET 20000u			/* frames a walker finds in a life */
#define OWN 64u				/* of the object that goes */
#define OBJECT UINT64_C(0x200000000000) /* program counters in no object */
#define OTHERS UINT64_C(0x100000000000)

static int running;
static uint64_t purges;

static void *meet(void *argument)
{
	uintptr_t first = OTHERS + (uintptr_t)argument * MET * 16;

	for (uint32_t i = 0; i < MET; i++)
		HARNESS_CHECK(tpc_frame_find(first + 16 * i, false).number);
	tpc_add(&running, -1);
	return NULL;
}

static void none_is_known(void)
{
	struct tpc_frame frame;

	for (uint32_t i = 0; i < OWN; i++)
		HARNESS_CHECK(!tpc_frame_known(OBJECT + 16 * i, &frame));
}

static void *come_and_go(void *argument)
{
	(void)argument;
	while (tpc_load(&running)) {
		none_is_known();
		for (uint32_t i = 0; i < OWN; i++)
			tpc_frame_find(OBJECT + 16 * i, false);
		tpc_frames_purge(OBJECT, OBJECT + 16 * OWN);
		purges++;
	}
	return NULL;
}

static void live(void)
{
	pthread_t walkers[WALKERS], object;

	running = WALKERS;
	pthread_create(&object, NULL, come_and_go, NULL);
	for (uintptr_t i = 0; i < WALKERS; i++)
		pthread_create(&walkers[i], NULL, meet, (void *)i); // NOLINT(performance-no-int-to-ptr)
	for (uint32_t i = 0; i < WALKERS; i++)
		pthread_join(walkers[i], NULL);
	pthread_join(object, NULL);
	none_is_known();
	tpc_frames_forget();
}

int main(void)
{
	harness_start();
	for (uint32_t i = 0; i < LIVES; i++)
		live();
	printf("purge: %llu times of %u frames\n", (unsigned long long)purges, OWN);
	HARNESS_CHECK(purges > LIVES);
	return 0;
}
