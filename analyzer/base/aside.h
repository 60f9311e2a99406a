/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Large lists that may not be needed again, laid aside: they go to a temporary file without a name that is mapped in their place, so they
 * stay where pointers lead, and take memory only while they are read. They are freed and resized as others are.
 *
 * It needs jemalloc and a file system with room, $TMPDIR or /var/tmp; without, lists stay as they are. All functions are thread-safe.
 */
#ifndef TPROF_BASE_ASIDE_H
#define TPROF_BASE_ASIDE_H

#include <stddef.h>

#define TPA_ASIDE_LEAST ((size_t)256 << 10) /* bytes of a list; smaller ones stay */
#define TPA_ASIDE_KEPT ((size_t)256 << 20)  /* bytes of lists that stay, in all */

/* Lays aside the memory that *list points to, of which `bytes` are in use: nothing may grow into what it had behind them. */
void tpa_lay_aside(void *list, size_t bytes);

/* Gives back the memory of those that were read since they were laid aside. */
void tpa_aside_rest(void);

#endif
