/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/cover_listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/rows/source_text.h"
#include "report/text/bar.h"
#include "report/text/name.h"

#define PATH_MOST 24  /* characters; longer paths are reduced to the file's name */
#define PLACE_MOST 40 /* columns */
#define PLACE_LEAST 16
#define PLACE_SIZE 200
#define FUNCTION_MOST 32
#define TEXT_LEAST 20
#define NAME_MOST 40	/* columns of a part's name */
#define TIME_COLUMNS 22 /* columns that the rest of the table takes, about */
#define BYTE_COLUMNS 34

struct listing {
	const struct tpa_page *page;
	const struct tpa_run *run;
	const struct tpa_cover *cover;
	struct tpa_table *table;
	bool cpu;   /* shows CPU time instead of bytes */
	bool mixed; /* some rows are the user's lines */
};

const char *tpa_cover_place(const struct tpa_trace *trace, const struct tpa_cover_row *row, char *text, size_t size)
{
	struct tpa_location location;
	struct tpa_line line = row->line;
	char place[1100];

	if (!line.location) {
		snprintf(text, size, "(%s)", row->about == TPA_ABOUT_REGISTRY ? "cache" : tpa_about_name(row->about));
		return text;
	}
	location = *line.location;
	line.location = &location;
	if (row->function)
		location.line = 0;
	if (row->about == TPA_ABOUT_OTHER && !location.python) /* source files of libraries tell the user nothing */
		location.file = NULL;
	tpa_line_place(&line, trace->cwd, place, sizeof(place));
	snprintf(text, size, "%s", strlen(place) <= PATH_MOST ? place : tpa_file_name(place));
	return text;
}

static void append(char *text, size_t size, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s", more);
}

/* Describes the row without its place and parts. */
static void describe(const struct tpa_page *page, const struct tpa_trace *trace, const struct tpa_cover_row *row,
		     char *text, size_t size)
{
	char name[400], shorter[400], source[1000];

	if (!row->line.location) {
		snprintf(text, size, "%s", row->group);
		return;
	}
	if (!row->function && tpa_source_text(trace, &row->line, source, sizeof(source))) {
		const char *function = row->line.location->function;

		if (function && strcmp(function, "<module>") != 0)
			snprintf(text, size, "%s: %s",
				 tpa_short_name(page, function, FUNCTION_MOST, shorter, sizeof(shorter)), source);
		else
			snprintf(text, size, "%s", source);
		return;
	}
	text[0] = '\0';
	if (row->function && row->line.location->python) {
		bool module = row->line.location->function && strcmp(row->line.location->function, "<module>") == 0;

		snprintf(text, size, "%s%s", row->rest ? "other lines" : "several lines", module ? "" : " of ");
		if (module)
			return;
	}
	append(text, size,
	       tpa_short_name(page, tpa_line_name(&row->line, name, sizeof(name)), page->width / 2, shorter,
			      sizeof(shorter)));
}

void tpa_cover_row_text(const struct tpa_page *page, const struct tpa_trace *trace, const struct tpa_cover_row *row,
			char *text, size_t size)
{
	char place[1100], what[2000];

	tpa_cover_place(trace, row, place, sizeof(place));
	describe(page, trace, row, what, sizeof(what));
	snprintf(text, size, "%s %s", place, what);
}

/* "; 3.06 MiB in Adam.step (adam.py:218)". Omits the number if one part is nearly all. */
static void describe_parts(const struct tpa_page *page, const struct tpa_cover_row *row, bool cpu, char *text,
			   size_t size)
{
	char name[400], part[600];

	for (size_t i = 0; i < row->part_count; i++) {
		const struct tpa_cover_part *of = &row->parts[i];

		tpa_short_name(page, of->name, NAME_MOST, name, sizeof(name));
		if (20 * of->amount >= 19 * row->amount)
			snprintf(part, sizeof(part), "%sin %s", i ? ", " : "", name);
		else
			snprintf(part, sizeof(part), "%s%s in %s", i ? ", " : "",
				 cpu ? tpa_time(of->amount).text : tpa_bytes(of->amount, page->exact).text, name);
		append(text, size, part);
	}
}

/* Adds the row's text and parts in this many columns. Shortens long text first: the parts say more than its end. */
static void add_text(const struct listing *listing, const struct tpa_trace *trace, const struct tpa_cover_row *row,
		     int columns)
{
	const struct tpa_page *page = listing->page;
	char text[2000], shorter[2000], parts[1300] = "";
	int left = columns, least;

	describe(page, trace, row, text, sizeof(text));
	if (row->about == TPA_ABOUT_PROGRAM || (row->about == TPA_ABOUT_OTHER && !listing->mixed))
		describe_parts(page, row, listing->cpu, parts, sizeof(parts));
	else if (!listing->cpu && row->about != TPA_ABOUT_OTHER)
		append(parts, sizeof(parts), "kept until exit by design");
	else if (!listing->cpu)
		append(parts, sizeof(parts), "no line of yours calls it");
	if (parts[0])
		left -= tpa_text_columns(page, parts) + 4;
	least = columns / 2 > TEXT_LEAST ? columns / 2 : TEXT_LEAST;
	tpa_shorten_end(page, text, left > least ? left : least, shorter, sizeof(shorter));
	if (parts[0]) {
		append(shorter, sizeof(shorter), shorter[0] ? "  [" : "[");
		append(shorter, sizeof(shorter), parts);
		append(shorter, sizeof(shorter), "]");
	}
	tpa_table_add(listing->table, row->about == TPA_ABOUT_PROGRAM ? TPA_STYLE_PLAIN : TPA_STYLE_DIM, shorter);
}

static void add_row(const struct listing *listing, const struct tpa_cover_row *row, const char *place, int columns)
{
	const struct tpa_process *process = &listing->run->processes[row->process];
	const struct tpa_page *page = listing->page;
	const struct tpa_numbers numbers = { page, process->unseen };

	tpa_table_add(listing->table, TPA_STYLE_NUMBER,
		      listing->cpu ? tpa_time(row->amount).text
				   : tpa_about(&numbers, tpa_bytes(row->amount, page->exact)).text);
	tpa_cell(listing->table, TPA_STYLE_PLAIN, tpa_percent(row->amount, listing->cover->amount));
	if (page->bars)
		tpa_cell(listing->table, TPA_STYLE_DIM,
			 tpa_bar(page, (double)row->amount / (double)listing->cover->amount));
	if (!listing->cpu && listing->cover->blocks)
		tpa_cell(listing->table, TPA_STYLE_PLAIN, tpa_about(&numbers, tpa_count(row->blocks)));
	tpa_table_add(listing->table, TPA_STYLE_FUNCTION, place);
	add_text(listing, process->trace, row, columns);
}

void tpa_cover_print(const struct tpa_page *page, const struct tpa_run *run, const struct tpa_cover *cover, bool cpu)
{
	struct listing listing = { .page = page, .run = run, .cover = cover, .cpu = cpu };
	int most = page->width * 3 / 10, widest = 5, others = cpu ? TIME_COLUMNS : BYTE_COLUMNS;
	char titles[60];
	char(*places)[PLACE_SIZE];

	if (!cover->count)
		return;
	most = most > PLACE_MOST ? PLACE_MOST : most < PLACE_LEAST ? PLACE_LEAST : most;
	places = tpa_zalloc(cover->count, sizeof(*places));
	for (size_t i = 0; i < cover->count; i++) {
		const struct tpa_cover_row *row = &cover->rows[i];
		char place[1100];
		int width;

		tpa_cover_place(run->processes[row->process].trace, row, place, sizeof(place));
		tpa_shorten_front(page, place, most, places[i], sizeof(places[i]));
		width = tpa_text_columns(page, places[i]);
		widest = width > widest ? width : widest;
		listing.mixed |= row->about == TPA_ABOUT_PROGRAM;
	}
	snprintf(titles, sizeof(titles), "%s|>%%|%s%swhere|*what", cpu ? ">CPU time" : ">bytes", page->bars ? "|" : "",
		 !cpu && cover->blocks ? ">blocks|" : "");
	listing.table = tpa_table_new(titles);
	others += page->bars ? TPA_BAR_COLUMNS + 2 : 0;
	for (size_t i = 0; i < cover->count; i++)
		add_row(&listing, &cover->rows[i], places[i], page->width - widest - others);
	tpa_table_end(listing.table, page);
	free(places);
}
