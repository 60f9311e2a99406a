/* SPDX-License-Identifier: Apache-2.0 */
/* jemalloc_api OPS SEED: jemalloc's own entry points at random, in one thread, and the exact truth. */
#include "truth.h"

#include <jemalloc/jemalloc.h>

enum { SLOTS = 200 };

struct slot {
	void *p;
	size_t size;
	int flags;
};

static struct slot slots[SLOTS];
static struct truth truth;

static void allocate(struct slot *s, uint64_t *random)
{
	s->size = truth_between(random, 1, 5000);
	s->flags = truth_random(random) & 1 ? MALLOCX_ALIGN((size_t)16 << truth_between(random, 0, 6)) : 0;
	s->flags |= truth_random(random) & 1 ? MALLOCX_ZERO : 0;
	s->flags |= truth_random(random) & 1 ? MALLOCX_TCACHE_NONE : 0;
	s->p = mallocx(s->size, s->flags);
	if (!s->p || sallocx(s->p, s->flags) != nallocx(s->size, s->flags))
		truth_die("mallocx");
	truth_alloc(&truth, s->size);
}

static void resize(struct slot *s, uint64_t *random)
{
	size_t size = truth_between(random, 1, 5000);

	s->flags &= ~MALLOCX_ZERO;
	if (truth_random(random) & 1) {
		s->p = rallocx(s->p, size, s->flags);
		if (!s->p)
			truth_die("rallocx");
	} else if (xallocx(s->p, size, 0, s->flags) < size) {
		return; /* it could not grow in place: nothing happened */
	}
	truth_free(&truth, s->size);
	truth_alloc(&truth, size);
	s->size = size;
}

static void release(struct slot *s, uint64_t *random)
{
	switch (truth_between(random, 0, 2)) {
	case 0:
		dallocx(s->p, s->flags);
		break;
	case 1:
		/* after xallocx the real size may be above what this class is for */
		sdallocx(s->p, sallocx(s->p, s->flags), s->flags);
		break;
	default:
		free(s->p);
	}
	truth_free(&truth, s->size);
	s->p = NULL;
}

int main(int argc, char **argv)
{
	uint64_t random;

	if (argc < 3)
		truth_die("usage: jemalloc_api OPS SEED");
	random = (uint64_t)atol(argv[2]);
	for (long i = atol(argv[1]); i > 0; i--) {
		struct slot *s = &slots[truth_between(&random, 0, SLOTS - 1)];

		if (!s->p)
			allocate(s, &random);
		else if (truth_random(&random) & 1)
			resize(s, &random);
		else
			release(s, &random);
	}
	for (int i = 3; i < SLOTS; i++)
		if (slots[i].p)
			release(&slots[i], &random);
	truth_write(&truth);
	TRUTH_SAY("jemalloc_api: done\n");
	return 0;
}
