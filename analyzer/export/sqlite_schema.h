/* SPDX-License-Identifier: Apache-2.0 */
/* The tables, indices and views of a database; tprof-sql(5) describes them. */
#ifndef TPROF_EXPORT_SQLITE_SCHEMA_H
#define TPROF_EXPORT_SQLITE_SCHEMA_H

extern const char tpa_sql_stack_tables[], tpa_sql_tables[], tpa_sql_indices[];

#endif
