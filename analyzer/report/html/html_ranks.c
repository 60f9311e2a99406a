/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html_ranks.h"

#include <inttypes.h>

#include "report/text/rank_listing.h"

#define CELLS_MOST 4000u /* of a map: further steps are put together */
#define LEFT 40
#define WIDTH 960
#define ROW 14
#define NAMES_MOST 64u /* ranks that have room for their names */

enum measure { BUSY, WAITING, MEMORY, MEASURES };

struct map {
	const struct tpa_html *html;
	const struct tpa_rank_view *view;
	enum measure measure;
	size_t per, columns; /* columns of struct tpa_rank_steps that are one here */
	double most;
};

/* Of a step, on average over those of the column; of memory the most. */
static double value_of(const struct map *map, size_t rank, size_t column)
{
	const struct tpa_rank_steps *steps = &map->view->steps;
	double sum = 0, count = 0, most = 0;

	for (size_t i = column * map->per; i < (column + 1) * map->per && i < steps->count; i++) {
		const struct tpa_rank_cell *cell = &steps->cells[rank * steps->count + i];

		sum += map->measure == WAITING ? cell->wait_ns : cell->ns - cell->wait_ns;
		count += (double)steps->list[i].steps;
		most = (double)cell->high_bytes > most ? (double)cell->high_bytes : most;
	}
	return map->measure == MEMORY ? most : sum / (count > 0 ? count : 1);
}

static struct tpa_text text_of(const struct map *map, double value)
{
	return map->measure == MEMORY ? tpa_bytes((uint64_t)value, map->html->exact) : tpa_time((uint64_t)value);
}

static struct tpa_text steps_of(const struct map *map, size_t column)
{
	const struct tpa_rank_steps *steps = &map->view->steps;
	size_t last = (column + 1) * map->per - 1;
	const struct tpa_rank_step *first = &steps->list[column * map->per],
				   *end = &steps->list[last < steps->count ? last : steps->count - 1];

	return tpa_range_text(first->first, end->first + end->steps - first->first);
}

/* From white to a colour: 0 to the largest value. */
static void put_cell(const struct map *map, size_t rank, size_t column)
{
	static const int colors[MEASURES][3] = {
		[BUSY] = { 31, 90, 166 }, [WAITING] = { 192, 57, 43 }, [MEMORY] = { 39, 120, 72 }
	};
	double value = value_of(map, rank, column), share = map->most > 0 ? value / map->most : 0;

	const int *color = colors[map->measure];
	double width = (double)(WIDTH - LEFT) / (double)map->columns;

	share = share < 1 ? share : 1;
	fprintf(map->html->out,
		"<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" fill=\"rgb(%d,%d,%d)\"><title>rank %" PRIu32
		", step %s: %s</title></rect>",
		LEFT + (double)column * width, rank * ROW, width, ROW - 1, 255 - (int)((255 - color[0]) * share),
		255 - (int)((255 - color[1]) * share), 255 - (int)((255 - color[2]) * share),
		map->view->ranks->list[rank].number, steps_of(map, column).text, text_of(map, value).text);
}

static void put_map(struct map *map, const char *title)
{
	const struct tpa_ranks *ranks = map->view->ranks;

	map->most = 0;
	for (size_t r = 0; r < ranks->count; r++)
		/* The first step has the start of the program, beside which all others would look alike. */
		for (size_t c = map->columns > 2; c < map->columns; c++) {
			double value = value_of(map, r, c);

			map->most = value > map->most ? value : map->most;
		}
	tpa_html_element(map->html, "h3", NULL, "%s: the darkest is %s", title, text_of(map, map->most).text);
	fprintf(map->html->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ranks\" role=\"img\" viewBox=\"0 0 %d %zu\" "
		"width=\"100%%\">",
		WIDTH, ranks->count * ROW);
	for (size_t r = 0; r < ranks->count; r++) {
		if (ranks->count <= NAMES_MOST)
			fprintf(map->html->out,
				"<text x=\"%d\" y=\"%zu\" font-size=\"10\" text-anchor=\"end\" "
				"fill=\"currentColor\">%" PRIu32 "</text>",
				LEFT - 4, r * ROW + 10, ranks->list[r].number);
		for (size_t c = 0; c < map->columns; c++)
			put_cell(map, r, c);
	}
	fprintf(map->html->out, "</svg>\n");
}

static void print_answer(const struct tpa_page *page, const void *context)
{
	tpa_ranks_answer_print(page, context);
}

void tpa_html_ranks(const struct tpa_html *html, const struct tpa_rank_view *view)
{
	static const char *const titles[MEASURES] = { [BUSY] = "Time of a step without waiting",
						      [WAITING] = "Waiting for other ranks, of a step",
						      [MEMORY] = "Most live bytes" };
	size_t count = view->steps.count, ranks = view->ranks->count;
	struct map map = { .html = html, .view = view };

	fprintf(html->out, "<section id=\"ranks\">\n");
	tpa_html_element(html, "h2", NULL, "%zu ranks", ranks);
	tpa_html_quote(html, NULL, print_answer, view);
	if (count) {
		map.per = (count * ranks + CELLS_MOST - 1) / CELLS_MOST;
		map.columns = (count + map.per - 1) / map.per;
		tpa_html_element(html, "p", NULL, "A row for each rank, a column for each step%s.",
				 map.per > 1 || view->steps.list[0].steps > 1 ? ", or for several" : "");
	} else {
		tpa_html_element(html, "p", NULL, "No steps are known: mark their ends with tprof_step().");
	}
	for (unsigned i = 0; count && i < MEASURES; i++) {
		map.measure = (enum measure)i;
		put_map(&map, titles[i]);
	}
	fprintf(html->out, "</section>\n");
}
