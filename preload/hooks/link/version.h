/* SPDX-License-Identifier: Apache-2.0 */
/* Which version of a symbol an object asks for. */
#ifndef TPROF_LINK_VERSION_H
#define TPROF_LINK_VERSION_H

#include <elf.h>
#include <link.h>

#include "core/base.h"

/* Of an object: DT_VERSYM and DT_VERNEED as they lie in memory, or NULL. */
struct tpc_versions {
	const uint16_t *of_symbols;
	const ElfW(Verneed) * needed;
};

/* The version's name; NULL: any will do. `strings` is the object's DT_STRTAB. */
const char *tpc_version_needed(const struct tpc_versions *versions, const char *strings, size_t symbol);

#endif
