/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control [fork]: ops, allocations and frees without end, for what controls a running program. It ends when the file `end`
 * is there, with a truth of all that it did. fork: each turn is a child's, too, when the file `fork` comes. How many turns
 * there were stands in the file `turns`.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <tprof.h>
#include <unistd.h>

#include "truth.h"

static void turn(struct truth *truth)
{
	void *block;

	tprof_op_begin("outer", "test");
	tprof_op_begin("inner", NULL);
	block = malloc(1000);
	truth_alloc(truth, 1000);
	tprof_op_end();
	free(block);
	truth_free(truth, 1000);
	tprof_op_end();
	usleep(200);
}

int main(void)
{
	struct truth truth = { 0 };
	pid_t child = 0;
	uint64_t turns = 0;
	int file = open("turns", O_CREAT | O_WRONLY | O_CLOEXEC, 0666);

	while (access("end", F_OK) != 0) {
		turn(&truth);
		turns++;
		if (pwrite(file, &turns, sizeof(turns), 0) != sizeof(turns))
			truth_die("turns");
		if (!child && access("fork", F_OK) == 0) {
			child = fork();
			if (child == 0) {
				for (int i = 0; i < 10; i++)
					turn(&truth);
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
	}
	truth_write(&truth);
	return 0;
}
