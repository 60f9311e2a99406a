/* SPDX-License-Identifier: Apache-2.0 */
/* libiberty's demanglers: they bound their recursion, and know what compilers append (.part.0, .llvm.123). */
#include "symbols/demangle.h"

#include <stddef.h>

#include <libiberty/demangle.h>

char *tpa_demangle(const char *linkage)
{
	/* _Z: C++ and old Rust; _R: new Rust; some systems' names have one more underscore. */
	if (linkage[0] != '_' || (linkage[1] != 'Z' && linkage[1] != 'R' && linkage[1] != '_'))
		return NULL;
	return cplus_demangle(linkage, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
}
