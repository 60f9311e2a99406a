/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a text file that may be compressed by gzip or zstd, one by one. */
#ifndef TPROF_IMPORT_LINES_H
#define TPROF_IMPORT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_lines;

#define TPA_LINE_MOST ((size_t)1 << 20) /* bytes of a line */

/* NULL: *error (a heap string) says why the file can't be read. */
struct tpa_lines *tpa_lines_open(const char *file, char **error);
void tpa_lines_close(struct tpa_lines *lines); /* NULL: does nothing */

/* The first bytes of what is compressed in the file, at most `size`; how many. The lines still begin with them. */
size_t tpa_lines_peek(struct tpa_lines *lines, void *buffer, size_t size);

/*
 * The next line, with a NUL in place of its newline, to be changed at will; valid until the next call. NULL: there is none. What
 * follows the last newline is no line, but tpa_lines_cut() tells of it.
 */
char *tpa_lines_next(struct tpa_lines *lines);

/* Number of the line that tpa_lines_next() returned last, from 1 on; 0: none yet. */
uint64_t tpa_lines_number(const struct tpa_lines *lines);

/* Once there is no line left: why the file is not whole (static text); NULL: it is. */
const char *tpa_lines_cut(const struct tpa_lines *lines);

#endif
