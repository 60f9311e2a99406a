/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <tprof/format.h>
#include <unistd.h>

static bool is_trace(const char *path)
{
	char magic[sizeof(((struct tprof_header *)NULL)->magic)];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is;

	if (fd < 0)
		return false;
	is = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && memcmp(magic, TPROF_MAGIC, sizeof(magic)) == 0;
	close(fd);
	return is;
}

FILE *tpa_output_open(const char *path)
{
	if (is_trace(path)) {
		errno = EEXIST;
		return NULL;
	}
	return fopen(path, "we");
}

const char *tpa_output_error(int error)
{
	return error == EEXIST ? "it is a trace" : strerror(error);
}
