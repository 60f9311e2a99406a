/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and times on the command line; sizes are read by <tprof/size.h>. False: the text is none. */
#ifndef TPROF_COMMANDS_VALUES_H
#define TPROF_COMMANDS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* Digits alone; at most `max`. */
bool tpa_parse_number(const char *text, uint64_t max, uint64_t *number);

/* A length of time to nanoseconds: "1.5s", "300ms", "20us", "7ns", "2m", "1h", plain numbers are seconds. */
bool tpa_parse_time(const char *text, uint64_t *ns);

#endif
