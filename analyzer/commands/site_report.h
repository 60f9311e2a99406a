/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What peak, leaks and hotspots have in common: rows of sites, a section for each process and one for all together.
 */
#ifndef TPROF_COMMANDS_SITE_REPORT_H
#define TPROF_COMMANDS_SITE_REPORT_H

#include "commands/session.h"
#include "report/json/json.h"
#include "report/text/listing.h"
#include "report/rows/rows.h"

struct tpa_site_report {
	const char *key; /* of the JSON object */
	enum tpa_what what;
	enum tpa_json_sites shape;
	bool hotspots;
	bool suppress;						     /* with the built-in suppressions and the user's */
	bool additive;						     /* rows of several processes may be put together */
	const char *nothing;					     /* what to say where there are no rows */
	const char *nothing_seen;				     /* where an allocator is not seen */
	const char *nothing_besides;				     /* ... but for suppressed ones */
	void (*before)(struct tpa_session *session, size_t process); /* NULL, or what is printed first */
	void (*before_json)(struct tpa_session *session, size_t process, json_t *json);
	void (*after)(struct tpa_session *session, size_t process); /* NULL, or what is printed last, of a process */
	bool nothing_else;					    /* ... and nothing but that */
	void (*heading)(const struct tpa_session *session, const struct tpa_process *process);
	void (*combined_heading)(const struct tpa_session *session);
	void (*next)(const struct tpa_session *session); /* the last line: what to do next */
};

int tpa_site_report(const struct tpa_options *options, const struct tpa_site_report *report);

/* Rows to print: --top, else 10 in text and 100 in JSON. */
uint64_t tpa_top(const struct tpa_options *options, uint64_t text_default);

/*
 * Rows of one process, or of all processes together (`process` is the run's process_count). `sort` NULL: as --sort says.
 * `suppressions` may be NULL. `top`: how many rows the caller needs; 0: all. The caller frees the rows.
 */
struct tpa_rows *tpa_session_rows(struct tpa_session *session, size_t process, enum tpa_by by, enum tpa_what what,
				  const char *sort, struct tpa_suppressions *suppressions, uint64_t top);

/* Prints what a process's RSS was made of at a moment. */
void tpa_session_print_makeup(struct tpa_session *session, size_t process, const struct tpa_makeup_moment *moment,
			      const char *title, uint64_t top);

/* One line on what was suppressed, if anything was. */
/* What the rules left out; what the built-in ones did only if it is at least that share of all. */
void tpa_suppressed_print(const struct tpa_page *page, const struct tpa_suppressions *suppressions,
			  const struct tpa_rows *rows, double least);

/* The processes of a run beside each other: what each held at the combined peak. */
void tpa_combined_print(const struct tpa_session *session);

/* What the options leave out of the report, if anything: a number must not be taken for the whole. */
void tpa_scope_print(const struct tpa_session *session);

/* The last line of a report. */
__attribute__((format(printf, 2, 3))) void tpa_next_print(const struct tpa_page *page, const char *format, ...);

/* The traces as they were named, for a command to be typed. */
struct tpa_names {
	char text[300];
};
struct tpa_names tpa_trace_names(const struct tpa_session *session);

/* Under a report on several runs: which command tells of each what was hooked. */
void tpa_next_coverage_print(const struct tpa_session *session);

#endif
