/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a thread that a signal interrupted, as the kernel wrote them down for its handler. */
#ifndef TPROF_TRACE_INTERRUPTED_H
#define TPROF_TRACE_INTERRUPTED_H

#include <stdint.h>

#include "trace/snapshot.h"

struct tpa_interrupted {
	uint64_t sp;
	uint64_t *words; /* the general registers, then the vector registers in use; free() */
	size_t count;
};

/* `context`: address of its ucontext_t. False: it can't be read. */
bool tpa_interrupted_read(const struct tpa_frozen *frozen, uint64_t context, struct tpa_interrupted *interrupted);

#endif
