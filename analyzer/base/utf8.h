/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_BASE_UTF8_H
#define TPROF_BASE_UTF8_H

#include <stddef.h>

/*
 * Bytes of the UTF-8 character at the beginning of `text`, of which `size` bytes are there; 0: it is none (overlong forms,
 * surrogates and what is beyond U+10FFFF are none). -1: what is there may be the beginning of one.
 */
int tp_utf8_bytes(const unsigned char *text, size_t size);

#endif
