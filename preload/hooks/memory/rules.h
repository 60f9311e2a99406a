/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules: which functions allocate and free in allocators other than malloc, and what their arguments are. Those of common
 * allocators are built in (known.rules); TPROF_RULES=FILE adds a program's own. The format is that of tprof-rules(5).
 */
#ifndef TPROF_HOOKS_MEMORY_RULES_H
#define TPROF_HOOKS_MEMORY_RULES_H

#include "core/base.h"

enum tpc_alloc_rule_kind {
	TPC_RULE_ALLOC,
	TPC_RULE_REALLOC,
	TPC_RULE_FREE,
	TPC_RULE_RESET, /* frees all blocks of a pool */
	TPC_RULE_GROW,	/* takes heap blocks for a pool, as alloc may */
};

/* Arguments are numbered from 1 to 6; 0: none. */
struct tpc_alloc_rule {
	const char *symbol; /* not NUL-terminated */
	uint16_t length;
	uint8_t kind;	      /* enum tpc_alloc_rule_kind */
	uint8_t allocator;    /* number */
	uint8_t block;	      /* which is freed; of an allocation: through which the block is returned, with status 0 */
	uint8_t size, factor; /* the size is one argument, or the product of two; */
	uint8_t pool;	      /* the pool */
	uint32_t bytes;	      /* or it is fixed. 0: `size` tells */
};

struct tpc_alloc_rule_allocator {
	char name[64];
	bool is_pool; /* its blocks are parts of heap blocks */
	bool builtin;
};

#define TPC_RULE_ALLOCATORS 64u

/* Sets TPROF_RULES: reads the file. "": none. False: it is not understood; tpc_rules_allowed() says why. */
bool tpc_rules_set(const char *path);
struct tpc_text;
void tpc_rules_allowed(struct tpc_text *to);

/* The rule for the function with that symbol; NULL: none. */
const struct tpc_alloc_rule *tpc_alloc_rule_find(const char *symbol);

const struct tpc_alloc_rule_allocator *tpc_alloc_rule_allocator(uint32_t number);

/* Calls look() for the symbol of each rule that has no wildcards until it returns true; returns whether it did. */
bool tpc_rules_any(bool (*look)(const char *symbol, void *context), void *context);

/* Was a file given by TPROF_RULES? */
bool tpc_rules_given(void);

#endif
