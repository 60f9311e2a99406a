/* SPDX-License-Identifier: Apache-2.0 */
/* Names what contains a root word of a pointer search: a variable, a thread's stack, a mapping. */
#ifndef TPROF_COMMANDS_SEARCH_ROOT_NAMES_H
#define TPROF_COMMANDS_SEARCH_ROOT_NAMES_H

#include "model/holders/graph.h"
#include "model/holders/memory.h"
#include "symbols/variables.h"

struct tpa_root_names {
	const struct tpa_trace *trace;
	struct tpa_holders_memory *memory;
	uint64_t sp;			 /* stack pointer of the forking thread */
	struct tpa_variables *variables; /* by module of the trace, loaded on first use */
	bool *loaded;
	uint64_t *threads; /* descriptors, in the order of note->stacks; 0: unknown */
};

void tpa_root_names_init(struct tpa_root_names *names, const struct tpa_trace *trace, struct tpa_holders_memory *memory,
			 uint64_t sp);
void tpa_root_names_free(struct tpa_root_names *names);

void tpa_root_name(struct tpa_root_names *names, uint64_t address, struct tpa_holders_root *root);

/* Are both addresses in one module? */
bool tpa_root_same_module(const struct tpa_root_names *names, uint64_t address, uint64_t other);

#endif
