/* SPDX-License-Identifier: Apache-2.0 */
/* A process's part of the summary in JSON, which other reports of everything begin with. */
#ifndef TPROF_COMMANDS_SUMMARY_H
#define TPROF_COMMANDS_SUMMARY_H

#include <jansson.h>

#include "commands/session.h"
#include "machine/machine.h"

/*
 * What reports of everything begin with: the traces opened, all else that was named read (a bad file is better known before a
 * long replay), and replayed by stack. *known: there is a machine. The same results as tpa_session_start().
 */
int tpa_summary_start(struct tpa_session *session, const struct tpa_options *options, struct tpa_machine *machine,
		      bool *known);

/* A new reference. `machine` may be NULL: it is not known. For html it lists the steps one by one. Symbols must be open. */
json_t *tpa_summary_json(struct tpa_session *session, size_t index, const struct tpa_machine *machine);

#endif
