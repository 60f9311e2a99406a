/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps, as parts of several commands' reports. */
#ifndef TPROF_COMMANDS_OP_REPORT_H
#define TPROF_COMMANDS_OP_REPORT_H

#include "commands/site_report.h"

/* The summary's part: nothing where there are no ops and no steps. False: memory is out. */
bool tp_ops_short_print(struct tp_session *session, size_t process, uint64_t top);

/* Sets "ops" and "steps". */
bool tp_ops_section_json(struct tp_session *session, size_t process, json_t *json, bool steps_one_by_one);

/* Of all processes of a run together, where there are several. False: memory is out. */
bool tp_ops_combined_print(const struct tp_session *session, uint64_t top);
bool tp_ops_combined_json(const struct tp_session *session, json_t *combined);

/* What ops and steps have in common: a section for each process. */
struct tp_op_report {
	bool (*print)(struct tp_session *session, size_t process);
	bool steps_one_by_one;
};
int tp_op_report(const struct tp_options *options, const struct tp_op_report *report);

#endif
