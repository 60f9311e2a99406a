/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinds from a place in one module's code outwards, by the module's own unwind tables, to where other code called it,
 * and restores the call-preserved registers that the other code had.
 */
#ifndef TPROF_SYMBOLS_UNWIND_H
#define TPROF_SYMBOLS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

#include <tprof/format.h>

/* Copies memory of the process; false: not all of it can be read. */
typedef bool tpa_unwind_read(void *context, uint64_t address, void *to, size_t size);

/*
 * `module`: where it is mapped. The tables are read from there, because the file may have changed. *at is a place in
 * it, and on return the return address outside. False: the tables do not lead out, and *at is unchanged.
 */
bool tpa_unwind_out(struct tprof_registers *at, const struct tprof_range *module, tpa_unwind_read *read, void *context);

#endif
