/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/frozen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/impl.h"

#define PAGE 4096u
#define PAGES_MAX 64u		/* looked up at once */
#define PAGE_THERE (3ull << 62) /* present, or swapped out */

static int open_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool parse(char *line, struct tp_frozen_map *map)
{
	unsigned long low, high, offset, inode;
	unsigned major_number, minor_number;
	char permissions[5];
	int path_at = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &low, &high, permissions, &offset, &major_number,
		   &minor_number, &inode, &path_at) < 7 ||
	    permissions[0] != 'r' || permissions[1] != 'w')
		return false;
	line[strcspn(line, "\n")] = 0;
	*map = (struct tp_frozen_map){ .low = low, .high = high, .shared = permissions[3] == 's', .anonymous = !inode };
	snprintf(map->path, sizeof(map->path), "%s", path_at ? line + path_at : "");
	return true;
}

static bool read_maps(struct tp_frozen *frozen)
{
	char path[64], *line = NULL;
	size_t room = 0, map_room = 0;
	struct tp_frozen_map map;
	bool good = true;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)frozen->pid);
	file = fopen(path, "re");
	while (file && good && getline(&line, &room, file) > 0) {
		if (!parse(line, &map))
			continue;
		good = tp_reserve(&frozen->maps, &map_room, frozen->count + 1, sizeof(map));
		if (good)
			frozen->maps[frozen->count++] = map;
	}
	free(line);
	if (file)
		fclose(file);
	return good && file;
}

static bool read_note(struct tp_frozen *frozen, uint64_t at, uint64_t bytes)
{
	frozen->note = calloc(1, sizeof(*frozen->note));
	return frozen->note && bytes == sizeof(*frozen->note) &&
	       pread(frozen->memory, frozen->note, sizeof(*frozen->note), (off_t)at) == sizeof(*frozen->note) &&
	       frozen->note->stack_count <= TPROF_SNAPSHOT_RANGES && frozen->note->own_count <= TPROF_SNAPSHOT_RANGES &&
	       frozen->note->kept_count <= TPROF_SNAPSHOT_RANGES && frozen->note->in_hand_count <= TPROF_IN_HAND;
}

bool tp_frozen_open(struct tp_frozen *frozen, pid_t pid, uint64_t note_at, uint64_t bytes, char **error)
{
	const char *cause;

	*frozen = (struct tp_frozen){
		.pid = pid, .note_at = note_at, .memory = open_of(pid, "mem"), .pagemap = open_of(pid, "pagemap")
	};
	cause = frozen->memory < 0 ? strerror(errno) : NULL;
	if (!cause && !read_maps(frozen))
		cause = strerror(errno);
	if (!cause && !read_note(frozen, note_at, bytes))
		cause = "it does not say what it is, as a libtprof.so of another version";
	if (!cause)
		return true;
	if (kill(pid, 0) != 0)
		cause = "it has ended";
	if (asprintf(error, "the memory of the fork, process %d, can't be read: %s", (int)pid, cause) < 0)
		*error = NULL;
	tp_frozen_close(frozen);
	return false;
}

void tp_frozen_close(struct tp_frozen *frozen)
{
	if (frozen->memory >= 0)
		close(frozen->memory);
	if (frozen->pagemap >= 0)
		close(frozen->pagemap);
	free(frozen->maps);
	free(frozen->note);
	*frozen = (struct tp_frozen){ .memory = -1, .pagemap = -1 };
}

/* How many bytes from `address` on lie in pages that are there. */
static size_t there(const struct tp_frozen *frozen, uint64_t address, size_t size)
{
	uint64_t entries[PAGES_MAX], first = address / PAGE;
	size_t pages = (size_t)((address + size - 1) / PAGE - first + 1), i = 0;

	if (frozen->pagemap < 0)
		return size;
	if (pages > PAGES_MAX)
		pages = PAGES_MAX;
	if (pread(frozen->pagemap, entries, pages * 8, (off_t)(first * 8)) != (ssize_t)(pages * 8))
		return size;
	while (i < pages && entries[i] & PAGE_THERE)
		i++;
	if (i == 0)
		return 0;
	return (first + i) * PAGE - address < size ? (size_t)((first + i) * PAGE - address) : size;
}

size_t tp_frozen_copy(const struct tp_frozen *frozen, uint64_t address, void *to, size_t size)
{
	ssize_t got = pread(frozen->memory, to, size, (off_t)address);

	return got > 0 ? (size_t)got : 0;
}

/* What of a copy lies in a range is nothing. */
static void blank(const struct tprof_range *range, uint64_t address, char *copy, size_t size)
{
	uint64_t low = range->low > address ? range->low : address;
	uint64_t high = range->high < address + size ? range->high : address + size;

	if (low < high)
		memset(copy + (low - address), 0, (size_t)(high - low));
}

size_t tp_frozen_read(void *context, uint64_t address, void *to, size_t size)
{
	const struct tp_frozen *frozen = context;
	size_t readable = there(frozen, address, size);
	size_t got = readable ? tp_frozen_copy(frozen, address, to, readable) : 0;

	for (size_t i = 0; i < sizeof(frozen->dead) / sizeof(frozen->dead[0]); i++)
		blank(&frozen->dead[i], address, to, got);
	return got;
}
