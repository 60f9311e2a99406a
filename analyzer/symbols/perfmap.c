/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/perfmap.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/order.h"

struct entry {
	uint64_t start, end;
	uint64_t limit; /* largest end of this and all earlier entries */
	size_t line;
	char *name;
};

struct tpa_perfmap {
	struct entry *entries;
	size_t count, capacity;
};

/* Opens only regular files and follows no links, as anybody can write to /tmp. */
static FILE *open_map(const char *folder, uint32_t pid)
{
	char path[4096];
	struct stat status;
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s/perf-%" PRIu32 ".map", folder, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? fdopen(fd, "r") : NULL;
	if (!file)
		close(fd);
	return file;
}

static void add_line(struct tpa_perfmap *jit, char *line)
{
	uint64_t start, size;
	char *end, *name;

	start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return;
	size = strtoull(end, &name, 16);
	if (name == end || *name != ' ' || !size || start + size < start)
		return;
	name++;
	name[strcspn(name, "\r\n")] = '\0';
	tpa_grow(&jit->entries, &jit->capacity, jit->count + 1, sizeof(*jit->entries));
	jit->entries[jit->count] = (struct entry){ start, start + size, 0, jit->count, tpa_strdup(name) };
	jit->count++;
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return TPA_UP(a->start, b->start) ?: TPA_UP(a->line, b->line);
}

struct tpa_perfmap *tpa_perfmap_open(const char *folder, uint32_t pid)
{
	FILE *file = open_map(folder, pid);
	struct tpa_perfmap *jit = file ? tpa_zalloc(1, sizeof(*jit)) : NULL;
	uint64_t limit = 0;
	char *line = NULL;
	size_t size = 0;

	if (!jit)
		return NULL;
	while (getline(&line, &size, file) > 0)
		add_line(jit, line);
	free(line);
	fclose(file);
	if (jit->count)
		qsort(jit->entries, jit->count, sizeof(*jit->entries), compare);
	for (size_t i = 0; i < jit->count; i++) {
		limit = jit->entries[i].end > limit ? jit->entries[i].end : limit;
		jit->entries[i].limit = limit;
	}
	return jit;
}

void tpa_perfmap_close(struct tpa_perfmap *jit)
{
	if (!jit)
		return;
	for (size_t i = 0; i < jit->count; i++)
		free(jit->entries[i].name);
	free(jit->entries);
	free(jit);
}

const char *tpa_perfmap_find(const struct tpa_perfmap *jit, uint64_t address)
{
	const struct entry *best = NULL;
	size_t i = jit ? TPA_UP_TO(jit->entries, jit->count, start, address) : 0;

	while (i-- > 0 && address < jit->entries[i].limit)
		if (address < jit->entries[i].end && (!best || jit->entries[i].line > best->line))
			best = &jit->entries[i];
	return best ? best->name : NULL;
}
