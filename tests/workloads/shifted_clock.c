/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded: on a host that is named hostN, CLOCK_REALTIME is 5 seconds ahead for each N. The name is asked for because it is there
 * before anything else is.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int number(void)
{
	struct utsname names;

	if (uname(&names) != 0 || strncmp(names.nodename, "host", 4) != 0)
		return 0;
	return names.nodename[4] - '0';
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int failed = (int)syscall(SYS_clock_gettime, clock, time);

	if (!failed && clock == CLOCK_REALTIME)
		time->tv_sec += 5 * number();
	return failed;
}
