/* SPDX-License-Identifier: Apache-2.0 */
/* The presets of TPROF_OPS, in one table: hooks/ops/presets/table.c. */
#ifndef TPROF_OPS_PRESET_H
#define TPROF_OPS_PRESET_H

#include "core/text.h"
#include "hooks/ops/typed.h"

struct tpc_preset {
	const char *name;
	/* Fills in what the function is called, and its signature if its arguments are understood. NULL: the program tells. */
	bool (*choose)(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);
	/*
	 * What a symbol that it is asked about begins with: one of these characters, if it is C's, or one of these texts,
	 * if it is C++'s. Of hundreds of thousands of symbols a few thousand are.
	 */
	const char *letters;
	const char *mangled[2];
};

#define TPC_PRESETS 13u
extern const struct tpc_preset tpc_presets[TPC_PRESETS] TPC_NEAR;

#endif
