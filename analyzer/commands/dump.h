/* SPDX-License-Identifier: Apache-2.0 */
/* dump, in its parts: what reads the events, and what an event looks like as a line and as JSON. */
#ifndef TPROF_COMMANDS_DUMP_H
#define TPROF_COMMANDS_DUMP_H

#include "commands/session.h"
#include "trace/events.h"

struct tpa_dump {
	struct tpa_session *session;
	const struct tpa_process *process;
	struct tpa_trace *trace;
	struct tpa_symbols *symbols;
	char **names; /* of nodes: what a line says of a stack; NULL: not asked for yet */
	bool *used;   /* of nodes: an event that was printed has this stack */
	size_t node_count, name_room, used_room;
	uint64_t printed; /* events, of all processes */
};

/* The op that the event names; NULL: none of that number. */
static inline const struct tpa_op *tpa_dump_op(const struct tpa_dump *dump, const struct tpa_event *event)
{
	const struct tpa_trace *trace = dump->trace;
	uint64_t op = tpa_event_op(event);

	return op < trace->op_count && trace->ops[op].name ? &trace->ops[op] : NULL;
}

/* A line of text, with its newline. */
void tpa_dump_event(struct tpa_dump *dump, const struct tpa_event *event, uint64_t time_ns);

/* An object of the array of events, with the comma before it. */
void tpa_dump_event_json(struct tpa_dump *dump, const struct tpa_event *event, uint64_t time_ns);

/* The stacks that the process's events name, each once: an object of the array of processes. */
void tpa_dump_stacks_json(struct tpa_dump *dump, bool first_process);

#endif
