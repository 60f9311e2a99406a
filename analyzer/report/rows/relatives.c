/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/relatives.h"

#include <ctype.h>
#include <string.h>

enum tpa_relative tpa_relation_of(const struct tprof_header *own, const struct tprof_header *other)
{
	if (other->start.ticks < own->start.ticks)
		return TPA_RELATIVE_ELSE;
	if (other->pid == own->pid && other->process_start == own->process_start)
		return TPA_RELATIVE_REPLACED;
	if (other->ppid != own->pid)
		return TPA_RELATIVE_ELSE;
	if (other->origin != TPROF_ORIGIN_FORK)
		return TPA_RELATIVE_STARTED;
	/* If exec replaced the fork, the new program counts as started instead. */
	return other->end == TPROF_END_EXEC ? TPA_RELATIVE_ELSE : TPA_RELATIVE_FORKED;
}

const struct tpa_other *tpa_next_program(const struct tpa_trace *trace, const struct tpa_others *others)
{
	const struct tpa_other *next = NULL;

	for (size_t i = 0; i < others->count; i++) {
		const struct tpa_other *other = others->list[i];

		if (tpa_relation_of(trace->header, &other->header) == TPA_RELATIVE_REPLACED &&
		    (!next || other->header.start.ticks < next->header.start.ticks))
			next = other;
	}
	return next;
}

static const struct {
	const char *reason, *advice;
} causes[] = {
	[TPROF_UNFOLLOWED_STATIC] = { "it is linked statically", "link it dynamically" },
	[TPROF_UNFOLLOWED_MACHINE] = { "it is not of x86-64", NULL },
	[TPROF_UNFOLLOWED_LIBC] = { "it is of another C library than glibc", "build it for glibc" },
	[TPROF_UNFOLLOWED_PRIVILEGED] = { "it is set-user-ID, set-group-ID or has capabilities",
					  "start a copy made by cp, which has none of these" },
	[TPROF_UNFOLLOWED_LIBRARY] = { "libtprof.so can't be read there (chroot?)",
				       "put it there, under the same path" },
	[TPROF_UNFOLLOWED_CHILDREN] = { "TPROF_CHILDREN=0", "set TPROF_CHILDREN=1" },
	[TPROF_UNFOLLOWED_OUTPUT] = { "its trace could not be written", NULL },
	[TPROF_UNFOLLOWED_DIRECTORY] = { "the directory of its trace is not there, or closed to its user",
					 "name a directory in TPROF_OUTPUT that is open to its user" },
	[TPROF_UNFOLLOWED_ENVIRONMENT] = { "system() or popen() started it without libtprof.so in LD_PRELOAD",
					   "leave that in the environment" },
	[TPROF_UNFOLLOWED_IDS] = { "its effective user or group was not the real one", "set the real ones, too" },
};

static bool is_known(const struct tprof_untraced *note)
{
	return note->why && note->why < sizeof(causes) / sizeof(*causes);
}

const char *tpa_untraced_reason(const struct tprof_untraced *note)
{
	return is_known(note) ? causes[note->why].reason : "?";
}

const char *tpa_untraced_advice(const struct tprof_untraced *note, const char *name)
{
	if (note->why == TPROF_UNFOLLOWED_OUTPUT && strncmp(name, "permission", 10) == 0)
		return causes[TPROF_UNFOLLOWED_DIRECTORY].advice;
	return is_known(note) ? causes[note->why].advice : NULL;
}

const struct tprof_untraced *tpa_next_untraced(const struct tprof_header *header, size_t *at, char name[48])
{
	while (*at < TPROF_UNTRACED_MAX) {
		const struct tprof_untraced *note = &header->untraced[(*at)++];

		if (note->state != 2 || !note->count)
			continue;
		memcpy(name, note->name, sizeof(note->name));
		name[sizeof(note->name) - 1] = '\0';
		for (char *c = name; *c; c++)
			*c = iscntrl((unsigned char)*c) ? ' ' : *c; /* commands may have several lines */
		return note;
	}
	return NULL;
}

bool tpa_untraced_replaced(const struct tprof_header *header, const struct tprof_untraced *note)
{
	return note->pid == header->pid && note->why != TPROF_UNFOLLOWED_OUTPUT;
}

bool tpa_replaced_by_unknown(const struct tpa_trace *trace, const struct tpa_others *others)
{
	const struct tprof_untraced *note;
	char name[sizeof(note->name)];

	if (trace->header->end != TPROF_END_EXEC || tpa_next_program(trace, others) || trace->header->untraced_more)
		return false;
	for (size_t at = 0; (note = tpa_next_untraced(trace->header, &at, name));) {
		if (tpa_untraced_replaced(trace->header, note))
			return false;
	}
	return true;
}

const struct tprof_untraced *tpa_forks_untraced(const struct tprof_header *own, const struct tprof_header *fork,
						char name[48])
{
	const struct tprof_untraced *note;

	if (fork->ppid != own->pid || fork->origin != TPROF_ORIGIN_FORK || fork->end != TPROF_END_EXEC)
		return NULL;
	for (size_t at = 0; (note = tpa_next_untraced(fork, &at, name));) {
		if (tpa_untraced_replaced(fork, note))
			return note;
	}
	return NULL;
}
