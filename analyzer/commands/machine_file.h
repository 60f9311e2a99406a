/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that a command holds a run against. */
#ifndef TPROF_COMMANDS_MACHINE_FILE_H
#define TPROF_COMMANDS_MACHINE_FILE_H

#include "commands/options.h"
#include "machine/machine.h"

/*
 * By --machine FILE; else this machine's own, as it was measured once, or, with --measure or where it never was, is
 * measured now, with a line on stderr, and kept. Returns enum tpa_exit; what is wrong was said on stderr.
 */
int tpa_machine_get(const struct tpa_options *options, struct tpa_machine *machine);

/*
 * For commands that can do without: by --machine and --measure as above; else what is known, without measuring, in silence.
 * *known: there is something. Behind the opening of traces: a bad one is better known before the machine is measured.
 */
int tpa_machine_find(const struct tpa_options *options, struct tpa_machine *machine, bool *known);

#endif
