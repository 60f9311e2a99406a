/* SPDX-License-Identifier: Apache-2.0 */
/* A compact trace: writes one, and reads the bytes of the trace that it was made of. */
#ifndef TPROF_COMPACT_COMPACT_H
#define TPROF_COMPACT_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/part.h"

/* ---- writing ---- */

/* Reads `size` bytes of the trace at an offset; returns how many it read. */
typedef size_t tpa_compact_source(void *context, void *buffer, size_t size, uint64_t offset);

/* Changes texts of the trace while it is written; all lengths stay. */
struct tpa_compact_edit {
	void *context;
	void (*header)(void *context, uint8_t *header, size_t length);
	/* A record with a length (tprof-trace(5)), of event chunks or of table chunks. */
	void (*record)(void *context, bool event, unsigned type, uint8_t *body, size_t length);
};

struct tpa_compact_input {
	tpa_compact_source *read;
	void *context;
	uint64_t trace_bytes;
	uint32_t header_size, chunk_size; /* checked */
	const uint8_t *names;		  /* NULL: none; see symbols/embedded.h */
	size_t names_length;
	const struct tpa_compact_edit *edit; /* NULL: none. With one, what can't be read as records is left out */
};

/* False: *error (a heap string) says why. */
bool tpa_compact_write(FILE *file, const struct tpa_compact_input *input, char **error);

/* ---- reading ---- */

struct tpa_compact;

/* The first `size` bytes of the trace's header, and how many the trace has; the rest is not looked at. Returns how many were read. */
size_t tpa_compact_header(const struct tpa_part *file, void *buffer, size_t size, uint64_t *bytes);

/* Does the file begin as a compact trace does? */
bool tpa_compact_is(const struct tpa_part *file);

/* The file stays the caller's, and open until tpa_compact_close(). NULL: *reason (static) says why it can't be read. */
struct tpa_compact *tpa_compact_open(const struct tpa_part *file, const char **reason);
void tpa_compact_close(struct tpa_compact *compact); /* NULL: does nothing */

/* Bytes of the trace. */
uint64_t tpa_compact_bytes(const struct tpa_compact *compact);

/* Reads bytes of the trace: those behind the records that a chunk's head counts are 0. Returns how many; less at the end, or if
 * a frame is damaged. */
size_t tpa_compact_read(struct tpa_compact *compact, void *buffer, size_t size, uint64_t offset);

/* The names in it, owned by `compact`. NULL: it has none, and *length is 0; or they are damaged. */
const uint8_t *tpa_compact_names(struct tpa_compact *compact, size_t *length);

#endif
