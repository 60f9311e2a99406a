/* SPDX-License-Identifier: Apache-2.0 */
/* The table of hooked functions, and their stubs, which lead through trampoline.S to the functions. */
#ifndef TPROF_HOOKS_OPS_STUBS_H
#define TPROF_HOOKS_OPS_STUBS_H

#include "hooks/ops/select.h"

enum tpc_trampoline {
	TPC_TRAMPOLINE_ANY,
	TPC_TRAMPOLINE_VALUE, /* short ones, by how the length is passed */
	TPC_TRAMPOLINE_REFERENCE,
	TPC_TRAMPOLINE_KEPT, /* of functions that are hooked in their code */
};

/* What repeated calls need most is in the first cache line: a program's own data evicts it again and again. */
struct tpc_op_function {
	void *address; /* what is called */
	/* The function itself, if its end takes more than an event; else NULL. */
	TPC_SHARED(const struct tpc_op_function *) ending;
	tpc_shared_u32 op; /* number in the trace; 0: to be asked for */
	bool ends_step;
	struct tpc_signature signature;
	uint8_t trampoline; /* enum tpc_trampoline */
	/* For hooks/ops/shapes.c: whether the arguments were elsewhere than its symbol says, which was corrected; */
	tpc_shared_u8 moved;
	tpc_shared_u8 confirmed; /* calls that confirmed the symbol; */
	tpc_shared_u32 tried;	 /* calls that were examined */
	uint32_t object;	 /* for hooks/ops/install.c: the last object that it was found in */
	void *entry;		 /* where the function begins: `address`, unless its code is hooked */
	const char *category;
	char name[160];
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct tpc_op_function, signature.read) <= 64, "a call's part of it is one cache line");

extern struct tpc_op_function *tpc_op_functions TPC_NEAR;

/* Is a hot call found without its caller? */
static inline bool tpc_op_is_without_caller(const struct tpc_op_function *function)
{
	return function->trampoline == TPC_TRAMPOLINE_VALUE || function->trampoline == TPC_TRAMPOLINE_REFERENCE;
}

/* In trampoline.S. */
void tpc_op_trampoline(void) __attribute__((visibility("hidden")));
extern const char tpc_op_trampoline_end[] __attribute__((visibility("hidden")));  /* of the first two */
extern const char tpc_op_trampolines_end[] __attribute__((visibility("hidden"))); /* of all of them */
void tpc_op_trampoline_value(void) __attribute__((visibility("hidden")));
void tpc_op_trampoline_reference(void) __attribute__((visibility("hidden")));
void tpc_op_trampoline_kept(void) __attribute__((visibility("hidden")));

/* The stub for a function, made if needed. NULL: no room. Only at start and after loading, never in a hook. */
void *tpc_op_stub(void *function, const struct tpc_op_choice *choice);

/*
 * The stub for a function that is about to be hooked in its code, as tpc_op_stub(); NULL also if it has a stub.
 * tpc_op_moved() then says where its moved first instructions are, before the jump to the stub is written.
 */
void *tpc_op_code_stub(void *function, const struct tpc_op_choice *choice);
void tpc_op_moved(void *stub, void *moved);

/* Objects were unloaded: functions that are no longer patched, as others are where they were, count as not hooked. */
void tpc_op_code_forget(void);

/* Is this address a stub? */
bool tpc_op_is_stub(const void *address);

/* Has a function at that address a stub? */
bool tpc_op_is_hooked(const void *function);

/* Its name, as of the first stub that it has; "": none. */
const char *tpc_op_name_at(const void *function);

/* The first one at that address that has a stub; NULL: none. */
struct tpc_op_function *tpc_op_at(const void *function);

/* Whose stub that is. */
struct tpc_op_function *tpc_op_of_stub(const void *stub);

/* Functions that have a stub. */
uint32_t tpc_op_function_count(void);

/* In a forked child: op numbers are to be asked for again. */
void tpc_op_calls_forget(void);

#endif
