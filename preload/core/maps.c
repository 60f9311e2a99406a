/* SPDX-License-Identifier: Apache-2.0 */
#include "core/maps.h"

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

/* One line of maps: is it the mapping, and readable? */
static bool line_holds(const char *line, uintptr_t address, struct tp_range *range)
{
	uint64_t low, high;

	if (!hexadecimal(&line, &low) || *line++ != '-' || !hexadecimal(&line, &high))
		return false;
	if (address < low || address >= high || line[1] != 'r')
		return false;
	*range = (struct tp_range){ low, high };
	return true;
}

struct tp_range tp_maps_find(uintptr_t address, char *buffer, size_t size, const char **path)
{
	struct tp_range range = { 0, 0 };
	size_t have = 0;
	long got;
	int fd = tp_sys_open("/proc/self/maps", O_RDONLY, 0);

	*path = "";
	if (fd < 0)
		return range;
	while (!range.high && (got = tp_sys_read(fd, buffer + have, size - 1 - have)) > 0) {
		char *line = buffer, *end;

		have += (size_t)got;
		buffer[have] = 0;
		for (; !range.high && (end = strchr(line, '\n')); line = end + 1) {
			const char *file;

			*end = 0;
			if (line_holds(line, address, &range) && (file = strchr(line, '/')))
				*path = file; /* the columns before it have no slash */
		}
		if (range.high)
			break;
		have = (size_t)(buffer + have - line);
		if (have >= size - 1)
			have = 0; /* a path longer than the buffer: its line is lost */
		memmove(buffer, line, have);
	}
	tp_sys_close(fd);
	return range;
}
