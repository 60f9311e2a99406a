/* SPDX-License-Identifier: Apache-2.0 */
/* dump, in its parts: what reads the events, and what an event looks like as a line and as JSON. */
#ifndef TPROF_COMMANDS_DUMP_H
#define TPROF_COMMANDS_DUMP_H

#include "commands/session.h"
#include "trace/events.h"

struct tp_dump {
	struct tp_session *session;
	const struct tp_process *process;
	struct tp_trace *trace;
	struct tp_symbols *symbols;
	char **names;	  /* of nodes: what a line says of a stack; NULL: not asked for yet */
	bool *used;	  /* of nodes: an event that was printed has this stack */
	uint64_t printed; /* events, of all processes */
	bool out_of_memory;
};

/* The op that the event names; NULL: none of that number. */
static inline const struct tp_op *tp_dump_op(const struct tp_dump *dump, const struct tp_event *event)
{
	const struct tp_trace *trace = dump->trace;
	uint64_t op = tp_event_op(event);

	return op < trace->op_count && trace->ops[op].name ? &trace->ops[op] : NULL;
}

/* A line of text, with its newline. */
void tp_dump_event(struct tp_dump *dump, const struct tp_event *event, uint64_t time_ns);

/* An object of the array of events, with the comma before it. */
void tp_dump_event_json(struct tp_dump *dump, const struct tp_event *event, uint64_t time_ns);

/* The stacks that the process's events name, each once: an object of the array of processes. */
void tp_dump_stacks_json(struct tp_dump *dump, bool first_process);

#endif
