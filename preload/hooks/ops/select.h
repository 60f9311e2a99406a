/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by symbol names which functions are ops: the presets and globs of TPROF_OPS. */
#ifndef TPROF_HOOKS_OPS_SELECT_H
#define TPROF_HOOKS_OPS_SELECT_H

#include "hooks/ops/typed.h"

struct tpc_op_choice {
	char name[160];			/* as reports show it */
	const char *category;		/* name of the preset; "user" for a glob, "step" if only TPROF_STEP names it */
	bool refused;			/* a glob names it, but calling it through a frame of ours would go wrong */
	bool ends_step;			/* TPROF_STEP names it */
	struct tpc_signature signature; /* kind 0: not typed */
};

/* Sets TPROF_OPS. False: it is not understood. */
bool tpc_ops_set(const char *value);

/* What TPROF_OPS may contain, for a message. */
struct tpc_text;
void tpc_ops_allowed(struct tpc_text *to);

/*
 * A word of TPROF_OPS that stands for a function, but resembles the name of a preset, *meant, so much that it may be a
 * typo; or NULL.
 */
const char *tpc_ops_doubtful(const char **meant);

/* Sets TPROF_STEP: a glob on names. False: it is not understood. */
bool tpc_ops_set_step(const char *value);

/* Is that preset in use? */
bool tpc_ops_use(const char *preset);
extern bool tpc_ops_instrumented; /* "instrument" is */

/* Are there any ops to hook? */
bool tpc_ops_wanted(void);

/* Is there a glob, of more than stars, in TPROF_OPS or TPROF_STEP? Does one of them name the function with this symbol? */
bool tpc_ops_any_named(void);
bool tpc_ops_asked(const char *symbol);

/* Is the function with this symbol an op? Fills in its name. */
bool tpc_ops_choose(const char *symbol, struct tpc_op_choice *choice);

#endif
