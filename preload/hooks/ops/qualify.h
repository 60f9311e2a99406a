/* SPDX-License-Identifier: Apache-2.0 */
/* What a C++ function is called, from its symbol: globs are compared with it, and reports show it. */
#ifndef TPROF_HOOKS_OPS_QUALIFY_H
#define TPROF_HOOKS_OPS_QUALIFY_H

#include "core/text.h"

static inline bool tpc_is_mangled(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'Z';
}

/*
 * a::b::c, without parameters and template arguments; the symbol itself if it is none of C++'s, or if it says what is not
 * understood: no two functions are to be one by half a name.
 */
void tpc_qualify(const char *symbol, struct tpc_text *to);

/* A name's identifier at *at, after its length; *at is moved behind it. False: there is none. */
bool tpc_read_identifier(const char **at, const char **start, size_t *length);

#endif
