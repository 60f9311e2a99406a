/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a place in one module's code outwards, by the module's own unwind tables, to where other code called it: with the
 * registers that calls keep, as that code had them.
 */
#ifndef TPROF_SYMBOLS_UNWIND_H
#define TPROF_SYMBOLS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

#include <tprof/format.h>

/* Copies memory of the process; false: not all of it can be read. */
typedef bool tp_unwind_read(void *context, uint64_t address, void *to, size_t size);

/*
 * `module`: where it is mapped. It is read from there too, as its file may be another one by now. *at is a place in it, and then
 * the return address outside. False: the tables do not lead there, and *at is as it was.
 */
bool tp_unwind_out(struct tprof_registers *at, const struct tprof_range *module, tp_unwind_read *read, void *context);

#endif
