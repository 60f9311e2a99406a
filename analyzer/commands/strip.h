/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces names that match an expression by pseudonyms, in all texts of traces: of bundle --strip-names. A pseudonym is drawn at random
 * when its name is first met, and kept as long as the object lives, so that a name has one pseudonym in all traces of a bundle; nothing
 * leads back from it.
 */
#ifndef TPROF_COMMANDS_STRIP_H
#define TPROF_COMMANDS_STRIP_H

#include "compact/compact.h"
#include "symbols/embedded_bytes.h"
#include "trace/trace.h"

struct tpa_strip;

/* `regex`: a valid extended regular expression. */
struct tpa_strip *tpa_strip_new(const char *regex);
void tpa_strip_free(struct tpa_strip *strip); /* NULL: does nothing */

/*
 * The text without names that match: of a path the parts that match alone, else the whole. Never longer than `text`. The same pointer
 * if nothing matches; otherwise owned by `strip`.
 */
const char *tpa_strip_name(struct tpa_strip *strip, const char *text);

/* The same for all texts of a trace that is written, and for its embedded names. */
struct tpa_compact_edit tpa_strip_edit(struct tpa_strip *strip);
struct tpa_rename tpa_strip_rename(struct tpa_strip *strip);

/*
 * The summary that a ring has of its old events can't be changed. False if it holds a name that matches: *reason (a heap string)
 * names it.
 */
bool tpa_strip_can(struct tpa_strip *strip, struct tpa_trace *trace, char **reason);

#endif
