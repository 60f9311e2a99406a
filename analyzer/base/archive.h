/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves and loads structures by one description: a function that visits the fields of a structure writes them when the
 * archive saves, and fills them when it loads, so that the two directions can't differ.
 *
 * An archive fails once, with a reason, and ignores everything after that; its owner checks at the end. Data that a
 * failed archive has loaded may be incomplete, but is safe to free. Not thread-safe.
 *
 * Format: the size of an element precedes each object and each array, so that a build with another layout refuses the
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
	size_t at;	    /* loading: read so far */
	const void *user;   /* for the visiting functions */
};

/* An archive of zeros saves. To load, call this; the bytes remain the caller's. */
void tpa_archive_load_from(struct tpa_archive *archive, const void *bytes, size_t size);

/* Frees the saved bytes. */
void tpa_archive_free(struct tpa_archive *archive);

/* Visits one object without pointers. If loading fails, the object is zeroed. */
void tpa_archive_object(struct tpa_archive *archive, void *object, size_t size);
#define TPA_ARCHIVE(archive, object) tpa_archive_object(archive, &(object), sizeof(object))

/*
 * Visits an array: `list` points to the pointer of a heap array of `count` elements. Loading frees the present array
 * and allocates one with room for at least *room elements (`room` may be NULL), and sets *room to its room. On failure
 * the array is empty.
 */
void tpa_archive_array(struct tpa_archive *archive, void *list, size_t *count, size_t *room, size_t size);

/* Visits a string in the heap, or NULL. */
void tpa_archive_text(struct tpa_archive *archive, char **text);

/*
 * Makes the archive fail if the condition does not hold: for numbers that were loaded. Returns whether the archive is
 * good.
 */
bool tpa_archive_check(struct tpa_archive *archive, bool condition, const char *reason);

/* ---- files ---- */

/*
 * tpa_archive_seal() wraps the saved bytes: magic, version, length, checksum. False: the archive has failed.
 * tpa_archive_open() checks all of that and begins to load; false: archive->failed says why.
 */
bool tpa_archive_seal(struct tpa_archive *archive);
bool tpa_archive_open(struct tpa_archive *archive, const void *bytes, size_t size);

#endif
