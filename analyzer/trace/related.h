/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of a run's other processes, which lie beside one of them: their headers alone are read. */
#ifndef TPROF_TRACE_RELATED_H
#define TPROF_TRACE_RELATED_H

#include "trace/trace.h"

struct tpa_other {
	char *file; /* in the directory that the trace was named with */
	char *name; /* of the program, as it was started */
	struct tprof_header header;
	uint64_t bytes;
};

struct tpa_others {
	const struct tpa_other **list; /* the largest first: it is the one to look at */
	size_t count;
};

/*
 * Finds the other traces of the same run; none if the trace does not know its run. A folder is looked through once, and what
 * was found there is kept until tpa_others_forget(); what the list points to stays valid until then. Free the list with
 * tpa_others_free(). Not thread-safe.
 */
void tpa_others_find(const struct tpa_trace *trace, struct tpa_others *others);
void tpa_others_free(struct tpa_others *others);

/* Folders are looked through again: programs that run may have started others. */
void tpa_others_forget(void);

/* What a program was started as: the last part of its path. `started` may be "". */
const char *tpa_started_name(const char *started, const char *exe);

#endif
