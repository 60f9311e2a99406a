/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was recorded as tables: rows of cells, made one by one, for formats that write tables. Each column and its unit is described in
 * tprof-sql(5) and tprof-analyze(1).
 */
#ifndef TPROF_EXPORT_TABLES_H
#define TPROF_EXPORT_TABLES_H

#include "export/export.h"

#define TPA_TABLE_COLUMNS_MOST 32u
#define TPA_TABLES_MOST 16

enum tpa_cell_kind { TPA_CELL_NONE, TPA_CELL_INTEGER, TPA_CELL_REAL, TPA_CELL_TEXT };

struct tpa_cell {
	enum tpa_cell_kind kind;
	int64_t integer;
	double real;
	const char *text; /* any bytes; valid during the call */
};

struct tpa_table;

/* Takes a row, with a cell for each column. False: it can't be written, and no more rows are wanted. */
typedef bool tpa_table_sink(void *to, const struct tpa_table *table, const struct tpa_cell *cells);

struct tpa_table {
	const char *name;
	const char *help;			     /* what a row is, without a full stop */
	const char *columns[TPA_TABLE_COLUMNS_MOST]; /* ends with NULL */
	bool streamed;				     /* made by a walk over the events: needs no export->run */
	bool (*make)(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to);
};

extern const struct tpa_table tpa_tables[]; /* the first is the default; ends with a NULL name */

/* NULL: there is no such table. */
const struct tpa_table *tpa_table_find(const char *name);

size_t tpa_table_width(const struct tpa_table *table);

#endif
