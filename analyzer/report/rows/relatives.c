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

static const char *const reasons[] = {
	[TPROF_UNFOLLOWED_STATIC] = "it is linked statically",
	[TPROF_UNFOLLOWED_MACHINE] = "it is not of x86-64",
	[TPROF_UNFOLLOWED_LIBC] = "it is of another C library than glibc",
	[TPROF_UNFOLLOWED_PRIVILEGED] = "it is set-user-ID, set-group-ID or has capabilities",
	[TPROF_UNFOLLOWED_LIBRARY] = "libtprof.so can't be read there (chroot?)",
	[TPROF_UNFOLLOWED_CHILDREN] = "TPROF_CHILDREN=0",
	[TPROF_UNFOLLOWED_OUTPUT] = "its trace could not be written",
	[TPROF_UNFOLLOWED_ENVIRONMENT] = "system() or popen() started it without libtprof.so in LD_PRELOAD",
	[TPROF_UNFOLLOWED_DIRECTORY] = "the directory of its trace is not there, or closed to its user",
	[TPROF_UNFOLLOWED_IDS] = "its effective user or group was not the real one",
};

const char *tpa_untraced_reason(const struct tprof_untraced *note)
{
	return note->why && note->why < sizeof(reasons) / sizeof(*reasons) ? reasons[note->why] : "?";
}

const struct tprof_untraced *tpa_next_untraced(const struct tpa_trace *trace, size_t *at, char name[48])
{
	while (*at < TPROF_UNTRACED_MAX) {
		const struct tprof_untraced *note = &trace->header->untraced[(*at)++];

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

bool tpa_untraced_replaced(const struct tpa_trace *trace, const struct tprof_untraced *note)
{
	return note->pid == trace->header->pid && note->why != TPROF_UNFOLLOWED_OUTPUT;
}
