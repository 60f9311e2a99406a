/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interrupts ROUNDS: system calls that a signal would cut short, each behind some work, so that a CPU sampler's timer is
 * about to fire. Says how many came back early, and which handler SIGPROF has at the end: bare it is none and the default.
 */
#include "truth.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

static int early;

static void count_early(int result)
{
	early += result < 0 && errno == EINTR;
}

static void work(void)
{
	static volatile unsigned int sum;

	for (unsigned int i = 0; i < 200000; i++)
		sum += i;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	struct timespec pause = { .tv_nsec = 20000 };
	struct sigaction profiling;
	char line[128];
	int fds[2];

	if (pipe(fds))
		truth_die("pipe");
	for (long i = 0; i < rounds; i++) {
		struct pollfd poller = { .fd = fds[0], .events = POLLIN };

		work();
		count_early(nanosleep(&pause, NULL));
		work();
		count_early(poll(&poller, 1, 1));
	}
	if (sigaction(SIGPROF, NULL, &profiling))
		truth_die("sigaction");
	truth_say(line, (size_t)snprintf(line, sizeof(line), "interrupts: %d early, SIGPROF %s\n", early,
					 profiling.sa_handler == SIG_DFL ? "default" : "taken"));
	return 0;
}
