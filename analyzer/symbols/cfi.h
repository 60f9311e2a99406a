/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind tables (call frame information) in a module's file, for code that the process had none for. */
#ifndef TPROF_SYMBOLS_CFI_H
#define TPROF_SYMBOLS_CFI_H

#include "trace/trace.h"

enum tpa_cfi_kind {
	TPA_CFI_UNKNOWN,   /* the file is missing or of another build */
	TPA_CFI_NONE,	   /* nothing covers the address */
	TPA_CFI_DEBUG,	   /* only .debug_frame does */
	TPA_CFI_UNINDEXED, /* .eh_frame does, but the file lacks .eh_frame_hdr, which is needed to find it in memory */
};

struct tpa_cfi_place {
	enum tpa_cfi_kind kind;
	bool has_frame_pointer; /* the table says that rbp points to the saved rbp and the return address */
};

struct tpa_cfi_file;

/* NULL: the file is missing */
struct tpa_cfi_file *tpa_cfi_open(const struct tpa_module *module);
/* `address`: at run time. `file` may be NULL. */
struct tpa_cfi_place tpa_cfi_at(const struct tpa_cfi_file *file, uint64_t address);
void tpa_cfi_close(struct tpa_cfi_file *file);

#endif
