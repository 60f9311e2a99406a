/* SPDX-License-Identifier: Apache-2.0 */
/* A part of an open file that is read as a file of its own: all of it, or a member of an archive. */
#ifndef TPROF_BASE_PART_H
#define TPROF_BASE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_part {
	int fd;
	uint64_t begin, bytes; /* offset in the file, and length */
};

/* All that the file has now; without bytes if it can't be asked. `fd` stays the caller's. */
struct tpa_part tpa_part_whole(int fd);

/* Reads `size` bytes at an offset of the part; less at its end or on an error. Returns the bytes read. */
size_t tpa_part_read(const struct tpa_part *part, void *buffer, size_t size, uint64_t offset);

#endif
