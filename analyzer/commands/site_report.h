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
#include "report/rows/suppressions.h"

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
	bool (*before)(struct tpa_session *session, size_t process); /* NULL, or what is printed first */
	bool (*before_json)(struct tpa_session *session, size_t process, json_t *json);
	bool (*after)(struct tpa_session *session, size_t process); /* NULL, or what is printed last, of a process */
	bool nothing_else;					    /* ... and nothing but that */
	void (*heading)(const struct tpa_session *session, const struct tpa_process *process);
	void (*combined_heading)(const struct tpa_session *session);
	void (*next)(const struct tpa_session *session); /* the last line: what to do next */
};

int tpa_site_report(const struct tpa_options *options, const struct tpa_site_report *report);

/* Rows to print: --top, else 10 in text and 100 in JSON. */
uint64_t tpa_top(const struct tpa_options *options, uint64_t text_default);

/*
 * Rows of one process, or of all (`process` is the run's process_count then). `sort` NULL: --sort. NULL: memory is out.
 * `suppressions` may be NULL. `top`: so many rows are needed; 0: all.
 */
struct tpa_rows *tpa_session_rows(struct tpa_session *session, size_t process, enum tpa_by by, enum tpa_what what,
				  const char *sort, struct tpa_suppressions *suppressions, uint64_t top);

/* What a process's RSS was made of at a moment: struct tpa_makeup. False: no memory. */
bool tpa_session_print_makeup(struct tpa_session *session, size_t process, const struct tpa_makeup_moment *moment,
			      const char *title, uint64_t top);

/* Built-in suppressions and those of --suppressions. NULL: one line on stderr said why. */
struct tpa_suppressions *tpa_session_suppressions(const struct tpa_session *session);

/* One line on what was suppressed, if anything was. */
void tpa_suppressed_print(const struct tpa_page *page, const struct tpa_rows *rows);

/* The processes of a run beside each other: what each held at the combined peak. */
void tpa_combined_print(const struct tpa_session *session);

/* What the options leave out of the report, if anything: a number must not be taken for the whole. */
void tpa_scope_print(const struct tpa_session *session);

/* The last line of a report. */
__attribute__((format(printf, 2, 3))) void tpa_next_print(const struct tpa_page *page, const char *format, ...);

/* The traces as they were named, for a command to be typed. */
const char *tpa_trace_names(const struct tpa_session *session, char *buffer, size_t size);

/* Under a report on several runs: which command tells of each what was hooked. */
void tpa_next_coverage_print(const struct tpa_session *session);

#endif
