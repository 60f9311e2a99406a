/* SPDX-License-Identifier: Apache-2.0 */
#include "core/maps.h"

#include "core/private_fds.h"
#include "core/sys.h"

static bool hexadecimal(const char **s, uint64_t *n)
{
	const char *start = *s;

	for (*n = 0;; (*s)++) {
		char c = **s;

		if (c >= '0' && c <= '9')
			*n = *n << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*n = *n << 4 | (uint64_t)(c - 'a' + 10);
		else
			return *s != start;
	}
}

/* Skips one column and the spaces after it. */
static const char *skip_column(const char *line)
{
	while (*line && *line != ' ')
		line++;
	while (*line == ' ')
		line++;
	return line;
}

bool tpc_maps_parse(const char *line, struct tpc_mapping *mapping)
{
	const char *flags;
	uint64_t low, high;

	if (!hexadecimal(&line, &low) || *line++ != '-' || !hexadecimal(&line, &high) || *line != ' ')
		return false;
	flags = line + 1;
	line = skip_column(line + 1); /* flags */
	line = skip_column(line);     /* offset */
	line = skip_column(line);     /* device */
	line = skip_column(line);     /* inode */
	*mapping = (struct tpc_mapping){
		.range = { low, high },
		.readable = flags[0] == 'r',
		.shared = flags[0] && flags[1] && flags[2] && flags[3] == 's',
		.path = *line == '/' ? line : "",
		.label = *line == '[' ? line : "",
	};
	return true;
}

struct reading {
	const char *file;
	char *buffer;
	size_t size;
	bool (*look)(char *line, void *data);
	void *data;
	bool opened;
};

static void read_lines(void *context)
{
	struct reading *reading = context;
	char *buffer = reading->buffer;
	size_t size = reading->size, have = 0;
	bool seen = false;
	long got;
	int fd = tpc_sys_open(reading->file, O_RDONLY, 0);

	if (fd < 0)
		return;
	reading->opened = true;
	while ((got = tpc_sys_read(fd, buffer + have, size - 1 - have)) > 0) {
		char *line = buffer, *end;

		have += (size_t)got;
		buffer[have] = 0;
		for (; !seen && (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			seen = reading->look(line, reading->data);
		}
		if (seen)
			break; /* the line stays in the buffer */
		have = (size_t)(buffer + have - line);
		if (have >= size - 1)
			have = 0; /* longer than the buffer: the line is skipped */
		memmove(buffer, line, have);
	}
	tpc_sys_close(fd);
}

bool tpc_lines_each(const char *file, char *buffer, size_t size, bool (*look)(char *line, void *data), void *data)
{
	struct reading reading = { file, buffer, size, look, data, false };

	tpc_private_fds_from_threads(read_lines, &reading);
	return reading.opened;
}

struct mappings {
	bool (*look)(const struct tpc_mapping *mapping, void *data);
	void *data;
};

static bool look_at_line(char *line, void *data)
{
	const struct mappings *mappings = data;
	struct tpc_mapping mapping;

	return tpc_maps_parse(line, &mapping) && mappings->look(&mapping, mappings->data);
}

void tpc_maps_each(char *buffer, size_t size, bool (*look)(const struct tpc_mapping *mapping, void *data), void *data)
{
	struct mappings mappings = { look, data };

	tpc_lines_each("/proc/self/maps", buffer, size, look_at_line, &mappings);
}

struct search {
	uintptr_t address;
	struct tpc_mapping found;
};

static bool holds(const struct tpc_mapping *mapping, void *data)
{
	struct search *search = data;

	if (!mapping->readable || !tpc_range_holds(mapping->range, search->address))
		return false;
	search->found = *mapping;
	return true;
}

struct tpc_range tpc_maps_find(uintptr_t address, char *buffer, size_t size, const char **path)
{
	struct search search = { .address = address, .found.path = "" };

	tpc_maps_each(buffer, size, holds, &search);
	*path = search.found.path;
	return search.found.range;
}
