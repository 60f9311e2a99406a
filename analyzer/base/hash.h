/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a, 64 bits (Fowler, Noll, Vo): a hash of texts and bytes for tables. Not to be used against an attacker. */
#ifndef TPROF_BASE_HASH_H
#define TPROF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TPA_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* The hash of a text, without its NUL, added to `hash`: TPA_HASH_BEGIN, or that of what stands before it. */
static inline uint64_t tpa_hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static inline uint64_t tpa_hash_bytes(uint64_t hash, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

#endif
