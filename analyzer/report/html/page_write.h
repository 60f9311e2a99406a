/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the parts of a page's data: JSON in which <, > and & are escaped. Lists of structs are written member by member, which a
 * script reads fast.
 */
#ifndef TPROF_REPORT_HTML_PAGE_WRITE_H
#define TPROF_REPORT_HTML_PAGE_WRITE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A member of 32 (unsigned) or 64 bits of the structs in a list. */
struct tpa_page_column {
	const char *name; /* NULL: no more */
	size_t at, size;
};
#define TPA_PAGE_COLUMN(name, type, member)                                                                            \
	{                                                                                                              \
		name, offsetof(type, member), sizeof(((type *)NULL)->member)                                           \
	}
#define TPA_PAGE_END                                                                                                   \
	{                                                                                                              \
		NULL, 0, 0                                                                                             \
	}

void tpa_page_json(const json_t *json, FILE *out);
void tpa_page_text(const char *text, FILE *out);

/* Writes "name":[...], ... of `count` structs of `size` bytes. `list` may be NULL if `count` is 0. */
void tpa_page_columns(FILE *out, const struct tpa_page_column *columns, const void *list, size_t count, size_t size);

/* Writes "name":[...] of numbers of 64 bits. */
void tpa_page_list(FILE *out, const char *name, const void *list, size_t count);

#endif
