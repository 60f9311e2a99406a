/* SPDX-License-Identifier: Apache-2.0 */
/*
 * few [forget]: takes every descriptor that the process may have, allocates, gives them back, allocates again. `forget`:
 * first closes those that it did not open itself.
 */
#include "truth.h"

#include <errno.h>
#include <string.h>

#define COUNT 60000 /* some chunks of trace */

static struct truth counts;
static int taken[65536];

static void allocate(void)
{
	static void *blocks[COUNT];

	for (int i = 0; i < COUNT; i++) {
		blocks[i] = malloc(24);
		truth_alloc(&counts, 24);
	}
	for (int i = 0; i < COUNT; i++) {
		free(blocks[i]);
		truth_free(&counts, 24);
	}
}

int main(int argc, char **argv)
{
	int count = 0, fd;

	allocate();
	if (argc > 1 && strcmp(argv[1], "forget") == 0)
		for (fd = 3; fd < 65536; fd++)
			close(fd);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		taken[count++] = fd;
	if (errno != EMFILE)
		truth_die("taking all descriptors");
	allocate();
	while (count)
		if (close(taken[--count]))
			truth_die("close"); /* one was taken away */
	allocate();
	truth_write(&counts);
	TRUTH_SAY("few: done\n");
	return 0;
}
