/* SPDX-License-Identifier: Apache-2.0 */
#include "import/mapped_files.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/read_at.h"

/* A program that is not position-independent lies where it was linked for. */
static bool is_fixed(const char *path)
{
	Elf64_Ehdr header = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return false;
	tpa_read_at(fd, &header, sizeof(header), 0);
	close(fd);
	return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_EXEC;
}

/* An address, in which a number without "0x" ends at `end`. */
static bool read_number(char **at, char end, uint64_t *number)
{
	char *behind;

	if (!**at || !strchr("0123456789abcdef", **at))
		return false;
	*number = strtoull(*at, &behind, 16);
	if (*behind != end)
		return false;
	*at = behind + 1;
	return true;
}

bool tpa_mapped_files_add(struct tpa_mapped_files *maps, struct tpa_source *source, char *line)
{
	char *at = line + strspn(line, " "), *path;
	uint64_t start, end, offset;
	uint32_t last;

	if (!read_number(&at, '-', &start) || !read_number(&at, ' ', &end) || !(at = strchr(at, ' ')))
		return false;
	at++;
	if (!read_number(&at, ' ', &offset) || start >= end)
		return false;
	path = strchr(at, '/');
	if (!path)
		return true;
	last = maps->path && strcmp(maps->path, path) == 0 && offset ? source->modules : 0;
	if (last) {
		*TPA_APPEND(maps->list, maps->count, maps->room) = (struct tpa_mapped_file){ start, end, last };
		return true;
	}
	free(maps->path);
	maps->path = tpa_strdup(path);
	if (!source->exe)
		source->exe = tpa_strdup(path); /* it is mapped first */
	source->modules = tpa_write_module(source->writer, path, is_fixed(path) ? 0 : start - offset, start, end);
	*TPA_APPEND(maps->list, maps->count, maps->room) = (struct tpa_mapped_file){ start, end, source->modules };
	return true;
}

void tpa_mapped_files_free(struct tpa_mapped_files *maps)
{
	free(maps->list);
	free(maps->path);
}

uint32_t tpa_mapped_files_module(const struct tpa_mapped_files *maps, uint64_t address)
{
	for (size_t i = 0; i < maps->count; i++)
		if (address >= maps->list[i].start && address < maps->list[i].end)
			return maps->list[i].module;
	return 0;
}
