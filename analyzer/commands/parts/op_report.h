/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps, as parts of several commands' reports. */
#ifndef TPROF_COMMANDS_PARTS_OP_REPORT_H
#define TPROF_COMMANDS_PARTS_OP_REPORT_H

#include "commands/parts/site_report.h"

/* Prints the summary's part; nothing if there are no ops and no steps. */
void tpa_ops_short_print(struct tpa_session *session, size_t process, uint64_t top);

/* Sets "ops" and "steps". */
void tpa_ops_section_json(struct tpa_session *session, size_t process, json_t *json, bool steps_one_by_one);

/* Ops and steps of all processes of a run combined; the JSON function is a tpa_report.combine. */
void tpa_ops_combined_print(const struct tpa_session *session, uint64_t top);
void tpa_ops_combined_json(struct tpa_session *session, json_t *combined);

/* What ops and steps share: a section for each process. */
struct tpa_op_report {
	void (*print)(struct tpa_session *session, size_t process);
	bool steps_one_by_one;
};
int tpa_op_report(const struct tpa_options *options, const struct tpa_op_report *report);

/* Did the ops of the process take at least a twentieth of its CPU time? Else other work is what takes time. */
bool tpa_ops_matter(const struct tpa_process *process);

#endif
