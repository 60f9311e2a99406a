/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared mappings. A fork has no pages of them until it looks, so its own page map says nothing. The file knows where it has
 * data; where it can't be opened, the page map of the process that was forked knows what that has touched.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/snapshot_maps.h"

#define PAGE 4096u
#define PAGE_THERE (3ull << 62) /* present, or swapped out */

/* Opens a path if it is the file that is mapped; a device is not touched. By inode alone: see trace/control.c. */
static int open_if(const char *path, const struct tpa_frozen_map *map)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_ino != map->inode)
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int open_descriptor(pid_t pid, const struct tpa_frozen_map *map)
{
	struct dirent *entry;
	char path[400];
	DIR *directory;
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	while (directory && fd < 0 && (entry = readdir(directory)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		fd = entry->d_name[0] == '.' ? -1 : open_if(path, map);
	}
	if (directory)
		closedir(directory);
	return fd;
}

/* By its name, by the mapping itself (which root may open), or by a descriptor that is still open. */
static int open_file(pid_t pid, const struct tpa_frozen_map *map)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, map->path);
	fd = map->path[0] == '/' ? open_if(path, map) : -1;
	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, (unsigned long)map->low,
			 (unsigned long)map->high);
		fd = open_if(path, map);
	}
	return fd < 0 ? open_descriptor(pid, map) : fd;
}

static bool is_trace(int fd)
{
	char magic[sizeof(TPROF_MAGIC) - 1];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && memcmp(magic, TPROF_MAGIC, sizeof(magic)) == 0;
}

static void visit_data(int fd, const struct tpa_frozen_map *map, tpa_frozen_part *visit, void *context)
{
	off_t at = (off_t)map->offset, end = at + (off_t)(map->high - map->low);

	while (at < end) {
		off_t data = lseek(fd, at, SEEK_DATA), hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);

		if (data < 0 && errno != ENXIO) /* the file system can't tell */
			data = at, hole = end;
		if (data < 0 || data >= end)
			return;
		if (hole < 0 || hole > end)
			hole = end;
		visit(context, map->low + (uint64_t)(data - (off_t)map->offset),
		      map->low + (uint64_t)(hole - (off_t)map->offset));
		at = hole;
	}
}

static void visit_touched(int pagemap, const struct tpa_frozen_map *map, tpa_frozen_part *visit, void *context)
{
	uint64_t entries[512], at = map->low;

	while (at < map->high) {
		uint64_t pages = (map->high - at) / PAGE;
		ssize_t got;

		if (pages > sizeof(entries) / sizeof(entries[0]))
			pages = sizeof(entries) / sizeof(entries[0]);
		got = pread(pagemap, entries, pages * 8, (off_t)(at / PAGE * 8));
		if (got <= 0)
			return;
		for (size_t i = 0; i < (size_t)got / 8; i++, at += PAGE)
			if (entries[i] & PAGE_THERE)
				visit(context, at, at + PAGE);
	}
}

/* Whether the file is in memory, where reading a missing page creates it. */
static bool is_memory(const struct tpa_frozen_map *map)
{
	static const char *const names[] = { "/dev/shm/", "/memfd:", "/dev/zero", "/SYSV" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(map->path, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

void tpa_frozen_shared(const struct tpa_frozen *frozen, const struct tpa_frozen_map *map, tpa_frozen_part *visit,
		       void *context)
{
	int fd, pagemap;

	if (!is_memory(map) && (strncmp(map->path, "/dev/", 5) == 0 || map->path[0] != '/'))
		return; /* a device, a kernel's object */
	fd = open_file(frozen->parent, map);
	if (fd >= 0) {
		if (!is_trace(fd))
			visit_data(fd, map, visit, context);
		close(fd);
		return;
	}
	pagemap = is_memory(map) ? tpa_frozen_proc(frozen->parent, "pagemap") : -1;
	if (pagemap < 0) {
		visit(context, map->low, map->high);
		return;
	}
	visit_touched(pagemap, map, visit, context);
	close(pagemap);
}
