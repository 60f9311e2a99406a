/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind tables of a module that are in no loaded section: .debug_frame, which compilers write instead of .eh_frame
 * (-fno-asynchronous-unwind-tables -g). A copy of the section, and an index of it by address: the file may change while
 * the program runs.
 */
#ifndef TPROF_STACKS_DEBUG_FRAME_H
#define TPROF_STACKS_DEBUG_FRAME_H

#include "stacks/debug_file.h"
#include "stacks/fde.h"

struct tpc_debug_frame {
	struct tpc_debug_section section;
	uintptr_t base; /* what the addresses in the index count from */
	uint32_t count; /* of FDEs; 0: there is nothing to be found */
	uint32_t room;	/* for entries of the index */
	uint64_t index
		[]; /* sorted: the code's start in the high half, the place of its FDE in the section in the low one */
};

extern const struct tpc_debug_frame tpc_debug_frame_none; /* an empty one */

/*
 * Reads the module's .debug_frame from its file, or from its separate debug file. Makes system calls and takes memory; a signal
 * handler may call it too. The caller publishes the result, or gives it back. &tpc_debug_frame_none: there is none, it is
 * compressed or larger than 64 MiB, the file is not the one that was loaded, or memory is short.
 */
const struct tpc_debug_frame *tpc_debug_frame_read(const struct tpc_debug_module *module);

/* The FDE that may cover `pc`: none other does. NULL: none does. */
const uint8_t *tpc_debug_frame_find(const struct tpc_debug_frame *in, uintptr_t pc);

/* Frees what nobody may use any more. */
void tpc_debug_frame_give_back(const struct tpc_debug_frame *frame);

/* Frees what others may still be looking into: they find nothing there. */
void tpc_debug_frame_retire(const struct tpc_debug_frame *frame);

#endif
