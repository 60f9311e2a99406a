/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uneven: 30 calls of each of two ops that say they do the same little work. "uneven" waits in every fifth call, 50 ms, as for a
 * thread; "slow" waits 10 ms in each.
 */
#include <time.h>

#include <tprof.h>

static void wait(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void call(const char *name, long ms)
{
	tprof_op_begin(name, "kernel");
	tprof_op_detail("1Ki", 2048, 8192);
	if (ms)
		wait(ms);
	tprof_op_end();
}

int main(void)
{
	for (int i = 0; i < 30; i++) {
		call("uneven", i % 5 ? 0 : 50);
		call("slow", 10);
	}
	return 0;
}
