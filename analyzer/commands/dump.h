/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of dump: reading the events, and formatting an event as a line or as JSON. */
#ifndef TPROF_COMMANDS_DUMP_H
#define TPROF_COMMANDS_DUMP_H

#include "commands/input/session.h"
#include "trace/events.h"

struct tpa_dump {
	struct tpa_session *session;
	const struct tpa_process *process;
	struct tpa_trace *trace;
	struct tpa_symbols *symbols;
	char **names; /* by node: the stack's text in a line; NULL: not built yet */
	bool *used;   /* by node: a printed event has this stack */
	size_t node_count, name_room, used_room;
	uint64_t printed; /* events of all processes */
};

/* The op that the event names, or NULL if no op has its number. */
static inline const struct tpa_op *tpa_dump_op(const struct tpa_dump *dump, const struct tpa_event *event)
{
	const struct tpa_trace *trace = dump->trace;
	uint64_t op = tpa_event_op(event);

	return op < trace->op_count && trace->ops[op].name ? &trace->ops[op] : NULL;
}

/* Prints an event as a line of text, with its newline. */
void tpa_dump_event(struct tpa_dump *dump, const struct tpa_event *event, uint64_t time_ns);

/* Prints an event as an object of the events array, preceded by a comma. */
void tpa_dump_event_json(struct tpa_dump *dump, const struct tpa_event *event, uint64_t time_ns);

/* Prints each stack that the process's events name once, in an object of the processes array. */
void tpa_dump_stacks_json(struct tpa_dump *dump, bool first_process);

#endif
