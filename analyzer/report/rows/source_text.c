/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/source_text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* NULL: not a readable regular file, or modified after the run started. */
static FILE *open_source(const struct tpa_trace *trace, const char *file)
{
	char *path = *file == '/' ? tpa_strdup(file) : tpa_format("%s/%s", trace->cwd, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *stream = NULL;
	struct stat status;

	free(path);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (uint64_t)status.st_mtim.tv_sec <= trace->header->start.unix_ns / 1000000000u)
		stream = fdopen(fd, "r");
	if (!stream)
		close(fd);
	return stream;
}

static void copy_trimmed(const char *line, char *text, size_t size)
{
	size_t length = 0;

	while (isspace((unsigned char)*line))
		line++;
	for (; *line && length + 1 < size; line++)
		text[length++] = (char)((unsigned char)*line < ' ' || *line == 127 ? ' ' : *line);
	while (length && text[length - 1] == ' ')
		length--;
	text[length] = '\0';
}

bool tpa_source_text(const struct tpa_trace *trace, const struct tpa_line *line, char *text, size_t size)
{
	const struct tpa_location *location = line->location;
	FILE *stream = NULL;
	char *found = NULL;
	size_t room = 0;

	text[0] = '\0';
	if (location && location->file && location->line)
		stream = open_source(trace, location->file);
	if (!stream)
		return false;
	for (int i = 0; i < location->line; i++)
		if (getline(&found, &room, stream) < 0) {
			free(found);
			found = NULL;
			break;
		}
	if (found)
		copy_trimmed(found, text, size);
	free(found);
	fclose(stream);
	return text[0] != '\0';
}
