/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of .eh_frame (LSB 5.0 Core, 10.6) and of .debug_frame (DWARF 5, section 6.4.1): CIEs, and FDEs that
 * refer to them.
 */
#ifndef TPROF_STACKS_FDE_H
#define TPROF_STACKS_FDE_H

#include "stacks/cfi.h"

/* A .debug_frame in memory. Its content is not trusted: whatever it holds, nothing outside of it is read. */
struct tpc_debug_section {
	const uint8_t *start;
	uint32_t size;	/* bytes */
	uintptr_t bias; /* from the file's addresses to the process's */
};

struct tpc_fde {
	struct tpc_range code;	    /* that it covers */
	struct tpc_cursor common;   /* the instructions of its CIE */
	struct tpc_cursor specific; /* its own */
	bool is_signal;		    /* a signal trampoline: it is returned to, not called */
};

/*
 * Reads the FDE at `at` of `section`, or of the loaded .eh_frame if `section` is NULL. Sets the numbers of *cfi that its
 * instructions need. False: it is none, or is not understood.
 */
bool tpc_fde_read(const uint8_t *at, const struct tpc_debug_section *section, struct tpc_cfi *cfi, struct tpc_fde *fde);

#endif
