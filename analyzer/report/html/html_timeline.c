/* SPDX-License-Identifier: Apache-2.0 */
/* Charts over time, drawn in the page's colours. */
#include "report/html/html_timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

#define WIDTH 1080.0
#define LEFT 74.0
#define RIGHT 14.0
#define TOP 16.0
#define BOTTOM 26.0
#define MEMORY_HEIGHT 300.0
#define STEPS_HEIGHT 170.0
#define GRID 4 /* parts of the vertical axis */
#define MOST_BARS 500

struct chart {
	const struct tpa_html *html;
	FILE *out;
	double height, x0, x1, y1; /* values at the left and right end and at the top; the bottom is 0 */
};

static double x_of(const struct chart *chart, double value)
{
	double part = chart->x1 > chart->x0 ? (value - chart->x0) / (chart->x1 - chart->x0) : 0;

	return LEFT + fmin(1, fmax(0, part)) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct chart *chart, double value)
{
	return chart->height - BOTTOM - value / chart->y1 * (chart->height - TOP - BOTTOM);
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* The next number that divides into four round parts: powers of two for bytes, powers of ten for times. */
static double round_up(double most, bool bytes)
{
	static const double parts[] = { 1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10 };
	double unit = bytes ? 1 : pow(10, floor(log10(most)));

	if (bytes) {
		while (7 * unit < most)
			unit *= 2;
		return unit * fmax(4, ceil(most / unit));
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] * unit >= most)
			return parts[i] * unit;
	return most;
}

static void begin(const struct chart *chart, const char *class, const char *label)
{
	fprintf(chart->out,
		"<figure><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart %s\" viewBox=\"0 0 %.0f %.0f\" "
		"role=\"img\" aria-label=\"%s\">\n",
		class, WIDTH, chart->height, label);
}

static void draw_text(const struct chart *chart, double x, double y, const char *anchor, const char *text)
{
	fprintf(chart->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	tpa_html_text(chart->html, text);
	fputs("</text>\n", chart->out);
}

static void draw_line(const struct chart *chart, const char *class, double x1, double y1, double x2, double y2)
{
	fprintf(chart->out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2,
		y2);
}

static void draw_grid(const struct chart *chart, bool bytes)
{
	for (int i = 0; i <= GRID; i++) {
		double value = chart->y1 * i / GRID, y = y_of(chart, value);

		draw_line(chart, i ? "grid" : "axis", LEFT, y, WIDTH - RIGHT, y);
		draw_text(chart, LEFT - 8, y + 4, "end",
			  bytes ? tpa_bytes((uint64_t)value, false).text : tpa_time((uint64_t)value).text);
	}
}

static void draw_times(const struct chart *chart)
{
	for (int i = 0; i <= GRID; i++) {
		double time = chart->x0 + (chart->x1 - chart->x0) * i / GRID;

		draw_text(chart, x_of(chart, time), chart->height - 8,
			  i == 0      ? "start"
			  : i == GRID ? "end"
				      : "middle",
			  tpa_time((uint64_t)time).text);
	}
}

/* Memory keeps its value until the next point. */
static void draw_series(const struct chart *chart, const json_t *points, const char *key, const char *class, bool area)
{
	double y = y_of(chart, 0), last = y, right = x_of(chart, chart->x1);
	bool begun = false;

	fprintf(chart->out, "<path class=\"%s\" d=\"", class);
	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *point = json_array_get(points, i);
		double value = number(point, key), x = x_of(chart, number(point, "time_ns"));

		if (!area && !(value > 0))
			continue; /* not sampled yet */
		y = y_of(chart, value);
		if (!begun)
			fprintf(chart->out, "M%.1f %.1f", x, area ? last : y);
		fprintf(chart->out, area ? "H%.1fV%.1f" : "L%.1f %.1f", x, y);
		begun = true;
	}
	if (begun)
		fprintf(chart->out, "H%.1f", right);
	if (begun && area)
		fprintf(chart->out, "V%.1fZ", y_of(chart, 0));
	fputs("\"/>\n", chart->out);
}

static void draw_peak(const struct chart *chart, const struct tpa_html_timeline *timeline)
{
	double x = x_of(chart, (double)timeline->peak_ns), y = y_of(chart, (double)timeline->peak_bytes);
	bool left = x > WIDTH / 2;
	char words[100];

	snprintf(words, sizeof(words), "peak %s", tpa_bytes((uint64_t)timeline->peak_bytes, chart->html->exact).text);
	fprintf(chart->out, "<circle class=\"peak\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y);
	draw_text(chart, left ? x - 8 : x + 8, fmax(y - 7, 12), left ? "end" : "start", words);
}

/* Draws a column over each point that shows its numbers on hover. */
static void draw_values(const struct chart *chart, const json_t *points, bool live)
{
	size_t count = json_array_size(points);

	for (size_t i = 0; i < count; i++) {
		const json_t *point = json_array_get(points, i);
		double x = x_of(chart, number(point, "time_ns"));
		double next = i + 1 < count ? x_of(chart, number(json_array_get(points, i + 1), "time_ns"))
					    : x_of(chart, chart->x1);

		fprintf(chart->out, "<rect class=\"v\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\"><title>%s",
			x, TOP, fmax(next - x, 1), chart->height - TOP - BOTTOM,
			tpa_time((uint64_t)number(point, "time_ns")).text);
		if (live)
			fprintf(chart->out, ", live %s in %s blocks",
				tpa_bytes((uint64_t)number(point, "live_bytes"), chart->html->exact).text,
				tpa_count((uint64_t)number(point, "live_blocks")).text);
		if (number(point, "rss_bytes") > 0)
			fprintf(chart->out, ", RSS %s",
				tpa_bytes((uint64_t)number(point, "rss_bytes"), chart->html->exact).text);
		if (number(point, "mapped_bytes") > 0)
			fprintf(chart->out, ", mmap %s",
				tpa_bytes((uint64_t)number(point, "mapped_bytes"), chart->html->exact).text);
		fputs("</title></rect>\n", chart->out);
	}
}

static double most_of(const json_t *list, const char *key)
{
	double most = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		most = fmax(most, number(json_array_get(list, i), key));
	return most;
}

static void put_key(const struct chart *chart, bool live, bool rss)
{
	fputs("</svg>\n<figcaption>", chart->out);
	if (live)
		fputs("<span class=\"key live\">live bytes (requested)</span>", chart->out);
	if (rss)
		fputs("<span class=\"key rss\">RSS</span>", chart->out);
	fputs("<output></output></figcaption></figure>\n", chart->out);
}

void tpa_html_timeline(const struct tpa_html *html, const struct tpa_html_timeline *timeline)
{
	double rss = most_of(timeline->points, "rss_bytes"), live = most_of(timeline->points, "live_bytes");
	double most = fmax(fmax(live, rss), (double)timeline->peak_bytes);
	struct chart chart = {
		html, html->out, MEMORY_HEIGHT, 0, (double)timeline->to_ns, round_up(fmax(most, 1), true)
	};

	if (json_array_size(timeline->points) < 2)
		return;
	begin(&chart, "memory", "Memory over time");
	draw_grid(&chart, true);
	draw_times(&chart);
	draw_series(&chart, timeline->points, "live_bytes", "live", true);
	draw_series(&chart, timeline->points, "rss_bytes", "rss", false);
	if (timeline->peak_bytes)
		draw_peak(&chart, timeline);
	draw_values(&chart, timeline->points, live > 0);
	put_key(&chart, live > 0, rss > 0);
}

/* A time that nearly all steps stay below: the first step includes the program's start and would dwarf the others. */
static double most_steps(const json_t *steps)
{
	size_t count = json_array_size(steps);
	double *times = tpa_zalloc(count, sizeof(*times)), most;

	for (size_t i = 0; i < count; i++)
		times[i] = number(json_array_get(steps, i), "time_ns");
	TPA_SORT_NUMBERS(times, count);
	most = fmin(1.6 * times[(count - 1) * 95 / 100], times[count - 1]);
	free(times);
	return fmax(most, 1);
}

/* Draws the slowest of this many steps from `first` on as a bar; marks a bar that is cut at the chart's top. */
static void draw_bar(const struct chart *chart, const json_t *steps, size_t first, size_t many)
{
	size_t count = json_array_size(steps), last = first + many < count ? first + many : count, slowest = first;
	double x = x_of(chart, (double)first), width = x_of(chart, (double)last) - x, y;
	const json_t *step;

	for (size_t i = first; i < last; i++)
		if (number(json_array_get(steps, i), "time_ns") > number(json_array_get(steps, slowest), "time_ns"))
			slowest = i;
	step = json_array_get(steps, slowest);
	y = y_of(chart, fmin(number(step, "time_ns"), chart->y1));
	fprintf(chart->out,
		"<rect class=\"step%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"><title>step %.0f%s: %s, "
		"high-water mark %s</title></rect>\n",
		number(step, "time_ns") > chart->y1 ? " cut" : "", x, y, width > 4 ? width - 1 : width,
		fmax(y_of(chart, 0) - y, 0.5), number(step, "step"), many > 1 ? ", the slowest here" : "",
		tpa_time((uint64_t)number(step, "time_ns")).text,
		tpa_bytes((uint64_t)number(step, "high_bytes"), chart->html->exact).text);
}

void tpa_html_step_times(const struct tpa_html *html, const json_t *steps, json_int_t median_ns)
{
	size_t count = json_array_size(steps), many = (count + MOST_BARS - 1) / MOST_BARS;
	struct chart chart = { html, html->out, STEPS_HEIGHT, 0, (double)count, 1 };

	if (count < 2)
		return;
	chart.y1 = round_up(most_steps(steps), false);
	begin(&chart, "times", "Time of each step");
	draw_grid(&chart, false);
	for (size_t i = 0; i < count; i += many)
		draw_bar(&chart, steps, i, many);
	if (median_ns)
		draw_line(&chart, "median", LEFT, y_of(&chart, (double)median_ns), WIDTH - RIGHT,
			  y_of(&chart, (double)median_ns));
	draw_text(&chart, LEFT, chart.height - 8, "start", "step 1");
	draw_text(&chart, WIDTH - RIGHT, chart.height - 8, "end", "last step");
	fputs("</svg>\n<figcaption>", html->out);
	if (many > 1)
		tpa_html_element(html, "span", "key step", "the slowest of each %zu steps", many);
	else
		tpa_html_element(html, "span", "key step", "time of a step");
	if (most_of(steps, "time_ns") > chart.y1)
		tpa_html_element(html, "span", "key cut", "longer than the picture is high");
	fputs("<span class=\"key median\">median</span><output></output></figcaption></figure>\n", html->out);
}
