/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that allocate and free by a rule (rules.h): hooked in their code, and recorded like malloc and free, or, those of
 * pools, like annotations of pools. An allocator whose frees can't all be hooked is not recorded at all: its blocks would seem
 * to leak.
 */
#ifndef TPROF_HOOKS_MEMORY_RULED_H
#define TPROF_HOOKS_MEMORY_RULED_H

#include "hooks/link/slots.h"
#include "hooks/memory/rules.h"

struct tpc_ruled_home {	     /* an allocator in an object */
	tpc_shared_bool off; /* it is not recorded */
	uint8_t allocator;
	char object[256]; /* path, cut */
	uint32_t hooked;
};

struct tpc_ruled_function {
	struct tpc_alloc_rule rule;
	void *moved; /* does what the function did */
	void *entry; /* the function; NULL: it was unloaded */
	struct tpc_ruled_home *home;
};

#define TPC_RULED_MAX 512u /* functions; arch/x86_64/ruled.S has as many stubs */

extern struct tpc_ruled_function tpc_ruled_functions[TPC_RULED_MAX];

/* As tpc_code_hook() (hooks/link/code.h), for all functions that rules name. */
bool tpc_ruled_hook(const struct tpc_seen *seen, size_t from);

/* Is the function at that address hooked by a rule? */
bool tpc_ruled_is_hooked(const void *function);

/* In arch/x86_64/ruled.S, and what it calls (ruled_call.c). */
extern const char tpc_ruled_stubs[] __attribute__((visibility("hidden")));
#define TPC_RULED_STUB 16u /* bytes */

/* In its frame, from the frame pointer downwards: room for the call, and words up to what the function returned. */
#define TPC_RULED_AT 112u
#define TPC_RULED_SPACE 24u
#define TPC_RULED_RESULT 7u

struct tpc_ruled_begun {
	void *function;	  /* what is to be called, */
	uint64_t returns; /* and whether tpc_ruled_end() follows */
};
struct tpc_ruled_begun tpc_ruled_begin(uint32_t index, const uintptr_t *frame) __attribute__((visibility("hidden")));
void tpc_ruled_end(uint32_t index, const uintptr_t *frame) __attribute__((visibility("hidden")));

#endif
