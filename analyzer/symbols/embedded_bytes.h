/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a compact trace's names (tprof-trace(5), Names) while they are put together: texts, each once, and lists of numbers. */
#ifndef TPROF_SYMBOLS_EMBEDDED_BYTES_H
#define TPROF_SYMBOLS_EMBEDDED_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/location.h"

struct tpa_embedded_bytes;

/* What becomes of texts: another text, which lives on, or the same. NULL: the texts stay. */
struct tpa_rename {
	const char *(*text)(void *context, const char *text);
	void *context;
};

/* `rename`: of all texts, unless it is NULL. */
struct tpa_embedded_bytes *tpa_embedded_begin(const struct tpa_rename *rename);

void tpa_embedded_put_byte(struct tpa_embedded_bytes *bytes, unsigned byte);
void tpa_embedded_put(struct tpa_embedded_bytes *bytes, uint64_t value);

/* Puts the number of a text; 0: NULL. */
void tpa_embedded_put_text(struct tpa_embedded_bytes *bytes, const char *text);

/* The begin of a frame: its module's number, or 0, and its address (tpa_frame_address()) as the difference to that of the frame before. */
void tpa_embedded_put_place(struct tpa_embedded_bytes *bytes, uint32_t module, uint64_t address, uint64_t before);

/* What follows: the places in the source, innermost first. Then comes what covers the address. */
void tpa_embedded_put_locations(struct tpa_embedded_bytes *bytes, const struct tpa_location *locations, size_t count);

/* Joins all of it into a heap block of *length bytes, and frees `bytes`. */
uint8_t *tpa_embedded_end(struct tpa_embedded_bytes *bytes, size_t *length);

#endif
