/* SPDX-License-Identifier: Apache-2.0 */
/* steady COUNT: that many allocations, all unfreed: a trace of any size wanted, with a known truth. */
#include "truth.h"

int main(int argc, char **argv)
{
	struct truth truth = { 0 };
	long count = argc > 1 ? atol(argv[1]) : 1000;

	for (long i = 0; i < count; i++) {
		size_t size = 16 + (size_t)(i % 100);

		if (!malloc(size))
			truth_die("malloc");
		truth_alloc(&truth, size);
	}
	truth_write(&truth);
	TRUTH_SAY("steady: done\n");
	return 0;
}
