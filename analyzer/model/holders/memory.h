/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process that stands still, read through a cache: blocks are small, and lie near each other. */
#ifndef TPROF_MODEL_HOLDERS_MEMORY_H
#define TPROF_MODEL_HOLDERS_MEMORY_H

#include "trace/snapshot.h"

#define TPA_HOLDERS_WINDOW 16384u
#define TPA_HOLDERS_WINDOWS 2048u /* 32 MiB */

struct tpa_holders_memory {
	struct tpa_frozen *frozen;
	char *windows;
	uint64_t *places; /* the address of each window, + 1; 0: empty */
};

void tpa_holders_memory_init(struct tpa_holders_memory *memory, struct tpa_frozen *frozen);
void tpa_holders_memory_free(struct tpa_holders_memory *memory);

/* Zeros where there is nothing. */
void tpa_holders_copy(struct tpa_holders_memory *memory, uint64_t address, void *to, size_t size);
uint64_t tpa_holders_word(struct tpa_holders_memory *memory, uint64_t address);

/* A text that ends with a 0. False: it is longer, or not printable. */
bool tpa_holders_text(struct tpa_holders_memory *memory, uint64_t address, char *text, size_t size);

/* Is it in a file's mapping, or in the zeroed data behind one? */
bool tpa_holders_in_file(const struct tpa_holders_memory *memory, uint64_t address);

#endif
