/* SPDX-License-Identifier: Apache-2.0 */
/* A process's part of the summary in JSON, with which other full reports begin. */
#ifndef TPROF_COMMANDS_SUMMARY_H
#define TPROF_COMMANDS_SUMMARY_H

#include <jansson.h>

#include "commands/input/session.h"
#include "machine/machine.h"

/*
 * Starts a full report: opens the traces, reads the other named files (errors should come before a long replay), and
 * replays by stack. *known: there is a machine. Returns as tpa_session_start() does.
 */
int tpa_summary_start(struct tpa_session *session, const struct tpa_options *options, struct tpa_machine *machine,
		      bool *known);

/* A new reference. `machine` is NULL if unknown. Lists the steps one by one for html. Symbols must be open. */
json_t *tpa_summary_json(struct tpa_session *session, size_t index, const struct tpa_machine *machine);

#endif
