/* SPDX-License-Identifier: Apache-2.0 */
/* flock() takes 30 ms, so a reader takes long to find out whether the program of a trace still runs. */
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

int flock(int fd, int operation)
{
	usleep(30000);
	return (int)syscall(SYS_flock, fd, operation);
}
