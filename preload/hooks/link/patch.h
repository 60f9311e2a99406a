/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks functions of one object in their own code: each begins with a jump to a stub then (arch/x86_64/code_move.h). */
#ifndef TPROF_LINK_PATCH_H
#define TPROF_LINK_PATCH_H

#include "arch/arch.h"
#include "core/base.h"

struct tpc_target {
	struct tpc_code_function function; /* its bytes are those that run */
	uint32_t number;		   /* for the caller */
	const char *reason;		   /* why it was not hooked; NULL: it was */
};

struct tpc_patcher {
	const struct tpc_code_decoder *decoder;
	/* What the function shall lead to; NULL: *reason says why not. */
	void *(*stub)(const struct tpc_target *target, const char **reason, void *context);
	/* `moved`, to which the stub shall lead, does what the function did. Called before the function is patched. */
	void (*moved)(void *stub, void *moved);
	void *context;
	void (*refused)(const void *function); /* it is not patched after all: a thread is always there (pending.h) */
};

/*
 * Hooks the functions, which are sorted by address, and are not hooked yet. `code`: the object's. The process has one thread,
 * which is in none of them; or others write the patches (pending.h). Allocates nothing, but takes memory for good.
 */
void tpc_patch(const struct tpc_patcher *patcher, struct tpc_range code, struct tpc_target *targets, uint32_t count);

#endif
