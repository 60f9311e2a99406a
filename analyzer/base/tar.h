/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives as POSIX pax describes them ("ustar"), uncompressed: what tar makes, and what it lists and unpacks. Members are read where they lie.
 */
#ifndef TPROF_BASE_TAR_H
#define TPROF_BASE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/part.h"

#define TPA_TAR_BLOCK 512u
#define TPA_TAR_NAME 256u /* room of a name that fits into a header, with its NUL */

/* ---- reading ---- */

struct tpa_tar_member {
	char *name;	      /* "" for one whose name is lost */
	struct tpa_part part; /* what the file has of it */
	uint64_t bytes;	      /* what it should have */
};

/* A place where the archive can't be read, or ends too early. */
struct tpa_tar_damage {
	uint64_t offset;
	const char *reason; /* static; NULL: there is no damage */
};

struct tpa_tar {
	struct tpa_tar_member *list; /* regular files, in the order of the archive */
	size_t count, room;
	struct tpa_tar_damage damage; /* the first */
};

/* Does the file begin with a header of a member? It may be damaged. */
bool tpa_tar_is(const struct tpa_part *file);

/*
 * Reads all headers, but no contents. After a damaged header it goes on with the next one that is whole. Free with
 * tpa_tar_free().
 */
void tpa_tar_read(struct tpa_tar *tar, const struct tpa_part *file);
void tpa_tar_free(struct tpa_tar *tar);

/* ---- writing ---- */

/* Writes the header of a member whose size is not known yet. `name` is one that tpa_tar_name_fits(); `time`: unix time. False: errno. */
bool tpa_tar_begin(FILE *file, const char *name, uint64_t time);

/* Fills the last block up, and goes back to write the size into the header; the file must be seekable. False: errno; EFBIG: over 8 GiB. */
bool tpa_tar_end(FILE *file, const char *name, uint64_t time, off_t header);

/* Writes the two empty blocks at an archive's end. */
bool tpa_tar_finish(FILE *file);

/* Can a header hold the name? A longer one needs to be cut at a slash. */
bool tpa_tar_name_fits(const char *name);

#endif
