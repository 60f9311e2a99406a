/* SPDX-License-Identifier: Apache-2.0 */
/* Where the texts of a trace are: in its header and in records. */
#ifndef TPROF_COMMANDS_STRIP_RECORDS_H
#define TPROF_COMMANDS_STRIP_RECORDS_H

#include "commands/strip.h"

/* A text that may hold more than names, an argument or a setting: all of it, if a part matches. As tpa_strip_name() otherwise. */
const char *tpa_strip_whole(struct tpa_strip *strip, const char *text);

/* A copy of a text that `strip` owns. */
const char *tpa_strip_keep(struct tpa_strip *strip, const char *text);

/* Of bytes that are not understood: what matches in runs of printable characters. Lengths stay. */
void tpa_strip_runs(struct tpa_strip *strip, uint8_t *bytes, size_t length);

#endif
