/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples in the reports of hotspots and summary. `process` is the run's process_count for all together. */
#ifndef TPROF_COMMANDS_CPU_REPORT_H
#define TPROF_COMMANDS_CPU_REPORT_H

#include <jansson.h>

#include "commands/session.h"

/* A section with a table; by function unless --by says else. */
void tpa_cpu_section_print(struct tpa_session *session, size_t process);

/* The same with at most `top` functions, in a summary; nothing if there is no sample. */
void tpa_cpu_short_print(struct tpa_session *session, size_t process, uint64_t top);

/* Key "cpu", and "callers" or "callees" where they are asked for. */
void tpa_cpu_section_json(struct tpa_session *session, size_t process, json_t *json);

#endif
