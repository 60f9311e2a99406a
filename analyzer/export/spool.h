/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of records that are kept in a temporary file, for formats that want the events of each thread together, or a column of them at
 * a time. In memory it has one block of each list. The file has no name, and is gone at the end.
 */
#ifndef TPROF_EXPORT_SPOOL_H
#define TPROF_EXPORT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_spool;

/* Records of that many bytes. NULL: no temporary file can be made; errno says why. */
struct tpa_spool *tpa_spool_new(size_t record);
void tpa_spool_free(struct tpa_spool *spool);

/* Forgets all records. */
void tpa_spool_clear(struct tpa_spool *spool);

/* Appends a record to a list; lists are numbered, and empty at first. False: the file can't be written; errno says why. */
bool tpa_spool_add(struct tpa_spool *spool, uint32_t list, const void *record);

/* Lists have numbers below it. */
uint32_t tpa_spool_lists(const struct tpa_spool *spool);
uint64_t tpa_spool_count(const struct tpa_spool *spool, uint32_t list);

/* Calls `each` for all records of a list, in the order in which they came. False: the file can't be read. */
bool tpa_spool_each(struct tpa_spool *spool, uint32_t list, void (*each)(void *to, const void *record), void *to);

#endif
