/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torch's names of its operators. at::_ops::select_int comes from the schema aten::select.int: a name, a "_" and an
 * overload, so the function's name does not show where the overload begins. libtorch registers operators with the
 * texts of their schemas; the names come from these texts in its read-only data.
 */
#ifndef TPROF_SYMBOLS_SCHEMAS_H
#define TPROF_SYMBOLS_SCHEMAS_H

#include "trace/trace.h"

#define TPA_SCHEMA_MAX 160u

struct tpa_schema {
	char function[TPA_SCHEMA_MAX]; /* select_int */
	char name[TPA_SCHEMA_MAX];     /* select.int; "": no schema was found, or more than one */
	/* Set by tpa_schemas_find(): name is a whole text, not the end of another operator's */
	bool whole;
	bool doubt; /* set by tpa_schemas_find(): more than one name fits */
};

/* Does the module contain such schemas, judging by its file's name? */
bool tpa_schemas_in(const struct tpa_module *module);

/*
 * Fills in the names from the module's file if it exists in the right build. `debug_dir` as in struct
 * tpa_symbols_options.
 */
void tpa_schemas_find(const struct tpa_module *module, const char *debug_dir, struct tpa_schema *schemas, size_t count);

#endif
