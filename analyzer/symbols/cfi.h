/* SPDX-License-Identifier: Apache-2.0 */
/* What unwind tables (call frame information) a module's file has for code for which the process had none. */
#ifndef TPROF_SYMBOLS_CFI_H
#define TPROF_SYMBOLS_CFI_H

#include "trace/trace.h"

enum tp_cfi_kind {
	TP_CFI_UNKNOWN,	  /* the file is not there, or is of another build */
	TP_CFI_NONE,	  /* nothing covers the address */
	TP_CFI_DEBUG,	  /* only .debug_frame does */
	TP_CFI_UNINDEXED, /* .eh_frame does, and the file has no .eh_frame_hdr, which leads to it in memory */
};

struct tp_cfi_place {
	enum tp_cfi_kind kind;
	bool has_frame_pointer; /* rbp points to the saved rbp and the return address there, as the table says */
};

struct tp_cfi_file;

/* NULL: the file is not there, or memory is out. */
struct tp_cfi_file *tp_cfi_open(const struct tp_module *module);
/* `address`: at run time. `file` may be NULL. */
struct tp_cfi_place tp_cfi_at(const struct tp_cfi_file *file, uint64_t address);
void tp_cfi_close(struct tp_cfi_file *file);

#endif
