/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a C++ function, from its symbol: globs are compared with it, and reports show it. */
#ifndef TPROF_HOOKS_OPS_QUALIFY_H
#define TPROF_HOOKS_OPS_QUALIFY_H

#include "core/text.h"

static inline bool tpc_is_mangled(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'Z';
}

/*
 * a::b::c, without parameters and template arguments. The symbol itself if it is not C++, or contains something that is
 * not understood: an incomplete name must not merge two functions.
 */
void tpc_qualify(const char *symbol, struct tpc_text *to);

/* Reads an identifier at *at, after its length, and moves *at behind it. False: there is none. */
bool tpc_read_identifier(const char **at, const char **start, size_t *length);

#endif
