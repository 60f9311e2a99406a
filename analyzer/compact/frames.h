/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of zstd frames with a seek table at its end: zstd's seekable format (contrib/seekable_format of its source), which libzstd
 * itself neither writes nor reads. Frame 0 is a skippable one.
 */
#ifndef TPROF_COMPACT_FRAMES_H
#define TPROF_COMPACT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/part.h"
#include "compact/group.h"

struct tpa_frame_entry {
	uint32_t compressed, length; /* bytes in the file, and decompressed */
	uint64_t offset;	     /* in the file; not stored */
};

/* ---- writing ---- */

struct tpa_frames_writer;

/* `level`: zstd's. NULL: out of memory. */
struct tpa_frames_writer *tpa_frames_writer_new(FILE *file, int level);
void tpa_frames_writer_free(struct tpa_frames_writer *writer);

/* Each writes a frame. False: *error (heap string) says why. */
bool tpa_frames_skippable(struct tpa_frames_writer *writer, const void *bytes, size_t length, char **error);
bool tpa_frames_add(struct tpa_frames_writer *writer, const struct tpa_piece *pieces, size_t count, char **error);

/* Writes the seek table. */
bool tpa_frames_end(struct tpa_frames_writer *writer, char **error);

/* ---- reading ---- */

struct tpa_frames {
	struct tpa_part file;
	struct tpa_frame_entry *list;
	size_t count;
	void *context; /* libzstd's */
};

/* The first `size` bytes of the skippable frame at the file's begin. False: there is none, or it is shorter. */
bool tpa_frames_first(const struct tpa_part *file, void *bytes, size_t size);

/* Reads the seek table. False: *reason says why it can't be used. Free with tpa_frames_close() in either case. */
bool tpa_frames_open(struct tpa_frames *frames, const struct tpa_part *file, const char **reason);
void tpa_frames_close(struct tpa_frames *frames);

/* Decompresses a frame to `out`, which has room for all of it. False: it is damaged. */
bool tpa_frames_read(struct tpa_frames *frames, size_t number, uint8_t *out);

#endif
