/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/rows/op_columns.h"
#include "report/rows/stack.h"
#include "report/text/name.h"
#include "report/text/op_cells.h"

#define COLUMNS 20

/* Text is aligned to the left, figures to the right. */
static bool is_text(enum tpa_html_kind kind)
{
	return kind == TPA_HTML_TEXT || kind == TPA_HTML_CODE || kind >= TPA_HTML_PLACE;
}

/* Does the column take the remaining width? */
static bool is_wide(enum tpa_html_kind kind)
{
	return kind == TPA_HTML_PLACE || kind == TPA_HTML_STACK || kind == TPA_HTML_NAMES;
}

/* Writes the interval of an estimate: "self_share" has "self_share_ci95". */
static void put_interval(const struct tpa_html *html, const struct tpa_html_column *column, const json_t *row)
{
	char key[80];
	const json_t *interval;

	snprintf(key, sizeof(key), "%s_ci95", column->key);
	interval = json_object_get(row, key);
	if (json_is_array(interval))
		tpa_html_element(html, "small", "ci", "%s", tpa_html_figure(html, column->kind, interval).text);
}

/* Writes what stands below a value: "v1" has "v1_note". */
static void put_note(const struct tpa_html *html, const struct tpa_html_column *column, const json_t *row)
{
	char key[80];
	const char *note;

	snprintf(key, sizeof(key), "%s_note", column->key);
	note = json_string_value(json_object_get(row, key));
	if (note)
		tpa_html_element(html, "small", "ci", "%s", note);
}

static void put_hint(const struct tpa_html *html, const char *hint)
{
	if (!hint)
		return;
	fputs(" title=\"", html->out);
	tpa_html_text(html, hint);
	fputc('"', html->out);
}

static enum tpa_html_kind unit_of(const json_t *row)
{
	const char *unit = json_string_value(json_object_get(row, "unit"));

	return unit && strcmp(unit, "bytes") == 0 ? TPA_HTML_BYTES : TPA_HTML_COUNT;
}

static void figure_cell(const struct tpa_html *html, const struct tpa_html_column *column, const json_t *row)
{
	const json_t *value = json_object_get(row, column->key);
	enum tpa_html_kind kind = column->kind == TPA_HTML_UNIT ? unit_of(row) : column->kind;

	fputs("<td", html->out);
	tpa_html_put_value(html, column->key, value ? value : json_null());
	fputc('>', html->out);
	tpa_html_text(html, tpa_html_figure(html, kind, value).text);
	put_interval(html, column, row);
	put_note(html, column, row);
	fputs("</td>", html->out);
}

/* A cell derived from the row: sortable, but not in the JSON. */
static void derived_cell(const struct tpa_html *html, double value, const char *text)
{
	fprintf(html->out, "<td data-v=\"%.6g\">", value);
	tpa_html_text(html, text);
	fputs("</td>", html->out);
}

static void flops_cell(const struct tpa_html *html, const json_t *row)
{
	double flop = json_number_value(json_object_get(row, "flop"));
	double ns = json_number_value(json_object_get(row, "total_ns"));
	double rate = flop > 0 && ns > 0 ? flop / ns : -1;
	const struct tpa_page page = { .utf8 = true };
	bool least = json_integer_value(json_object_get(row, "flop_uncounted_calls")) > 0;

	derived_cell(html, rate, tpa_flop_least_text(&page, tpa_text_of(rate > 0 ? "%.3g" : "-", rate), least).text);
}

/* The path relative to the program's working directory. */
static const char *short_path(const char *file, const char *cwd)
{
	size_t length = cwd ? strlen(cwd) : 0;

	return length > 1 && strncmp(file, cwd, length) == 0 && file[length] == '/' ? file + length + 1 : file;
}

static void put_place(const struct tpa_html *html, const json_t *row, const char *cwd)
{
	const char *file = json_string_value(json_object_get(row, "file"));
	json_int_t line = json_integer_value(json_object_get(row, "line"));

	if (!file)
		tpa_html_element(html, "span", "dim", "%s", "(line not known)");
	else if (line)
		tpa_html_element(html, "code", NULL, "%s:%" JSON_INTEGER_FORMAT, short_path(file, cwd), line);
	else
		tpa_html_element(html, "code", NULL, "%s", short_path(file, cwd));
}

/* Writes a name; leaves out what is in brackets if it is long, but shows the full name on hover. */
static void put_name(const struct tpa_html *html, const char *name, const char *class)
{
	const struct tpa_page page = { .utf8 = true };
	char buffer[400];
	const char *shorter = tpa_short_name(&page, name, 80, buffer, sizeof(buffer));

	fprintf(html->out, "<code class=\"%s\"", class);
	if (strcmp(shorter, name) != 0)
		put_hint(html, name);
	fputc('>', html->out);
	tpa_html_text(html, shorter);
	fputs("</code>", html->out);
}

static const char *frame_name(const json_t *frame)
{
	const char *function = json_string_value(json_object_get(frame, "function"));
	const char *module = json_string_value(json_object_get(frame, "module"));

	return function ? function : module ? module : "?";
}

static void put_short_frame(const struct tpa_html *html, const json_t *frame, const char *class)
{
	const char *file = json_string_value(json_object_get(frame, "file"));
	json_int_t line = json_integer_value(json_object_get(frame, "line"));

	put_name(html, frame_name(frame), class);
	if (file && line)
		tpa_html_element(html, "small", NULL, "%s:%" JSON_INTEGER_FORMAT, tpa_file_name(file), line);
}

#define CALLERS 4

/* Frames at every program's start say nothing about this one. */
static bool starts_program(const json_t *frame)
{
	static const char *const names[] = {
		"__libc_start_call_main", "__libc_start_main_impl", "_start", "start_thread", "clone3", "__clone3"
	};
	const char *function = json_string_value(json_object_get(frame, "function"));

	for (size_t i = 0; function && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(function, names[i]) == 0)
			return true;
	return false;
}

/* The number of frames before those of the start. */
static size_t own_frames(const json_t *stack, size_t first)
{
	size_t count = json_array_size(stack);

	while (count > first + 1 && starts_program(json_array_get(stack, count - 1)))
		count--;
	return count;
}

/* Do both frames name only the same module? Then the second adds nothing. */
static bool says_the_same(const json_t *frame, const json_t *before)
{
	return !json_string_value(json_object_get(frame, "function")) &&
	       !json_string_value(json_object_get(before, "function")) &&
	       strcmp(frame_name(frame), frame_name(before)) == 0;
}

static void put_chain(const struct tpa_html *html, const json_t *stack, size_t first)
{
	size_t i, shown = 0, count = own_frames(stack, first);

	for (i = first; i < count && shown < CALLERS; i++) {
		const json_t *frame = json_array_get(stack, i);

		if (i > first && says_the_same(frame, json_array_get(stack, i - 1)))
			continue;
		if (shown++)
			fputs(" <i>\xe2\x86\x90</i> ", html->out);
		put_short_frame(html, frame, i == first ? "f" : "c");
	}
	if (i < count)
		tpa_html_element(html, "small", NULL, " \xe2\x86\x90 %zu more", count - i);
}

static void put_frames(const struct tpa_html *html, const json_t *stack, json_int_t own, const char *cwd)
{
	for (size_t i = 0; i < json_array_size(stack); i++) {
		const json_t *frame = json_array_get(stack, i);
		const char *module = json_string_value(json_object_get(frame, "module"));

		fprintf(html->out, "<li%s>", (json_int_t)i == own ? " class=\"own\"" : "");
		tpa_html_element(html, "code", "f", "%s", frame_name(frame));
		if (json_object_get(frame, "file") && json_string_value(json_object_get(frame, "file")))
			put_place(html, frame, cwd);
		else
			tpa_html_element(html, "span", "dim", "%s",
					 json_string_value(json_object_get(frame, "address"))
						 ? json_string_value(json_object_get(frame, "address"))
						 : "");
		if (module)
			tpa_html_element(html, "span", "dim", "%s", module);
		if (json_is_true(json_object_get(frame, "inlined")))
			tpa_html_element(html, "span", "dim", "%s", "inlined");
		fputs("</li>\n", html->out);
	}
}

/* A row's stack: the frame that it is attributed to with its callers; unfolds to all frames. */
static void put_stack(const struct tpa_html *html, const json_t *row, const char *cwd)
{
	const json_t *stack = json_object_get(row, "stack"), *own = json_object_get(row, "own");
	const char *op = json_string_value(json_object_get(row, "op"));
	const char *holder = json_string_value(json_object_get(row, "held_by"));
	size_t first = json_is_integer(own) && json_integer_value(own) >= 0 ? (size_t)json_integer_value(own) : 0;

	if (!json_array_size(stack)) {
		tpa_html_element(html, "span", "dim", "%s", "(stack not recorded)");
	} else {
		fputs("<details><summary>", html->out);
		put_chain(html, stack, first);
		fputs("</summary>\n<ol>\n", html->out);
		put_frames(html, stack, (json_int_t)first, cwd);
		fputs("</ol></details>", html->out);
	}
	if (op)
		tpa_html_element(html, "span", "tag", "in op %s", op);
	if (holder)
		tpa_html_element(html, "span", "tag", "held by %s", holder);
}

static void put_shapes(const struct tpa_html *html, const json_t *row)
{
	const json_t *shapes = json_object_get(row, "shapes");
	const char *name = json_string_value(json_object_get(row, "name"));
	static const struct tpa_html_table table = { .path = "shapes",
						     .described = tpa_shape_columns,
						     .keys = "shape:code calls total_ns flop:flops" };

	if (!json_array_size(shapes)) {
		put_name(html, name ? name : "?", "f");
		return;
	}
	fputs("<details><summary>", html->out);
	put_name(html, name ? name : "?", "f");
	tpa_html_element(html, "small", NULL, "%zu shape%s", json_array_size(shapes),
			 tpa_plural(json_array_size(shapes)));
	fputs("</summary>\n", html->out);
	tpa_html_table(html, &table, shapes);
	fputs("</details>", html->out);
}

static void put_names(const struct tpa_html *html, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(one, "name"));

		fputs("<div>", html->out);
		put_name(html, name ? name : "?", "c");
		tpa_html_element(html, "small", NULL, " %s",
				 tpa_html_figure(html, TPA_HTML_TIME, json_object_get(one, "self_ns")).text);
		fputs("</div>", html->out);
	}
}

static void put_branch(const struct tpa_html *html, const json_t *row, const char *name)
{
	for (json_int_t depth = json_integer_value(json_object_get(row, "depth")); depth > 0; depth--)
		fputs("<i class=\"in\"></i>", html->out);
	put_name(html, name ? name : "?", "f");
}

static void put_verdict(const struct tpa_html *html, const char *verdict)
{
	tpa_html_element(html, "span", verdict && strcmp(verdict, "leak") == 0 ? "verdict leak" : "verdict", "%s",
			 verdict ? verdict : "\xe2\x80\x93");
}

/* The text for an unknown value, as in other reports. */
static const char *unknown(const char *key)
{
	return strcmp(key, "function") == 0 ? "(no name)"
	       : strcmp(key, "op") == 0	    ? "(outside of every op)"
					    : "\xe2\x80\x93";
}

static void put_text(const struct tpa_html *html, const char *text, const struct tpa_html_column *column)
{
	if (!text)
		tpa_html_element(html, "span", "dim", "%s", unknown(column->key));
	else if (column->kind == TPA_HTML_CODE)
		put_name(html, text, "f");
	else
		tpa_html_element(html, "span", NULL, "%s", text);
}

static void text_cell(const struct tpa_html *html, const struct tpa_html_table *table,
		      const struct tpa_html_column *column, const json_t *row)
{
	const json_t *value = json_object_get(row, column->key);
	const char *text = json_string_value(value);

	fprintf(html->out, "<td class=\"%s\">", is_wide(column->kind) ? "t w" : "t");
	switch (column->kind) {
	case TPA_HTML_PLACE:
		put_place(html, row, table->cwd);
		break;
	case TPA_HTML_STACK:
		put_stack(html, row, table->cwd);
		break;
	case TPA_HTML_SHAPES:
		put_shapes(html, row);
		break;
	case TPA_HTML_NAMES:
		put_names(html, value);
		break;
	case TPA_HTML_VERDICT:
		put_verdict(html, text);
		break;
	case TPA_HTML_BRANCH:
		put_branch(html, row, text);
		break;
	default:
		put_text(html, text, column);
	}
	fputs("</td>", html->out);
}

static void put_cell(const struct tpa_html *html, const struct tpa_html_table *table,
		     const struct tpa_html_column *column, const json_t *row)
{
	json_int_t part = json_integer_value(json_object_get(row, column->key));

	if (is_text(column->kind))
		text_cell(html, table, column, row);
	else if (column->kind == TPA_HTML_FLOPS)
		flops_cell(html, row);
	else if (column->kind == TPA_HTML_PERCENT)
		derived_cell(html, (double)part, tpa_percent((uint64_t)part, (uint64_t)table->whole).text);
	else
		figure_cell(html, column, row);
}

static enum tpa_html_kind kind_of(enum tpa_unit unit)
{
	static const enum tpa_html_kind kinds[TPA_UNIT_OTHER + 1] = {
		[TPA_UNIT_TEXT] = TPA_HTML_TEXT,	[TPA_UNIT_NAME] = TPA_HTML_CODE,
		[TPA_UNIT_NUMBER] = TPA_HTML_NUMBER,	[TPA_UNIT_COUNT] = TPA_HTML_COUNT,
		[TPA_UNIT_BYTES] = TPA_HTML_BYTES,	[TPA_UNIT_NET_BYTES] = TPA_HTML_BYTES,
		[TPA_UNIT_NS] = TPA_HTML_TIME,		[TPA_UNIT_FLOP] = TPA_HTML_COUNT,
		[TPA_UNIT_RATE] = TPA_HTML_REAL,	[TPA_UNIT_FACTOR] = TPA_HTML_FACTOR,
		[TPA_UNIT_REAL] = TPA_HTML_REAL,	[TPA_UNIT_SHARE] = TPA_HTML_SHARE,
		[TPA_UNIT_INTERVAL_NS] = TPA_HTML_TIME,
	};

	return kinds[unit];
}

/* Kinds that differ from their column's unit, with their titles. */
static const struct special {
	const char *name;
	enum tpa_html_kind kind;
	const char *title, *hint;
} special[] = {
	{ "%", TPA_HTML_PERCENT, "%", NULL },
	{ "code", TPA_HTML_CODE, NULL, NULL },
	{ "flops", TPA_HTML_FLOPS, "GFLOP/s", NULL },
	{ "shapes", TPA_HTML_SHAPES, NULL, "unfold for its shapes" },
	{ "branch", TPA_HTML_BRANCH, NULL, NULL },
	{ "place", TPA_HTML_PLACE, NULL, NULL },
	{ "stack", TPA_HTML_STACK, NULL, "the frame that it is attributed to, and its callers; unfold for all" },
};

static void specialize(struct tpa_html_column *column, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		const struct special *is = &special[i];

		if (strncmp(is->name, name, length) != 0 || is->name[length])
			continue;
		column->kind = is->kind;
		column->title = is->title ? is->title : column->title;
		column->hint = is->hint ? is->hint : column->hint;
	}
}

static void read_keys(const struct tpa_html_table *table, struct tpa_html_column *columns)
{
	const char *keys = table->keys;
	const struct tpa_column *is;
	size_t count = 0;
	char mark;

	while (count + 1 < COLUMNS && (is = tpa_column_next(table->described, &keys, &mark))) {
		struct tpa_html_column *column = &columns[count++];
		size_t length = strcspn(keys, " ");

		*column = (struct tpa_html_column){ is->title, is->key, kind_of(is->unit), is->hint };
		if (is->unit == TPA_UNIT_INTERVAL_NS)
			column->title = "95% interval";
		if (*keys == ':')
			specialize(column, keys + 1, length - 1);
		keys += length;
	}
	columns[count].key = NULL;
}

static void put_head(const struct tpa_html *html, const struct tpa_html_table *table)
{
	fprintf(html->out, "<div class=\"wide\"><table%s data-path=\"%s\"><thead><tr>",
		table->ordered ? " class=\"ordered\"" : "", table->path);
	for (const struct tpa_html_column *column = table->columns; column->key; column++) {
		fprintf(html->out, "<th scope=\"col\"%s", is_text(column->kind) ? " class=\"t\"" : "");
		put_hint(html, column->hint);
		fputc('>', html->out);
		tpa_html_text(html, column->title);
		fputs("</th>", html->out);
	}
	fputs("</tr></thead>\n<tbody>\n", html->out);
}

static bool is_known(const json_t *rows, const char *key)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *value = json_object_get(json_array_get(rows, i), key);

		if (value && !json_is_null(value))
			return true;
	}
	return false;
}

/* The columns that some row has a value for; the caller frees them. */
static struct tpa_html_column *known_columns(const struct tpa_html_column *columns, const json_t *rows)
{
	struct tpa_html_column *known;
	size_t count = 0, all = 0;

	while (columns[all].key)
		all++;
	known = tpa_zalloc(all + 1, sizeof(*known));
	for (size_t i = 0; i < all; i++)
		if (is_known(rows, columns[i].key))
			known[count++] = columns[i];
	return known;
}

void tpa_html_table(const struct tpa_html *html, const struct tpa_html_table *described, const json_t *rows)
{
	struct tpa_html_column columns[COLUMNS];
	struct tpa_html_table whole = *described, *table = &whole;
	struct tpa_html_column *known = NULL;
	json_int_t count = (json_int_t)json_array_size(rows);

	if (!count)
		return;
	if (table->keys) {
		read_keys(table, columns);
		table->columns = columns;
	}
	if (table->known)
		table->columns = known = known_columns(table->columns, rows);
	put_head(html, table);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		fputs("<tr>", html->out);
		for (const struct tpa_html_column *column = table->columns; column->key; column++)
			put_cell(html, table, column, json_array_get(rows, i));
		fputs("</tr>\n", html->out);
	}
	free(known);
	fputs("</tbody></table></div>\n", html->out);
	if (table->total > count)
		tpa_html_element(html, "p", "rest", "and %s more (--top 0 shows all)",
				 tpa_count((uint64_t)(table->total - count)).text);
}

void tpa_html_facts(const struct tpa_html *html, const char *class, const struct tpa_html_fact *facts,
		    const json_t *json)
{
	fprintf(html->out, "<dl class=\"%s\">\n", class);
	for (; facts->title; facts++) {
		const json_t *value = tpa_html_at(json, facts->path);

		if (!value)
			continue;
		fputs("<div", html->out);
		put_hint(html, facts->hint);
		fputc('>', html->out);
		tpa_html_element(html, "dt", NULL, "%s", facts->title);
		fputs("<dd", html->out);
		if (!json_is_string(value))
			tpa_html_put_value(html, facts->path, value);
		fputc('>', html->out);
		tpa_html_text(html, json_is_string(value) ? json_string_value(value)
							  : tpa_html_figure(html, facts->kind, value).text);
		fputs("</dd></div>\n", html->out);
	}
	fputs("</dl>\n", html->out);
}
