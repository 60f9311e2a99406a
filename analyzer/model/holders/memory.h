/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a frozen process, read through a cache, because blocks are small and lie near each other. */
#ifndef TPROF_MODEL_HOLDERS_MEMORY_H
#define TPROF_MODEL_HOLDERS_MEMORY_H

#include "trace/snapshot.h"

#define TPA_HOLDERS_WINDOW 16384u
#define TPA_HOLDERS_WINDOWS 2048u /* 32 MiB in all */

struct tpa_holders_memory {
	struct tpa_frozen *frozen;
	char *windows;
	uint64_t *places; /* the address of each window + 1; 0: empty */
};

void tpa_holders_memory_init(struct tpa_holders_memory *memory, struct tpa_frozen *frozen);
void tpa_holders_memory_free(struct tpa_holders_memory *memory);

/* Copies memory. Memory that is not there reads as zeros. */
void tpa_holders_copy(struct tpa_holders_memory *memory, uint64_t address, void *to, size_t size);
uint64_t tpa_holders_word(struct tpa_holders_memory *memory, uint64_t address);

/*
 * Reads a string that ends with NUL. False: it is empty or longer than `text`, or has spaces or unprintable characters.
 */
bool tpa_holders_text(struct tpa_holders_memory *memory, uint64_t address, char *text, size_t size);

/* Is the address in a file's mapping, or in the zeroed data behind one? */
bool tpa_holders_in_file(const struct tpa_holders_memory *memory, uint64_t address);

#endif
