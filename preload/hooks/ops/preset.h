/* SPDX-License-Identifier: Apache-2.0 */
/* The presets of TPROF_OPS, in one table: hooks/ops/presets/table.c. */
#ifndef TPROF_OPS_PRESET_H
#define TPROF_OPS_PRESET_H

#include "core/text.h"
#include "hooks/ops/typed.h"

struct tpc_preset {
	const char *name;
	/*
	 * Fills in the function's name, and its signature if its arguments are understood. NULL: the program reports
	 * such ops itself.
	 */
	bool (*choose)(const char *symbol, struct tpc_text *to, struct tpc_signature *signature);
	/*
	 * How symbols begin that it is asked about: with one of these characters (C), or with one of these texts (C++).
	 * That selects a few thousand symbols out of hundreds of thousands.
	 */
	const char *letters;
	const char *mangled[4];
};

#define TPC_PRESETS 13u
extern const struct tpc_preset tpc_presets[TPC_PRESETS] TPC_NEAR;

#endif
