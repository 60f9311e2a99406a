/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinds from a place in a module's code to the code outside that called it, with the module's own unwind tables, and
 * restores the call-preserved registers at the call.
 */
#ifndef TPROF_SYMBOLS_UNWIND_H
#define TPROF_SYMBOLS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

#include <tprof/format.h>

/* Copies memory of the process; returns false if part of it can't be read. */
typedef bool tpa_unwind_read(void *context, uint64_t address, void *to, size_t size);

/*
 * `module`: its mapping. Reads the tables from memory, as the file may have changed. *at is a place in the module, and
 * on return the return address outside. Returns false with *at unchanged if the tables do not lead out.
 */
bool tpa_unwind_out(struct tprof_registers *at, const struct tprof_range *module, tpa_unwind_read *read, void *context);

#endif
