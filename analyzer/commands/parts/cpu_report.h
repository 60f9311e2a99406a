/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples in the reports of hotspots and summary. `process` is run->process_count for all processes together. */
#ifndef TPROF_COMMANDS_PARTS_CPU_REPORT_H
#define TPROF_COMMANDS_PARTS_CPU_REPORT_H

#include <jansson.h>

#include "commands/input/session.h"

/* A section with a table; by function unless --by says else. */
void tpa_cpu_section_print(struct tpa_session *session, size_t process);

/* The same for a summary, with at most `top` functions. Prints nothing if there are no samples. */
void tpa_cpu_short_print(struct tpa_session *session, size_t process, uint64_t top);

/* Sets the key "cpu", and "callers" or "callees" if the options ask for them. */
void tpa_cpu_section_json(struct tpa_session *session, size_t process, json_t *json);

#endif
