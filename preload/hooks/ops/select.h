/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions are ops, by their symbol names: the presets and globs of TPROF_OPS. */
#ifndef TPROF_HOOKS_OPS_SELECT_H
#define TPROF_HOOKS_OPS_SELECT_H

#include "hooks/ops/typed.h"

struct tpc_op_choice {
	char name[160];	      /* as reports show it */
	const char *category; /* the preset's name; "user" for a glob's, "step" for what TPROF_STEP alone names */
	bool refused;	      /* a glob names it, but a call of it through a frame of ours would go wrong */
	bool ends_step;	      /* TPROF_STEP names it */
	struct tpc_signature signature; /* kind 0: not typed */
};

/* TPROF_OPS in force. False: it can't be understood. */
bool tpc_ops_set(const char *value);

/* What may stand in TPROF_OPS, for a message. */
struct tpc_text;
void tpc_ops_allowed(struct tpc_text *to);

/* A word of TPROF_OPS that stands for a function, but is so near to a preset's name, *meant, that it may be a slip; or NULL. */
const char *tpc_ops_doubtful(const char **meant);

/* TPROF_STEP in force: a glob on names. False: it can't be understood. */
bool tpc_ops_set_step(const char *value);

/* Is that preset in use? */
bool tpc_ops_use(const char *preset);
extern bool tpc_ops_instrumented; /* "instrument" is */

/* Are any functions wanted at all? */
bool tpc_ops_wanted(void);

/* Is the function behind this symbol an op? Fills in what it is called. */
bool tpc_ops_choose(const char *symbol, struct tpc_op_choice *choice);

#endif
