/* SPDX-License-Identifier: Apache-2.0 */
#include "core/maps.h"

#include "core/apart.h"
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

/* One line of maps: "low-high rwxs offset device inode path", where a last column is not there for all. */
static bool parse(const char *line, struct tp_mapping *mapping)
{
	const char *path;
	uint64_t low, high;

	if (!hexadecimal(&line, &low) || *line++ != '-' || !hexadecimal(&line, &high))
		return false;
	path = strchr(line, '/'); /* the columns before it have no slash */
	*mapping = (struct tp_mapping){
		.range = { low, high },
		.readable = line[1] == 'r',
		.shared = line[4] == 's',
		.path = path ? path : "",
	};
	return true;
}

struct reading {
	char *buffer;
	size_t size;
	bool (*look)(const struct tp_mapping *mapping, void *data);
	void *data;
};

static void read_maps(void *context)
{
	const struct reading *reading = context;
	char *buffer = reading->buffer;
	size_t size = reading->size, have = 0;
	bool seen = false;
	long got;
	int fd = tp_sys_open("/proc/self/maps", O_RDONLY, 0);

	if (fd < 0)
		return;
	while ((got = tp_sys_read(fd, buffer + have, size - 1 - have)) > 0) {
		char *line = buffer, *end;

		have += (size_t)got;
		buffer[have] = 0;
		for (; !seen && (end = strchr(line, '\n')); line = end + 1) {
			struct tp_mapping mapping;

			*end = 0;
			seen = parse(line, &mapping) && reading->look(&mapping, reading->data);
		}
		if (seen)
			break; /* its path stays where it is */
		have = (size_t)(buffer + have - line);
		if (have >= size - 1)
			have = 0; /* a path longer than the buffer: its line is lost */
		memmove(buffer, line, have);
	}
	tp_sys_close(fd);
}

void tp_maps_each(char *buffer, size_t size, bool (*look)(const struct tp_mapping *mapping, void *data), void *data)
{
	struct reading reading = { buffer, size, look, data };

	tp_apart_from_threads(read_maps, &reading);
}

struct search {
	uintptr_t address;
	struct tp_mapping found;
};

static bool holds(const struct tp_mapping *mapping, void *data)
{
	struct search *search = data;

	if (!mapping->readable || !tp_range_holds(mapping->range, search->address))
		return false;
	search->found = *mapping;
	return true;
}

struct tp_range tp_maps_find(uintptr_t address, char *buffer, size_t size, const char **path)
{
	struct search search = { .address = address, .found.path = "" };

	tp_maps_each(buffer, size, holds, &search);
	*path = search.found.path;
	return search.found.range;
}
