/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log.h"

#include "core/sys.h"
#include "core/text.h"

#include <poll.h>

static dev_t stderr_device;
static ino_t stderr_inode;
static bool has_stderr;

void tpc_log_start(void)
{
	struct stat status;

	has_stderr = tpc_sys_fstat(2, &status) == 0;
	if (has_stderr) {
		stderr_device = status.st_dev;
		stderr_inode = status.st_ino;
	}
}

/*
 * A full pipe would block the program, and a pipe without a reader would kill it by SIGPIPE. If poll() says that it is
 * writable, it takes PIPE_BUF bytes at once, and no line is longer.
 */
static bool takes_writes(void)
{
	struct pollfd entry = { .fd = 2, .events = POLLOUT };

	return tpc_syscall(SYS_poll, &entry, 1, 0, 0) == 1 && entry.revents == POLLOUT;
}

/* Writing beyond RLIMIT_FSIZE would kill the program by SIGXFSZ. */
static bool has_room(const struct stat *status, size_t length)
{
	uint64_t limit = tpc_sys_limit(RLIMIT_FSIZE);
	long position;

	if (!S_ISREG(status->st_mode) || limit == RLIM_INFINITY)
		return true;
	position = tpc_syscall(SYS_lseek, 2, 0, SEEK_CUR, 0);
	return position >= 0 && (uint64_t)(position > status->st_size ? position : status->st_size) + length <= limit;
}

void tpc_log_text(const char *text, size_t length)
{
	struct stat status;

	if (has_stderr && tpc_sys_fstat(2, &status) == 0 && status.st_dev == stderr_device &&
	    status.st_ino == stderr_inode && takes_writes() && has_room(&status, length))
		tpc_sys_write(2, text, length);
}

void tpc_log(const char *first, const char *second)
{
	char line[512];
	struct tpc_text text = tpc_text_in(line, sizeof(line) - 1);

	tpc_text_add(&text, "tprof: ");
	tpc_text_add(&text, first);
	tpc_text_add(&text, second);
	line[text.length++] = '\n';
	tpc_log_text(line, text.length);
}
