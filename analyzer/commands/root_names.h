/* SPDX-License-Identifier: Apache-2.0 */
/* What a word is part of that a search for pointers begins with: a variable, a thread's stack, a mapping. */
#ifndef TPROF_COMMANDS_ROOT_NAMES_H
#define TPROF_COMMANDS_ROOT_NAMES_H

#include "model/holders/graph.h"
#include "model/holders/memory.h"
#include "symbols/variables.h"

struct tpa_root_names {
	const struct tpa_trace *trace;
	struct tpa_holders_memory *memory;
	uint64_t sp;			 /* of the thread that forked */
	struct tpa_variables *variables; /* of each module of the trace, loaded when it is asked for */
	bool *loaded;
	uint64_t *threads; /* descriptors, as note->stacks has them; 0: not known */
};

void tpa_root_names_init(struct tpa_root_names *names, const struct tpa_trace *trace, struct tpa_holders_memory *memory,
			 uint64_t sp);
void tpa_root_names_free(struct tpa_root_names *names);

void tpa_root_name(struct tpa_root_names *names, uint64_t address, struct tpa_holders_root *root);

/* Do both addresses lie in one module? */
bool tpa_root_same_module(const struct tpa_root_names *names, uint64_t address, uint64_t other);

#endif
