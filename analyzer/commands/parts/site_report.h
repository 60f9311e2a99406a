/* SPDX-License-Identifier: Apache-2.0 */
/* The base of peak, leaks and hotspots: rows of sites, a section for each process and one for all combined. */
#ifndef TPROF_COMMANDS_PARTS_SITE_REPORT_H
#define TPROF_COMMANDS_PARTS_SITE_REPORT_H

#include "commands/input/session.h"
#include "report/json/json.h"
#include "report/text/listing.h"
#include "report/rows/rows.h"

struct tpa_site_report {
	const char *key; /* key in the JSON object */
	enum tpa_what what;
	enum tpa_json_sites shape;
	bool hotspots;
	bool suppress;		     /* apply the built-in suppressions and the user's */
	bool additive;		     /* rows of several processes may be added up */
	const char *nothing;	     /* text if there are no rows */
	const char *nothing_seen;    /* the same if an allocator is not seen */
	const char *nothing_besides; /* the same if all rows are suppressed */
	void (*before)(struct tpa_session *session, size_t process); /* NULL, or prints first */
	void (*before_json)(struct tpa_session *session, size_t process, json_t *json);
	void (*after)(struct tpa_session *session, size_t process); /* NULL, or prints last for a process */
	bool nothing_else;					    /* print only what `after` prints */
	void (*heading)(const struct tpa_session *session, const struct tpa_process *process);
	void (*combined_heading)(const struct tpa_session *session);
	void (*next)(const struct tpa_session *session); /* prints the last line: the next command */
};

int tpa_site_report(const struct tpa_options *options, const struct tpa_site_report *report);

/* Rows to print: --top, else 10 in text and 100 in JSON. */
uint64_t tpa_top(const struct tpa_options *options, uint64_t text_default);

/*
 * Rows of one process, or of all combined (`process` is run->process_count). `sort` NULL: the order of --sort.
 * `suppressions` may be NULL. `top`: how many rows the caller needs; 0: all. The caller frees the rows.
 */
struct tpa_rows *tpa_session_rows(struct tpa_session *session, size_t process, enum tpa_by by, enum tpa_what what,
				  const char *sort, struct tpa_suppressions *suppressions, uint64_t top);

/* Prints the makeup of a process's RSS at a moment. */
void tpa_session_print_makeup(struct tpa_session *session, size_t process, const struct tpa_makeup_moment *moment,
			      const char *title, uint64_t top);

/* One line on what was suppressed, if anything was. */
/*
 * Prints a line on suppressed memory, if any. Omits what the built-in rules suppressed below that share of the total.
 */
void tpa_suppressed_print(const struct tpa_page *page, const struct tpa_suppressions *suppressions,
			  const struct tpa_rows *rows, double least);

/* Prints the processes of a run side by side: what each held at the combined peak. */
void tpa_combined_print(struct tpa_session *session);

/* Prints what the options exclude from the report, so that a part is not taken for the whole. */
void tpa_scope_print(const struct tpa_session *session);

/* Prints the last line of a report. */
__attribute__((format(printf, 2, 3))) void tpa_next_print(const struct tpa_page *page, const char *format, ...);

/* The traces as the user named them, for a command to type. */
struct tpa_names {
	char text[300];
};
struct tpa_names tpa_trace_names(const struct tpa_session *session);

/* After a report on several runs: prints the command that shows what was hooked in each. */
void tpa_next_coverage_print(const struct tpa_session *session);

#endif
