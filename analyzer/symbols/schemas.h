/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch calls its operators. at::_ops::select_int is made of the schema aten::select.int: of a name, a "_" and the
 * overload's name, so that it can't be told from the function where the overload's name begins. libtorch registers its
 * operators by the schemas' texts, which stand in its read-only data: they say.
 */
#ifndef TPROF_SYMBOLS_SCHEMAS_H
#define TPROF_SYMBOLS_SCHEMAS_H

#include "trace/trace.h"

#define TP_SCHEMA_MAX 160u

struct tp_schema {
	char function[TP_SCHEMA_MAX]; /* select_int */
	char name[TP_SCHEMA_MAX];     /* select.int; "": no schema was found, or several */
	bool whole; /* of tp_schemas_find(): name is a whole text, not the end of another operator's */
	bool doubt; /* of tp_schemas_find(): more than one name fits */
};

/* Whether such schemas stand in the module's file: by its name. */
bool tp_schemas_in(const struct tp_module *module);

/*
 * Fills in the names that stand in the module's file, if it is there and of the right build. `debug_dir` as in struct
 * tp_symbols_options.
 */
void tp_schemas_find(const struct tp_module *module, const char *debug_dir, struct tp_schema *schemas, size_t count);

#endif
