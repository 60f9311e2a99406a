/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves and loads structures by one description: a function that visits the fields of a structure writes them when
 * the archive saves, and fills them when it loads, so that the two directions can't differ.
 *
 * An archive fails once, with a reason, and ignores every later call; its owner checks for failure at the end. Data
 * loaded from a failed archive may be incomplete, but is safe to free. Not thread-safe.
 *
 * Format: the size of an element precedes each object and each array, so that a build with another layout rejects the
 * archive. Numbers have the byte order and layout of this machine.
 */
#ifndef TPROF_BASE_ARCHIVE_H
#define TPROF_BASE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_archive {
	bool loading;
	const char *failed; /* static text; NULL: no failure so far */
	uint8_t *bytes;	    /* saving: owned, grows; loading: the caller's, read only */
	size_t size, room;  /* bytes saved, or bytes that can be loaded */
	size_t at;	    /* loading: bytes read so far */
	const void *user;   /* data for the visiting functions; the archive does not use it */
};

/*
 * A zeroed archive saves. To load, call this function; `bytes` remain the caller's and must outlive the archive.
 * Keeps archive->user.
 */
void tpa_archive_load_from(struct tpa_archive *archive, const void *bytes, size_t size);

/* Frees the saved bytes. Leaves the bytes that a loading archive reads to the caller. */
void tpa_archive_free(struct tpa_archive *archive);

/* Visits one object without pointers. If loading fails, the object is zeroed. */
void tpa_archive_object(struct tpa_archive *archive, void *object, size_t size);
#define TPA_ARCHIVE(archive, object) tpa_archive_object(archive, &(object), sizeof(object))

/*
 * Visits an array. `list`: the address of a pointer to a heap array of *count elements of `size` bytes. Loading frees
 * the old array, allocates one with room for max(*room, *count) elements, and stores that in *room; `room` may be
 * NULL. On failure the array is empty.
 */
void tpa_archive_array(struct tpa_archive *archive, void *list, size_t *count, size_t *room, size_t size);

/* Visits a heap string or NULL. Loading overwrites *text without freeing it; the caller frees the loaded string. */
void tpa_archive_text(struct tpa_archive *archive, char **text);

/*
 * Fails the archive with `reason` (static text) if `condition` is false. Use it to validate loaded numbers. Returns
 * false if the archive has failed, now or earlier.
 */
bool tpa_archive_check(struct tpa_archive *archive, bool condition, const char *reason);

/* ---- files ---- */

/*
 * tpa_archive_seal() puts a header in front of the saved bytes: magic, version, length, checksum. It returns false if
 * the archive has failed.
 * tpa_archive_open() checks the header and starts loading. It returns false if a check fails; archive->failed says
 * why.
 */
bool tpa_archive_seal(struct tpa_archive *archive);
bool tpa_archive_open(struct tpa_archive *archive, const void *bytes, size_t size);

#endif
