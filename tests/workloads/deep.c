/* SPDX-License-Identifier: Apache-2.0 */
/* deep FRAMES: one allocation at the bottom of a recursion of known depth and names. */
#include "truth.h"

void *recurse_even(int depth);
void *recurse_odd(int depth);

__attribute__((noinline)) void *recurse_odd(int depth)
{
	void *volatile p = depth ? recurse_even(depth - 1) : malloc(4242);

	return p;
}

__attribute__((noinline)) void *recurse_even(int depth)
{
	void *volatile p = depth ? recurse_odd(depth - 1) : malloc(4242);

	return p;
}

int main(int argc, char **argv)
{
	struct truth truth = { 0 };
	void *p = recurse_even(argc > 1 ? atoi(argv[1]) : 1000);

	truth_alloc(&truth, 4242);
	if (!p)
		truth_die("malloc");
	truth_write(&truth);
	TRUTH_SAY("deep: done\n");
	return 0;
}
