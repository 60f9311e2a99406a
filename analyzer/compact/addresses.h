/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the addresses of a group's events say of later ones: allocators hand out again what was freed last, and what is freed was
 * allocated before. Encoder and decoder keep the same state.
 */
#ifndef TPROF_COMPACT_ADDRESSES_H
#define TPROF_COMPACT_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"

#define TPA_SIZES 1024u /* classes of usable sizes */
#define TPA_FREED 64u	/* addresses of a class that are remembered, the last that were freed */

struct tpa_freed {
	uint64_t list[TPA_FREED]; /* a ring */
	uint8_t next, count;
};

/* Initialize with zeros. Addresses are in units of 8 bytes. */
struct tpa_addresses {
	struct tpa_freed freed[TPA_SIZES];
	struct {
		uint64_t address;
		uint32_t size; /* class */
	} * allocated;	       /* in order */
	size_t count, room;
	struct tpa_pairs numbers; /* encoding: of an address, the number of its last allocation, 1, 2, ... */
	/* Of the chunk: as format.h says */
	uint64_t recent[256], last;
};

static inline unsigned tpa_size_class(uint64_t usable)
{
	return (unsigned)(usable * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

/* The address's place among those of the class that were freed last, from 1 on; 0: it is not among them. */
unsigned tpa_addresses_place(const struct tpa_addresses *addresses, unsigned size, uint64_t address);

/* The address at that place, which is no longer free then. False: there is none. */
bool tpa_addresses_reuse(struct tpa_addresses *addresses, unsigned size, uint64_t place, uint64_t *address);

/* Adds an allocation. `encoding`: it will be looked up by its address. */
void tpa_addresses_allocate(struct tpa_addresses *addresses, unsigned size, uint64_t address, bool encoding);

/* How many allocations ago the block was allocated, from 1 on; 0: it is not known. */
uint64_t tpa_addresses_age(const struct tpa_addresses *addresses, uint64_t address);

/* The block of which that is the age is free. False: there is none. */
bool tpa_addresses_free(struct tpa_addresses *addresses, uint64_t age, uint64_t *address);

/* At a chunk's begin, and where another thread takes it over. */
void tpa_addresses_restart(struct tpa_addresses *addresses);

void tpa_addresses_release(struct tpa_addresses *addresses);

#endif
