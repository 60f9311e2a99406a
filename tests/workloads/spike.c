/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spike: holds 100 MB for a moment, then nothing through a second of quiet time, between the marks "quiet" and "over". What
 * it does before and behind that has no size worth a name.
 */
#include <stdlib.h>
#include <string.h>
#include <tprof.h>
#include <unistd.h>

static void trifles(void)
{
	for (int i = 0; i < 300; i++) {
		free(malloc(100));
		usleep(100);
	}
}

int main(void)
{
	char *block;

	trifles();
	block = malloc(100000000);
	memset(block, 1, 4096);
	free(block);
	tprof_mark("quiet");
	sleep(1);
	tprof_mark("over");
	trifles();
	return 0;
}
