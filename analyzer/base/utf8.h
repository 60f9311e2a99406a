/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_BASE_UTF8_H
#define TPROF_BASE_UTF8_H

#include <stddef.h>

/*
 * The number of bytes of the UTF-8 character at the begin of `text`, which has `size` bytes. 0: it is not valid (nor
 * are overlong forms, surrogates and numbers above U+10FFFF). -1: the bytes may be the begin of a character.
 */
int tpa_utf8_bytes(const unsigned char *text, size_t size);

#endif
