/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_BASE_UTF8_H
#define TPROF_BASE_UTF8_H

#include <stddef.h>

/*
 * Returns the length in bytes of the UTF-8 character at the start of `text`, which has `size` bytes. 0: invalid,
 * which includes overlong forms, surrogates and code points above U+10FFFF. -1: `text` is empty, or ends within a
 * character.
 */
int tpa_utf8_bytes(const unsigned char *text, size_t size);

#endif
