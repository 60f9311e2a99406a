/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that a program registers once and later refers to by a handle: copied, and kept until the end. */
#ifndef TPROF_HOOKS_OPS_TEXTS_H
#define TPROF_HOOKS_OPS_TEXTS_H

#include "core/base.h"

#define TPC_TEXT_BYTES 256u

/* Permanent memory, zeroed, a multiple of 8 bytes; at most a mebibyte at once. Any thread. NULL: there is no room left. */
void *tpc_text_room(size_t bytes);

/* A copy of at most 255 bytes, terminated. Any thread. Never NULL: "?" if there is no room left. */
const char *tpc_text_keep(const char *text);

/* Converts a wide text to ASCII, with ? for other characters. Returns `to`. */
const char *tpc_text_narrow(const wchar_t *text, char to[TPC_TEXT_BYTES]);

#endif
