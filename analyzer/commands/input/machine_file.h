/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that a command compares a run with. */
#ifndef TPROF_COMMANDS_INPUT_MACHINE_FILE_H
#define TPROF_COMMANDS_INPUT_MACHINE_FILE_H

#include "commands/line/options.h"
#include "machine/machine.h"

/*
 * Gets the machine of --machine FILE, else this machine's stored measurement. With --measure, or if there is none,
 * measures it now, prints a line on stderr, and stores the result. Returns enum tpa_exit; errors are reported on
 * stderr.
 */
int tpa_machine_get(const struct tpa_options *options, struct tpa_machine *machine);

/*
 * The same for commands that can do without a machine: never measures unless --measure is given, and is silent if
 * nothing is known. Sets *known if there is a machine. Call it after opening the traces: a bad trace should be
 * reported before the machine is measured.
 */
int tpa_machine_find(const struct tpa_options *options, struct tpa_machine *machine, bool *known);

#endif
