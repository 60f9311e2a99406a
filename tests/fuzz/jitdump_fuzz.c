/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes are read as a jitdump, and what it says is asked for at addresses and times around all that
 * it has.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/impl.h"
#include "trace/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum; /* so that nothing is optimised away */

static const char *path_of_file(void)
{
	static char path[64];

	if (!path[0])
		snprintf(path, sizeof(path), "/tmp/tprof-jitdump-fuzz-%ld", (long)getpid());
	return path;
}

static void remove_file(void)
{
	unlink(path_of_file());
}

static void write_file(const uint8_t *data, size_t size)
{
	static bool made;
	int fd = open(path_of_file(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (!made)
		atexit(remove_file);
	made = true;
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void look_at(const struct tpa_jitdump *dump, uint64_t address, uint64_t time)
{
	struct tpa_jit_span span = tpa_jitdump_at(dump, address, time);
	const struct tpa_jit_line *line;

	if (!span.code)
		return;
	if (address < span.code->start || address >= span.code->end || time < span.from ||
	    (time >= span.until && span.until != UINT64_MAX))
		abort();
	sum += strlen(span.code->name);
	line = tpa_jit_line_at(span.code, address);
	if (line)
		sum += strlen(line->file) + line->line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tpa_trace_impl impl = { .clock = { 0, UINT64_C(1) << 32 } };
	struct tpa_jitdump dump = { 0 };

	impl.header.clock = TPROF_CLOCK_TSC;
	impl.trace.header = &impl.header;
	impl.trace.impl = &impl;
	write_file(data, size);
	tpa_jitdump_read(&dump, path_of_file(), &impl.trace);
	tpa_jitdump_sort(&dump);
	for (size_t i = 0; i < dump.count && i < 256; i++) {
		const struct tpa_jit_code *code = &dump.codes[i];

		look_at(&dump, code->start, code->time);
		look_at(&dump, code->end - 1, 0);
		look_at(&dump, code->start + (code->end - code->start) / 2, UINT64_MAX);
		look_at(&dump, code->end, code->time + 1);
	}
	tpa_jitdump_free(&dump);
	return 0;
}
