/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/snapshot_maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

int tpa_frozen_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* What VmFlags says of a mapping: proc_pid_smaps(5). */
struct flags {
	bool not_copied, wiped; /* by fork */
};

static bool parse(char *line, struct tpa_frozen_map *map)
{
	unsigned long low, high, offset, inode;
	unsigned major_number, minor_number;
	char permissions[5];
	int path_at = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &low, &high, permissions, &offset, &major_number,
		   &minor_number, &inode, &path_at) < 7)
		return false;
	line[strcspn(line, "\n")] = 0;
	*map = (struct tpa_frozen_map){
		.low = low,
		.high = high,
		.offset = offset,
		.inode = inode,
		.readable = permissions[0] == 'r',
		.writable = permissions[1] == 'w',
		.executable = permissions[2] == 'x',
		.shared = permissions[3] == 's',
		.anonymous = !inode,
	};
	snprintf(map->path, sizeof(map->path), "%s", path_at ? line + path_at : "");
	return true;
}

static void parse_flags(const char *line, struct tpa_frozen_map *map, struct flags *flags)
{
	if (strncmp(line, "VmFlags:", 8) != 0)
		return;
	flags->not_copied = strstr(line, " dc");
	flags->wiped = strstr(line, " wf");
	map->device = strstr(line, " io") || strstr(line, " pf");
}

typedef bool take_map(struct tpa_frozen *frozen, struct tpa_frozen_map *map, const struct flags *flags);

static bool take_own(struct tpa_frozen *frozen, struct tpa_frozen_map *map, const struct flags *flags)
{
	tpa_grow(&frozen->maps, &frozen->room, frozen->count + 1, sizeof(*map));
	map->of_parent = flags->wiped;
	frozen->maps[frozen->count++] = *map;
	return true;
}

static bool overlaps(const struct tpa_frozen *frozen, const struct tpa_frozen_map *map)
{
	for (size_t i = 0; i < frozen->count; i++)
		if (frozen->maps[i].low < map->high && frozen->maps[i].high > map->low)
			return true;
	return false;
}

/* Adds the parent's mappings that fork did not copy. */
static bool take_parents(struct tpa_frozen *frozen, struct tpa_frozen_map *map, const struct flags *flags)
{
	if (!flags->not_copied || map->device || overlaps(frozen, map))
		return true;
	return take_own(frozen, map, &(struct flags){ .wiped = true });
}

/* smaps has the flags; a kernel without it has maps. */
static FILE *open_maps(pid_t pid)
{
	int fd = tpa_frozen_proc(pid, "smaps");

	if (fd < 0)
		fd = tpa_frozen_proc(pid, "maps");
	return fd < 0 ? NULL : fdopen(fd, "r");
}

static bool read_each(struct tpa_frozen *frozen, pid_t pid, take_map *take)
{
	struct flags flags = { false, false };
	struct tpa_frozen_map map = { 0 }, next;
	FILE *file = open_maps(pid);
	bool good = file, any = false;
	char *line = NULL;
	size_t room = 0;

	while (good && getline(&line, &room, file) > 0) {
		if (!parse(line, &next)) {
			parse_flags(line, &map, &flags);
			continue;
		}
		good = !any || take(frozen, &map, &flags);
		map = next;
		flags = (struct flags){ false, false };
		any = true;
	}
	good = good && (!any || take(frozen, &map, &flags));
	free(line);
	if (file)
		fclose(file);
	return good;
}

bool tpa_frozen_read_maps(struct tpa_frozen *frozen)
{
	if (!read_each(frozen, frozen->pid, take_own) || !read_each(frozen, frozen->parent, take_parents))
		return false;
	TPA_SORT(frozen->maps, frozen->count, low);
	return true;
}

const struct tpa_frozen_map *tpa_frozen_find(const struct tpa_frozen *frozen, uint64_t address)
{
	size_t next = TPA_UP_TO(frozen->maps, frozen->count, low, address);

	return next && address < frozen->maps[next - 1].high ? &frozen->maps[next - 1] : NULL;
}
