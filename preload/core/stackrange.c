/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stackrange.h"

#include "core/sys.h"
#include "core/text.h"

#include <errno.h>
#include <pthread.h>

extern void *__libc_stack_end;

#define MAIN_STACK_GAP (128u << 20) /* the kernel keeps at least so much free below (mmap_base(), x86) */

uintptr_t tp_stack_main_end(void)
{
	return (uintptr_t)__libc_stack_end;
}

static struct tp_range main_stack(void)
{
	/* argc stands at the end, so its page is there; the frames to walk are below it. */
	uintptr_t high = (tp_stack_main_end() | (TP_PAGE - 1)) + 1;

	return (struct tp_range){ high - MAIN_STACK_GAP, high };
}

struct tp_range tp_stack_of_thread(bool is_main)
{
	struct tp_range range = { 0, 0 };
	pthread_attr_t attributes;
	void *low;
	size_t size;
	int saved = errno;

	if (is_main)
		return main_stack();
	/* Allocates and frees a CPU set: this thread is marked busy, so those calls go straight through. */
	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return range;
	if (pthread_attr_getstack(&attributes, &low, &size) == 0)
		range = (struct tp_range){ (uintptr_t)low, (uintptr_t)low + size };
	pthread_attr_destroy(&attributes);
	errno = saved;
	return range;
}

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

struct tp_range tp_stack_around(uintptr_t address)
{
	struct tp_range range = { 0, 0 };
	char buffer[2048];
	size_t have = 0;
	long got;
	int fd = tp_sys_open("/proc/self/maps", O_RDONLY, 0);

	if (fd < 0)
		return range;
	while (!range.high && (got = tp_sys_read(fd, buffer + have, sizeof(buffer) - 1 - have)) > 0) {
		char *line = buffer, *end;

		have += (size_t)got;
		buffer[have] = 0;
		for (; !range.high && (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			line_holds(line, address, &range);
		}
		have = (size_t)(buffer + have - line);
		if (have >= sizeof(buffer) - 1)
			have = 0; /* a path longer than the buffer: its line is lost */
		memmove(buffer, line, have);
	}
	tp_sys_close(fd);
	return range;
}
