/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "trace/trace.h"

/* Opens a file beside `path`, with the mode that the old file has; NULL: it must be written in place. */
static FILE *open_draft(struct tpa_output *output)
{
	struct stat old;
	bool exists = lstat(output->path, &old) == 0;
	FILE *file;

	if (exists && (!S_ISREG(old.st_mode) || old.st_nlink > 1 || access(output->path, W_OK) != 0))
		return NULL;
	output->draft = tpa_format("%s.%d.new", output->path, (int)getpid());
	file = fopen(output->draft, "we");
	if (file && (!exists || fchmod(fileno(file), old.st_mode & 07777) == 0))
		return file;
	if (file) {
		fclose(file);
		unlink(output->draft);
	}
	free(output->draft);
	output->draft = NULL;
	return NULL;
}

FILE *tpa_output_open(struct tpa_output *output, const char *path)
{
	FILE *file;

	*output = (struct tpa_output){ path, NULL };
	if (tpa_trace_is(path)) {
		errno = EEXIST;
		return NULL;
	}
	file = open_draft(output);
	return file ? file : fopen(path, "we");
}

bool tpa_output_end(struct tpa_output *output, bool good)
{
	bool moved = true;
	int error;

	if (!output->draft)
		return true;
	if (good)
		moved = rename(output->draft, output->path) == 0;
	error = errno;
	if (!good || !moved)
		unlink(output->draft);
	free(output->draft);
	output->draft = NULL;
	errno = error;
	return moved;
}

const char *tpa_output_error(int error)
{
	return error == EEXIST ? "it is a trace" : strerror(error);
}
