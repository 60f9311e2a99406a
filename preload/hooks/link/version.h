/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the version of a symbol that an object asks for. */
#ifndef TPROF_LINK_VERSION_H
#define TPROF_LINK_VERSION_H

#include <elf.h>
#include <link.h>

#include "core/base.h"

/* DT_VERSYM and DT_VERNEED of an object, as they are in memory, or NULL. */
struct tpc_versions {
	const uint16_t *of_symbols;
	const ElfW(Verneed) * needed;
};

/* The version's name; NULL: any will do. `strings` is the object's DT_STRTAB. */
const char *tpc_version_needed(const struct tpc_versions *versions, const char *strings, size_t symbol);

#endif
