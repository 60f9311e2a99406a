/* SPDX-License-Identifier: Apache-2.0 */
/* Python's str objects. */
#ifndef TPROF_HOOKS_PYTHON_STRINGS_H
#define TPROF_HOOKS_PYTHON_STRINGS_H

#include "hooks/python/read.h"

struct tpc_string {
	const uint8_t *bytes;
	size_t length; /* in code points */
	uint8_t width; /* bytes of one: 1, 2, 4 */
	bool ascii;
};

/* Finds the content of a str object. False: it can't be read, or is none. */
bool tpc_string_read(struct tpc_reader *reader, uintptr_t object, struct tpc_string *string);

/* Converts it to UTF-8, cut at a whole character; surrogates become question marks. Returns the number of bytes. */
size_t tpc_string_put(const struct tpc_string *string, char *to, size_t size);

#endif
