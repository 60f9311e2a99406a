/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/version.h"

#define INDEX 0x7fff /* the bit beside it: hidden */

static const void *behind(const void *record, size_t bytes)
{
	return (const char *)record + bytes;
}

/* Both kinds of record form chains by offsets; 0 ends a chain. */
static const ElfW(Vernaux) * find(const ElfW(Verneed) * needed, uint16_t index)
{
	for (;;) {
		const ElfW(Vernaux) *version = behind(needed, needed->vn_aux);

		for (uint16_t i = 0; i < needed->vn_cnt; i++) {
			if ((version->vna_other & INDEX) == index)
				return version;
			version = behind(version, version->vna_next);
		}
		if (!needed->vn_next)
			return NULL;
		needed = behind(needed, needed->vn_next);
	}
}

const char *tpc_version_needed(const struct tpc_versions *versions, const char *strings, size_t symbol)
{
	uint16_t index = versions->of_symbols ? versions->of_symbols[symbol] & INDEX : VER_NDX_LOCAL;
	const ElfW(Vernaux) *version =
		index > VER_NDX_GLOBAL && versions->needed ? find(versions->needed, index) : NULL;

	return version ? strings + version->vna_name : NULL;
}
