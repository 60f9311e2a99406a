/* SPDX-License-Identifier: Apache-2.0 */
/* Parses numbers and times of the command line; <tprof/size.h> parses sizes. Return false if the text is invalid. */
#ifndef TPROF_COMMANDS_LINE_VALUES_H
#define TPROF_COMMANDS_LINE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* Accepts only digits, up to `max`. */
bool tpa_parse_number(const char *text, uint64_t max, uint64_t *number);

/* Converts a duration to nanoseconds: "1.5s", "300ms", "20us", "7ns", "2m", "1h"; plain numbers are seconds. */
bool tpa_parse_time(const char *text, uint64_t *ns);

#endif
