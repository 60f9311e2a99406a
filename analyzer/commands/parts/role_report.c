/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/role_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/parts/cover_report.h"
#include "model/result/roles.h"
#include "model/stats/stats.h"
#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "report/rows/fork_lines.h"
#include "report/text/cover_listing.h"
#include "report/text/numbers.h"
#include "report/text/process_listing.h"

#define ODD_SHOWN 5    /* most odd ones of a role that the text names */
#define ROLES_SHOWN 10 /* without --full or --top 0 */
#define COVER_ROWS 20

static const struct {
	const char *key, *words;
} figures[TPA_ROLE_FIGURES] = {
	[TPA_ROLE_PEAK] = { "peak_bytes", "the peak" },
	[TPA_ROLE_RSS] = { "rss_peak_bytes", "the RSS" },
	[TPA_ROLE_UNFREED] = { "end_bytes", "the unfreed memory" },
	[TPA_ROLE_TIME] = { "duration_ns", "the time" },
	[TPA_ROLE_CPU] = { "cpu_ns", "the CPU time" },
};

/* ---- the line that holds the difference ---- */

struct place {
	char text[400];
	uint64_t more; /* bytes at the peak, or ns of CPU time; 0: no line is known */
};

/* "train.py:7"; of a row that is a whole function, "load (loader.c)". In `text`. */
static const char *row_text(const struct tpa_session *session, const struct tpa_cover_row *row, char *text, size_t size)
{
	const char *function = row->function && row->line.location ? row->line.location->function : NULL;
	char place[400];

	tpa_cover_place(session->run->processes[row->process].trace, row, place, sizeof(place));
	if (function)
		snprintf(text, size, "%.150s (%.200s)", function, place);
	else
		snprintf(text, size, "%s", place);
	return text;
}

static uint64_t amount_at(const struct tpa_session *session, const struct tpa_cover *cover, const char *place)
{
	uint64_t sum = 0;
	char text[400];

	for (size_t i = 0; i < cover->count; i++)
		if (strcmp(row_text(session, &cover->rows[i], text, sizeof(text)), place) == 0)
			sum += cover->rows[i].amount;
	return sum;
}

/* The place of which the first cover has most more than the other. Frees both. */
static struct place find_place(const struct tpa_session *session, struct tpa_cover *mine, struct tpa_cover *other)
{
	struct place best = { "", 0 };

	for (size_t i = 0; i < mine->count; i++) {
		char text[400];
		const char *name = row_text(session, &mine->rows[i], text, sizeof(text));
		uint64_t all = amount_at(session, mine, name), less = amount_at(session, other, name);

		if (all > less && all - less > best.more) {
			best.more = all - less;
			snprintf(best.text, sizeof(best.text), "%s", name);
		}
	}
	tpa_cover_free(mine);
	tpa_cover_free(other);
	return best;
}

static bool is_time(enum tpa_role_figure figure)
{
	return figure == TPA_ROLE_TIME || figure == TPA_ROLE_CPU;
}

static bool is_more(const struct tpa_odd_one *odd, const struct tpa_role *role)
{
	return odd->value > role->figures[odd->figure].median;
}

/* The line that held more at the peak, or that took more CPU time if the process took more time, or more of that. */
static struct place place_of(struct tpa_session *session, const struct tpa_role *role, const struct tpa_odd_one *odd)
{
	if (!is_more(odd, role))
		return (struct place){ "", 0 };
	if (is_time(odd->figure))
		return find_place(session, tpa_session_cpu_cover(session, odd->process, COVER_ROWS),
				  tpa_session_cpu_cover(session, role->typical, COVER_ROWS));
	return find_place(session, tpa_session_peak_cover(session, odd->process, COVER_ROWS),
			  tpa_session_peak_cover(session, role->typical, COVER_ROWS));
}

static uint64_t cpu_of(const struct tpa_session *session, size_t process)
{
	return tpa_cpu_ns(&session->run->processes[process], &session->run->processes[process].cpu);
}

/* Did the process take longer, but hardly more CPU time? */
static bool has_waited(const struct tpa_session *session, const struct tpa_role *role, const struct tpa_odd_one *odd)
{
	double longer = odd->value - role->figures[TPA_ROLE_TIME].median;
	double more = (double)cpu_of(session, odd->process) - (double)cpu_of(session, role->typical);

	return odd->figure == TPA_ROLE_TIME && is_more(odd, role) &&
	       session->run->processes[odd->process].trace->header->cpu_period_ns && more < longer / 4;
}

/* ---- text ---- */

struct view {
	struct tpa_session *session;
	const struct tpa_page *page;
	struct tpa_fork_lines forked;
	struct tpa_roles roles;
};

static struct view view_of(struct tpa_session *session, const struct tpa_page *page)
{
	struct view view = { .session = session, .page = page };

	tpa_session_open_symbols(session);
	view.forked = tpa_fork_lines_find(session->run, session->symbols);
	view.roles = tpa_roles_find(session->run, view.forked.keys);
	return view;
}

static void end_view(struct view *view)
{
	tpa_roles_free(&view->roles);
	tpa_fork_lines_free(&view->forked);
}

struct tpa_roles tpa_session_roles(struct tpa_session *session)
{
	struct view view = view_of(session, &session->page);

	tpa_fork_lines_free(&view.forked);
	return view.roles;
}

/* "rank 3", "18594", "18594, of rank 3": in `text`. */
static const char *name_of(const struct view *view, size_t process, char *text, size_t size)
{
	const struct tpa_rank_of *rank = &view->roles.rank_of[process];
	uint32_t pid = view->session->run->processes[process].trace->header->pid;

	if (rank->is_rank)
		snprintf(text, size, "rank %" PRIu32, rank->number);
	else if (rank->number != TPA_COMM_UNKNOWN)
		snprintf(text, size, "%" PRIu32 ", of rank %" PRIu32, pid, rank->number);
	else
		snprintf(text, size, "%" PRIu32, pid);
	return text;
}

/* Its command, or where its processes were forked or whose forks they are, in `text`. */
static const char *origin_of(const struct view *view, const struct tpa_role *role, char *text, size_t size)
{
	const struct tpa_run *run = view->session->run;
	const struct tpa_process *first = &run->processes[role->members[0]];
	const struct tpa_line *line = &view->forked.lines[role->members[0]];
	const struct tpa_page *page = view->page;
	bool is_fork = first->trace->header->origin == TPROF_ORIGIN_FORK && first->parent < run->process_count;
	char label[800];

	if (line->location)
		snprintf(text, size, "forked in %s",
			 tpa_fork_line_text(&view->forked, run, role->members[0], label, sizeof(label)));
	else if (is_fork && role->parent == run->process_count)
		snprintf(text, size, "forks of each %s",
			 tpa_process_label(run, &run->processes[first->parent], page, label, sizeof(label)));
	else
		snprintf(text, size, "%s", tpa_process_label(run, first, page, label, sizeof(label)));
	return text + strspn(text, " ");
}

/* What its processes are, in `text`. */
static const char *label_of(const struct view *view, const struct tpa_role *role, char *text, size_t size)
{
	uint32_t first = view->roles.rank_of[role->members[0]].number;
	char origin[1000], of[32] = "";

	if (!role->ranks && role->rank != TPA_COMM_UNKNOWN)
		snprintf(of, sizeof(of), ", of rank %" PRIu32, role->rank);
	else if (!role->ranks && first != TPA_COMM_UNKNOWN)
		snprintf(of, sizeof(of), ", of ranks");
	snprintf(text, size, "%s%s%s", role->ranks ? "ranks: " : "", origin_of(view, role, origin, sizeof(origin)), of);
	return text;
}

static const char *value_text(const struct tpa_page *page, enum tpa_role_figure figure, double value, char *text,
			      size_t size)
{
	snprintf(text, size, "%s",
		 is_time(figure) ? tpa_time(tpa_round(value)).text : tpa_bytes(tpa_round(value), page->exact).text);
	return text;
}

static void print_odd(const struct view *view, const struct tpa_role *role, const struct tpa_odd_one *odd)
{
	const struct tpa_page *page = view->page;
	double median = role->figures[odd->figure].median;
	char value[64], usual[64], name[64];
	struct place place;

	tpa_print(page, TPA_STYLE_WARN, "  the odd one out: %s: ", name_of(view, odd->process, name, sizeof(name)));
	if (median > 0)
		fprintf(page->out, "%.*fx %s of the others like it", odd->value < 10 * median, odd->value / median,
			figures[odd->figure].words);
	else
		fprintf(page->out, "%s is not as that of the others like it", figures[odd->figure].words);
	fprintf(page->out, " (%s; their median %s)", value_text(page, odd->figure, odd->value, value, sizeof(value)),
		value_text(page, odd->figure, median, usual, sizeof(usual)));
	if (has_waited(view->session, role, odd)) {
		fputs(": it waited, or had no processor; its CPU time is hardly longer", page->out);
	} else {
		place = place_of(view->session, role, odd);
		if (place.more)
			fprintf(page->out, ": %s, %s more", place.text,
				is_time(odd->figure) ? tpa_time(place.more).text
						     : tpa_bytes(place.more, page->exact).text);
		if (place.more && is_time(odd->figure))
			fputs(" of CPU time", page->out);
	}
	fputc('\n', page->out);
}

static void add_figure(struct tpa_table *table, const struct tpa_page *page, const struct tpa_role *role,
		       enum tpa_role_figure figure)
{
	char text[64];

	tpa_table_add(table, TPA_STYLE_NUMBER,
		      value_text(page, figure, role->figures[figure].median, text, sizeof(text)));
}

static void print_role(const struct view *view, struct tpa_table *table, const struct tpa_role *role)
{
	const struct tpa_page *page = view->page;
	const struct tpa_role_spread *peak = &role->figures[TPA_ROLE_PEAK];
	char text[1000];

	tpa_table_add(table, TPA_STYLE_NUMBER, tpa_count(role->count).text);
	add_figure(table, page, role, TPA_ROLE_PEAK);
	tpa_table_add(table, TPA_STYLE_PLAIN, value_text(page, TPA_ROLE_PEAK, peak->spread, text, sizeof(text)));
	tpa_table_add(table, TPA_STYLE_PLAIN, value_text(page, TPA_ROLE_PEAK, peak->least, text, sizeof(text)));
	tpa_table_add(table, TPA_STYLE_PLAIN, value_text(page, TPA_ROLE_PEAK, peak->most, text, sizeof(text)));
	add_figure(table, page, role, TPA_ROLE_RSS);
	add_figure(table, page, role, TPA_ROLE_CPU);
	add_figure(table, page, role, TPA_ROLE_TIME);
	tpa_table_add(table, TPA_STYLE_PLAIN, label_of(view, role, text, sizeof(text)));
}

static void print_table(const struct view *view)
{
	const struct tpa_roles *roles = &view->roles;
	const struct tpa_page *page = view->page;
	const struct tpa_options *options = view->session->options;
	bool all = options->full || (options->top_set && !options->top) || roles->count <= ROLES_SHOWN;
	size_t shown = all ? roles->count : ROLES_SHOWN, others = 0;
	struct tpa_table *table = tpa_table_new(">processes|>peak|>spread|>least|>most|>RSS|>CPU time|>ran|*role");

	tpa_headline(page, "The processes by role: medians, and the spread, least and most of the peak");
	for (size_t i = 0; i < shown; i++)
		print_role(view, table, &roles->list[i]);
	tpa_table_end(table, page);
	for (size_t i = shown; i < roles->count; i++)
		others += roles->list[i].count;
	if (others)
		fprintf(page->out, "  and %zu more processes in %zu roles that held less (--top 0 shows all)\n", others,
			roles->count - shown);
}

/* The file of a process, as the command line has it. */
static const char *file_of(const struct tpa_session *session, size_t process)
{
	size_t i = 0;

	while (i + 1 < session->trace_count && session->traces[i] != session->run->processes[process].trace)
		i++;
	return session->options->traces[i];
}

/* Prints the command that says more of the first process that has too much memory. */
static void print_next(const struct view *view)
{
	for (size_t i = 0; i < view->roles.count; i++) {
		const struct tpa_role *role = &view->roles.list[i];

		for (size_t o = 0; o < role->odd_count; o++) {
			if (is_time(role->odd[o].figure) || !is_more(&role->odd[o], role))
				continue;
			fprintf(view->page->out,
				"  tprof-analyze diff %s %s   says where the second differs from one that is as the "
				"others\n",
				file_of(view->session, role->typical), file_of(view->session, role->odd[o].process));
			return;
		}
	}
}

static void print_all_odd(const struct view *view)
{
	for (size_t i = 0; i < view->roles.count; i++) {
		const struct tpa_role *role = &view->roles.list[i];

		for (size_t o = 0; o < role->odd_count && o < ODD_SHOWN; o++)
			print_odd(view, role, &role->odd[o]);
		if (role->odd_count > ODD_SHOWN)
			fprintf(view->page->out, "  and %zu more of that role that are not as the others\n",
				role->odd_count - ODD_SHOWN);
	}
	print_next(view);
}

void tpa_roles_print(struct tpa_session *session)
{
	struct view view = view_of(session, &session->page);

	if (view.roles.count < session->run->process_count)
		print_table(&view);
	print_all_odd(&view);
	end_view(&view);
}

void tpa_roles_odd_print(struct tpa_session *session, const struct tpa_page *page)
{
	struct view view = view_of(session, page);

	print_all_odd(&view);
	end_view(&view);
}

/* ---- JSON ---- */

static json_t *rank_json(const struct view *view, size_t process)
{
	uint32_t number = view->roles.rank_of[process].number;

	return number == TPA_COMM_UNKNOWN ? json_null() : tpa_json_number(number);
}

static json_t *odd_json(const struct view *view, const struct tpa_role *role, const struct tpa_odd_one *odd)
{
	double median = role->figures[odd->figure].median;
	bool waited = has_waited(view->session, role, odd), of_time = is_time(odd->figure);
	struct place place = waited ? (struct place){ "", 0 } : place_of(view->session, role, odd);
	json_t *json = json_object();

	tpa_json_set(json, "pid", tpa_json_number(view->session->run->processes[odd->process].trace->header->pid));
	tpa_json_set(json, "rank", rank_json(view, odd->process));
	tpa_json_set(json, "figure", json_string(figures[odd->figure].key));
	tpa_json_set(json, "value", tpa_json_number(tpa_round(odd->value)));
	tpa_json_set(json, "ratio", median > 0 ? json_real(odd->value / median) : json_null());
	tpa_json_set(json, "place", place.more ? tpa_json_string(place.text) : json_null());
	tpa_json_set(json, "more_bytes", place.more && !of_time ? tpa_json_number(place.more) : json_null());
	tpa_json_set(json, "more_cpu_ns", place.more && of_time ? tpa_json_number(place.more) : json_null());
	tpa_json_set(json, "waited", odd->figure == TPA_ROLE_TIME ? json_boolean(waited) : json_null());
	return json;
}

static json_t *role_json(const struct view *view, const struct tpa_role *role)
{
	const struct tpa_line *line = &view->forked.lines[role->members[0]];
	json_t *json = json_object(), *pids = json_array(), *ranks = json_array(), *odd = json_array();
	char text[1000];

	for (size_t i = 0; i < role->count; i++) {
		const struct tpa_process *process = &view->session->run->processes[role->members[i]];

		json_array_append_new(pids, tpa_json_number(process->trace->header->pid));
		json_array_append_new(ranks, rank_json(view, role->members[i]));
	}
	for (size_t i = 0; i < role->odd_count; i++)
		json_array_append_new(odd, odd_json(view, role, &role->odd[i]));
	tpa_json_set(json, "role", tpa_json_string(label_of(view, role, text, sizeof(text))));
	tpa_json_set(json, "pids", pids);
	tpa_json_set(json, "forked_at", line->location ? tpa_json_frame(line) : json_null());
	tpa_json_set(json, "are_ranks", json_boolean(role->ranks));
	tpa_json_set(json, "ranks", ranks);
	for (enum tpa_role_figure figure = 0; figure < TPA_ROLE_FIGURES; figure++) {
		const struct tpa_role_spread *spread = &role->figures[figure];

		tpa_json_set(json, figures[figure].key,
			     json_pack("{s:o, s:o, s:o, s:o}", "median", tpa_json_number(tpa_round(spread->median)),
				       "spread", tpa_json_number(tpa_round(spread->spread)), "least",
				       tpa_json_number(tpa_round(spread->least)), "most",
				       tpa_json_number(tpa_round(spread->most))));
	}
	tpa_json_set(json, "odd", odd);
	return json;
}

json_t *tpa_roles_json(struct tpa_session *session)
{
	struct view view = view_of(session, &session->page);
	json_t *list = json_array();

	for (size_t i = 0; i < view.roles.count; i++)
		json_array_append_new(list, role_json(&view, &view.roles.list[i]));
	end_view(&view);
	return list;
}
