/* SPDX-License-Identifier: Apache-2.0 */
/* Text without libc's printf family, which may allocate and lock. */
#ifndef TPROF_CORE_TEXT_H
#define TPROF_CORE_TEXT_H

#include "core/base.h"

/* A buffer that text is appended to; what does not fit is cut, and `cut` says so. Always NUL-terminated. */
struct tpc_text {
	char *bytes;
	size_t length, size;
	bool cut;
};

struct tpc_text tpc_text_in(char *buffer, size_t size);
void tpc_text_add(struct tpc_text *text, const char *s);
void tpc_text_add_bytes(struct tpc_text *text, const char *s, size_t length);
void tpc_text_add_number(struct tpc_text *text, uint64_t n);

/* Decimal number at *s, which is moved behind it. False if there is none or it does not fit 64 bits. */
bool tpc_text_number(const char **s, uint64_t *n);

/* Shell wildcards * and ? over the whole of s. */
bool tpc_text_glob(const char *pattern, const char *s);

/* The part of a path behind its last slash. */
const char *tpc_text_base(const char *path);

#endif
