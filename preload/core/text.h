/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and parses text without libc's printf family, which may allocate and lock. */
#ifndef TPROF_CORE_TEXT_H
#define TPROF_CORE_TEXT_H

#include "core/base.h"

/* A buffer that text is appended to. What does not fit is cut, and `cut` is set. Always NUL-terminated. */
struct tpc_text {
	char *bytes;
	size_t length, size;
	bool cut;
};

struct tpc_text tpc_text_in(char *buffer, size_t size);
void tpc_text_add(struct tpc_text *text, const char *s);
void tpc_text_add_bytes(struct tpc_text *text, const char *s, size_t length);
void tpc_text_add_number(struct tpc_text *text, uint64_t n);

/* Parses a decimal number at *s and moves *s behind it. False: there is none, or it does not fit 64 bits. */
bool tpc_text_number(const char **s, uint64_t *n);

/* Matches all of s with the shell wildcards * and ?. */
bool tpc_text_glob(const char *pattern, const char *s);

/* The part of a path after its last slash. */
const char *tpc_text_base(const char *path);

#endif
