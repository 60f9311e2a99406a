/* SPDX-License-Identifier: Apache-2.0 */
/* lines: a source file with each line's memory, CPU time and op time; or the list of files. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/parts/cpu_report.h"
#include "commands/parts/site_report.h"
#include "report/json/json_writer.h"
#include "report/rows/file_lines.h"
#include "report/text/columns.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"

#define CONTEXT 2 /* source lines shown around a line that has numbers */

/* ---- all lines of all processes ---- */

static void add_cpu(struct tpa_session *session, struct tpa_file_lines *lines)
{
	struct tpa_cpu_options options = { .by = TPA_BY_LINE };
	struct tpa_cpu_builder *builder = tpa_cpu_rows_begin(&options);
	struct tpa_cpu_rows *rows;

	for (size_t i = 0; i < session->run->process_count; i++)
		tpa_cpu_rows_add(builder, &session->run->processes[i], i, session->symbols[i]);
	rows = tpa_cpu_rows_end(builder);
	tpa_file_lines_add_cpu(lines, rows);
	tpa_cpu_rows_free(rows);
}

static void add_all(struct tpa_session *session, struct tpa_file_lines *lines)
{
	struct tpa_rows *rows = tpa_session_rows(session, session->run->process_count, TPA_BY_LINE, TPA_WHAT_ALLOCATED,
						 "bytes", NULL, 0);

	tpa_file_lines_add_rows(lines, rows);
	add_cpu(session, lines);
	for (size_t i = 0; i < session->run->process_count; i++) {
		tpa_file_lines_add_growth(lines, &session->run->processes[i], session->symbols[i]);
		tpa_file_lines_add_ops(lines, &session->run->processes[i], session->symbols[i]);
	}
	tpa_rows_free(rows);
	tpa_file_lines_sort(lines);
}

/* ---- JSON ---- */

static json_t *json_line(const struct tpa_file_line *line, const char *source)
{
	json_t *json = json_object();

	tpa_json_set(json, "file", tpa_json_string(line->file));
	if (line->line) {
		tpa_json_set(json, "line", json_integer(line->line));
		tpa_json_set(json, "function", tpa_json_string(line->function));
		tpa_json_set(json, "source", tpa_json_string(source));
	}
	tpa_json_columns(json, tpa_file_line_columns, line, NULL, NULL);
	if (line->line) {
		tpa_json_set(json, "op_ns", tpa_json_number(tpa_round(line->op_ns)));
		tpa_json_set(json, "op_ns_ci95", tpa_json_interval_ns(tpa_file_line_op_interval(line)));
	}
	return json;
}

/* ---- text ---- */

/* "12.3 ms \xc2\xb15%". The percentage is the larger side of an asymmetric interval. */
static void add_op_time(const struct tpa_page *page, struct tpa_table *table, const struct tpa_file_line *line)
{
	double off = sqrt(fmax(line->op_below, line->op_above));
	char text[80] = "";

	if (tpa_round(line->op_ns))
		snprintf(text, sizeof(text), "%s %s%.0f%%", tpa_time(tpa_round(line->op_ns)).text,
			 page->utf8 ? "\xc2\xb1" : "+-", ceil(100 * off / line->op_ns));
	tpa_table_add(table, TPA_STYLE_PLAIN, text);
}

/*
 * Keys of each line's own numbers, each next to the one that includes callees. A file has only its own: its sum would
 * count its lines' callees twice. Growth may be per second.
 */
static const char *keys_of(const struct tpa_session *session, bool file)
{
	static const char *const keys[2][2] = {
		{ "~label *peak_bytes *total_peak_bytes *allocated_bytes *total_allocated_bytes allocations "
		  "*unfreed_bytes "
		  "*growth_bytes_per_step cpu_ns total_cpu_ns *total_growth_bytes_per_step",
		  "~label *peak_bytes *total_peak_bytes *allocated_bytes *total_allocated_bytes allocations "
		  "*unfreed_bytes "
		  "*growth_bytes_per_second cpu_ns total_cpu_ns *total_growth_bytes_per_second" },
		{ "*peak_bytes *allocated_bytes allocations *unfreed_bytes *growth_bytes_per_step cpu_ns",
		  "*peak_bytes *allocated_bytes allocations *unfreed_bytes *growth_bytes_per_second cpu_ns" },
	};
	bool seconds = false;

	for (size_t i = 0; i < session->run->process_count; i++)
		seconds |= session->run->processes[i].growth.heap.count && session->run->processes[i].growth.seconds;
	return keys[file][seconds];
}

static void print_files(const struct tpa_session *session, const struct tpa_file_lines *files)
{
	uint64_t top = tpa_top(session->options, 20);
	const struct tpa_row_context context = { .unseen = tpa_run_unseen(session->run) };
	const char *keys = keys_of(session, true);
	struct tpa_table *table = tpa_columns_begin(&session->page, tpa_file_line_columns, keys, "*file");
	size_t count = top && top < files->count ? (size_t)top : files->count;

	for (size_t i = 0; i < count; i++) {
		tpa_columns_add(table, &session->page, tpa_file_line_columns, keys, &files->list[i], &context);
		tpa_table_add(table, TPA_STYLE_FUNCTION, files->list[i].file);
	}
	tpa_headline(&session->page, "Files");
	tpa_table_end(table, &session->page);
	tpa_rest_print(&session->page, files->count, count, " file");
}

/* ---- one file ---- */

struct source {
	char **lines; /* [0] is line 1; NULL: the file can't be read */
	size_t count;
};

static void free_source(struct source *source)
{
	for (size_t i = 0; i < source->count; i++)
		free(source->lines[i]);
	free(source->lines);
}

static struct source read_source(const char *path)
{
	struct source source = { NULL, 0 };
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0, capacity = 0;

	while (file && getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\r\n")] = '\0';
		for (char *c = line; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 127)
				*c = ' ';
		*TPA_APPEND(source.lines, source.count, capacity) = tpa_strdup(line);
	}
	free(line);
	if (file)
		fclose(file);
	return source;
}

static const char *source_line(const struct source *source, int line)
{
	return line > 0 && (size_t)line <= source->count ? source->lines[line - 1] : NULL;
}

/* State of the listing while it is printed. */
struct listing {
	const struct tpa_page *page;
	struct tpa_row_context context;
	const char *keys;
	struct tpa_table *table;
	bool ops; /* has a column of op times */
};

static void add_row(const struct listing *listing, const struct tpa_file_line *line, const char *label,
		    const char *text)
{
	static const struct tpa_file_line nothing;
	struct tpa_row_context context = listing->context;
	struct tpa_table *table = listing->table;

	context.more = label;
	tpa_columns_add(table, listing->page, tpa_file_line_columns, listing->keys, line ? line : &nothing, &context);
	if (listing->ops)
		add_op_time(listing->page, table, line ? line : &nothing);
	tpa_table_add(table, line ? TPA_STYLE_PLAIN : TPA_STYLE_DIM,
		      text		       ? text
		      : line && line->function ? line->function
					       : "");
}

static void add_line(const struct listing *listing, const struct tpa_file_line *line, int number, const char *text)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%d", number);
	add_row(listing, line, digits, text);
}

/* Marks lines that are left out. Shows a single line instead, as it takes no more room. */
static void add_gap(const struct listing *listing)
{
	add_row(listing, NULL, listing->page->utf8 ? "\xe2\x8b\xae" : "...", NULL);
}

/* Adds the `count` lines from `first` on, all of one file. */
static void add_lines(const struct listing *listing, const struct tpa_file_line *first, size_t count,
		      const struct source *source)
{
	int printed = 0;

	for (size_t i = 0; i < count; i++) {
		int line = first[i].line, before = line - CONTEXT, after = line + CONTEXT;

		if (i + 1 < count && first[i + 1].line - 1 < after)
			after = first[i + 1].line - 1;
		if (source->count && before > printed + 2)
			add_gap(listing);
		else
			before = printed + 1;
		for (int k = before; source->count && k < line && k > 0; k++)
			add_line(listing, NULL, k, source_line(source, k));
		add_line(listing, &first[i], line, source_line(source, line));
		for (int k = line + 1; source->count && k <= after && (size_t)k <= source->count; k++)
			add_line(listing, NULL, k, source_line(source, k));
		printed = after > line ? after : line;
	}
}

static void print_file(const struct tpa_session *session, const struct tpa_file_lines *lines,
		       const struct tpa_file_line *first, size_t count, const struct source *source)
{
	struct listing listing = { .page = &session->page,
				   .context = { .unseen = tpa_run_unseen(session->run) },
				   .keys = keys_of(session, false),
				   .ops = lines->ops_ns > lines->ops_unseen_ns };

	listing.table = tpa_columns_begin(&session->page, tpa_file_line_columns, listing.keys,
					  listing.ops ? ">in ops|=source" : "=source");
	add_lines(&listing, first, count, source);
	tpa_headline(&session->page, "%s", first->file);
	if (!source->count)
		tpa_print(&session->page, TPA_STYLE_DIM,
			  "the file can't be read: functions are shown instead of its text\n");
	tpa_table_end(listing.table, &session->page);
	tpa_print(&session->page, TPA_STYLE_DIM, "  total: with what was called from the line\n");
	if (listing.ops)
		tpa_print(&session->page, TPA_STYLE_DIM,
			  "  in ops: each op's time, divided among the lines that called it by its CPU samples (95%%); "
			  "%s of %s belongs to ops\n"
			  "  without a sample, and is in no line\n",
			  tpa_time(tpa_round(lines->ops_unseen_ns)).text, tpa_time(tpa_round(lines->ops_ns)).text);
}

static bool is_of(const struct tpa_session *session, const struct tpa_file_line *line)
{
	return tpa_file_is(line->file, session->options->source);
}

static size_t file_end(const struct tpa_file_lines *lines, size_t at)
{
	size_t end = at + 1;

	while (end < lines->count && lines->list[end].file == lines->list[at].file)
		end++;
	return end;
}

/* Prints every file that the name matches. Returns false after reporting that none does. */
static bool report_file(struct tpa_session *session, const struct tpa_file_lines *lines, json_t *list)
{
	bool any = false;

	for (size_t i = 0, end; i < lines->count; i = end) {
		struct source source;

		end = file_end(lines, i);
		if (!is_of(session, &lines->list[i]))
			continue;
		any = true;
		source = read_source(lines->list[i].file);
		for (size_t k = i; list && k < end; k++)
			json_array_append_new(list,
					      json_line(&lines->list[k], source_line(&source, lines->list[k].line)));
		if (!list)
			print_file(session, lines, &lines->list[i], end - i, &source);
		free_source(&source);
	}
	if (!any)
		fprintf(stderr,
			"tprof-analyze: lines %s: the trace has no line of such a file; tprof-analyze lines TRACE "
			"lists the files\n",
			session->options->source);
	return any;
}

static void report_files(struct tpa_session *session, const struct tpa_file_lines *lines, json_t *list)
{
	struct tpa_file_lines *files = tpa_file_lines_sums(lines);
	uint64_t top = session->options->top_set ? session->options->top : 0;

	for (size_t i = 0; list && i < files->count && (!top || i < top); i++)
		json_array_append_new(list, json_line(&files->list[i], NULL));
	if (!list)
		print_files(session, files);
	tpa_file_lines_free(files);
}

static json_t *make_process(void *context, size_t index)
{
	const struct tpa_process *process = &((const struct tpa_run *)context)->processes[index];

	return json_pack("{s:o,s:o}", "process", tpa_json_process(process), "capture", tpa_json_capture(process));
}

/* Drops the reference to `list`. */
static void write_json(const struct tpa_session *session, const struct tpa_file_lines *lines, json_t *list)
{
	struct tpa_json_writer writer;

	tpa_json_begin(&writer, session->page.out);
	tpa_json_put(&writer, session->options->source ? "lines" : "files", list);
	tpa_json_put_each(&writer, "processes", session->run->process_count, make_process, session->run);
	tpa_json_put(&writer, "ops_ns", tpa_json_number(tpa_round(lines->ops_ns)));
	tpa_json_put(&writer, "ops_unseen_ns", tpa_json_number(tpa_round(lines->ops_unseen_ns)));
	tpa_json_end(&writer);
}

static void print_coverage(const struct tpa_session *session)
{
	if (session->run->process_count > 1)
		tpa_next_coverage_print(session);
	else
		tpa_coverage_print(&session->page, &session->run->processes[0]);
}

static int report(struct tpa_session *session, struct tpa_file_lines *lines)
{
	const struct tpa_options *options = session->options;
	json_t *list = options->json ? json_array() : NULL;
	bool found = true;

	add_all(session, lines);
	if (options->source)
		found = report_file(session, lines, list);
	else
		report_files(session, lines, list);
	if (list) {
		write_json(session, lines, list);
	} else if (found) {
		tpa_scope_print(session);
		print_coverage(session);
	}
	return found ? TPA_EXIT_OK : TPA_EXIT_USAGE;
}

int tpa_cmd_lines(const struct tpa_options *options)
{
	struct tpa_file_lines *lines;
	struct tpa_session session;
	int status = tpa_session_start(&session, options, TPA_GROUP_STACK);

	if (status != TPA_EXIT_OK)
		return status;
	tpa_session_open_symbols(&session);
	lines = tpa_file_lines_new();
	status = report(&session, lines);
	tpa_file_lines_free(lines);
	return tpa_session_close(&session, status);
}
