/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/roof_svg.h"

#include <math.h>
#include <string.h>

#include "report/text/xml.h"

#define WIDTH 960.0
#define HEIGHT 620.0
#define LEFT 80.0
#define RIGHT 200.0
#define TOP 50.0
#define BOTTOM 60.0
#define COMPUTE "#d66" /* discs of compute-bound ops */
#define MEMORY "#69c"

#define LETTER 6.2 /* upper bound of the width per letter at font size 11 */
#define ROW 12.0   /* line distance of labels */
#define NAMED 12   /* ops with visible names; others show theirs on hover */
#define LABELS (NAMED + (int)TPA_LEVELS + (int)TPA_PRECISIONS)

/* A label's position: its left end, and its line. */
struct label {
	double x, y, width;
};

/* Both axes are logarithmic; the ends are powers of ten. */
struct frame {
	double x0, x1, y0, y1;
	FILE *out;
	struct label labels[LABELS];
	int label_count;
};

static double x_of(const struct frame *frame, double intensity)
{
	return LEFT + (log10(intensity) - frame->x0) / (frame->x1 - frame->x0) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct frame *frame, double gflops)
{
	return HEIGHT - BOTTOM - (log10(gflops) - frame->y0) / (frame->y1 - frame->y0) * (HEIGHT - TOP - BOTTOM);
}

static void line(const struct frame *frame, double x1, double y1, double x2, double y2, const char *style)
{
	fprintf(frame->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style);
}

static void text(const struct frame *frame, double x, double y, const char *style, const char *words)
{
	fprintf(frame->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
	tpa_xml_text(words, frame->out);
	fputs("</text>\n", frame->out);
}

static bool covers(const struct label *a, const struct label *b)
{
	return fabs(a->y - b->y) < ROW && a->x < b->x + b->width && b->x < a->x + a->width;
}

/* Places a label below existing ones. Its outline keeps it readable across lines. */
static void label(struct frame *frame, double x, double y, const char *fill, const char *words)
{
	struct label wanted = { x, y, LETTER * (double)strlen(words) };
	char style[128];

	for (int i = 0; i < frame->label_count; i++)
		if (covers(&wanted, &frame->labels[i])) {
			wanted.y = frame->labels[i].y + ROW;
			i = -1; /* restarts the search; each move goes down, so it ends */
		}
	if (frame->label_count < LABELS)
		frame->labels[frame->label_count++] = wanted;
	snprintf(style, sizeof(style),
		 "fill=\"%s\" font-size=\"11\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\"", fill);
	text(frame, wanted.x, wanted.y, style, words);
}

static void draw_grid(const struct frame *frame)
{
	char number[32];

	for (int power = (int)frame->x0; power <= (int)frame->x1; power++) {
		double x = x_of(frame, pow(10, power));

		line(frame, x, TOP, x, HEIGHT - BOTTOM, "stroke=\"#ddd\"");
		snprintf(number, sizeof(number), "%g", pow(10, power));
		text(frame, x, HEIGHT - BOTTOM + 18, "text-anchor=\"middle\"", number);
	}
	for (int power = (int)frame->y0; power <= (int)frame->y1; power++) {
		double y = y_of(frame, pow(10, power));

		line(frame, LEFT, y, WIDTH - RIGHT, y, "stroke=\"#ddd\"");
		snprintf(number, sizeof(number), "%g", pow(10, power));
		text(frame, LEFT - 8, y + 4, "text-anchor=\"end\"", number);
	}
	text(frame, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, "text-anchor=\"middle\"", "FLOP a byte");
	text(frame, 14, TOP - 12, "", "GFLOP/s");
}

/*
 * Draws a roof from each memory level up to the peak, and the peaks of both precisions and of the narrow ones in the
 * bit set `used`.
 */
static void draw_roofs(struct frame *frame, const struct tpa_machine *machine, uint32_t cores, unsigned used)
{
	double right = pow(10, frame->x1), peak = tpa_roof_peak(machine, cores, TPA_SINGLE);
	char words[96];

	for (int level = 0; level < TPA_LEVELS; level++) {
		double speed = tpa_roof_bandwidth(machine, cores, (enum tpa_level)level), from, ridge;

		if (!(speed > 0))
			continue;
		from = fmax(pow(10, frame->x0), pow(10, frame->y0) / speed);
		ridge = fmin(peak / speed, right);
		line(frame, x_of(frame, from), y_of(frame, from * speed), x_of(frame, ridge),
		     y_of(frame, ridge * speed), "stroke=\"#26a\" stroke-width=\"1.5\"");
		snprintf(words, sizeof(words), "%s, %.3g GB/s", tpa_level_names[level], speed);
		label(frame, x_of(frame, from) + 6, y_of(frame, from * speed) - 6, "#26a", words);
	}
	for (int precision = 0; precision < TPA_PRECISIONS; precision++) {
		double y, narrow = tpa_roof_peak(machine, cores, (enum tpa_precision)precision);

		if (precision > TPA_DOUBLE && !(used >> precision & 1))
			continue;
		y = y_of(frame, narrow);
		line(frame, LEFT, y, WIDTH - RIGHT, y, "stroke=\"#b33\" stroke-width=\"1.5\"");
		snprintf(words, sizeof(words), "%s, %.3g GFLOP/s", tpa_precision_names[precision], narrow);
		label(frame, WIDTH - RIGHT + 6, y + 4, "#b33", words);
	}
}

static void draw_place(struct frame *frame, const struct tpa_roof_place *place, double total_ns, bool named)
{
	double x = x_of(frame, place->intensity), y = y_of(frame, place->gflops);
	double radius = 3 + 17 * sqrt(place->time_ns / total_ns);
	char numbers[200], bound[64];

	snprintf(bound, sizeof(bound), tpa_roof_explains(place) ? "%s-bound (%s)" : "no roof explains it (%s, %s)",
		 tpa_bound_names[place->bound], tpa_level_names[place->level]);
	fprintf(frame->out,
		"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" fill-opacity=\"0.6\" stroke=\"#333\"><title>",
		x, y, radius, place->bound == TPA_BOUND_COMPUTE ? COMPUTE : MEMORY);
	tpa_xml_text(place->op->name, frame->out);
	snprintf(numbers, sizeof(numbers), ": %s\n%.3g GFLOP/s, %.3g GB/s\n%.1f%% of its roof\n%.1f%% of the time",
		 bound, place->gflops, place->gbytes, 100 * place->fraction, 100 * place->time_ns / total_ns);
	fputs(numbers, frame->out);
	fputs("</title></circle>\n", frame->out);
	if (named)
		label(frame, x + radius + 3, y + 4, "#000", place->op->name);
}

static void draw_key(const struct frame *frame)
{
	const char *const colours[] = { COMPUTE, MEMORY }, *const words[] = { "compute-bound", "memory-bound" };
	double x = WIDTH - RIGHT + 18, y = HEIGHT - BOTTOM - 2 * 18;

	for (int i = 0; i < 2; i++, y += 18) {
		fprintf(frame->out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\" fill=\"%s\" fill-opacity=\"0.6\" stroke=\"#333\"/>\n",
			x, y, colours[i]);
		text(frame, x + 12, y + 4, "font-size=\"11\"", words[i]);
	}
	text(frame, x - 6, y + 4, "font-size=\"11\"", "area: share of the time");
}

/* Whole powers of ten around everything drawn. */
static struct frame frame_around(const struct tpa_machine *machine, uint32_t cores, const struct tpa_roof_place *places,
				 size_t count, FILE *out)
{
	double peak = tpa_roof_peak(machine, cores, TPA_SINGLE);
	double low_x = 0.1, high_x = peak / tpa_roof_bandwidth(machine, cores, TPA_LEVEL_MEMORY) * 4, low_y = 0.1;

	for (size_t i = 0; i < count; i++) {
		if (!(places[i].intensity > 0) || !(places[i].gflops > 0))
			continue;
		low_x = fmin(low_x, places[i].intensity);
		high_x = fmax(high_x, places[i].intensity);
		low_y = fmin(low_y, places[i].gflops);
		peak = fmax(peak, places[i].gflops);
	}
	return (struct frame){ floor(log10(low_x)),
			       ceil(log10(high_x)),
			       floor(log10(low_y)),
			       ceil(log10(peak * 1.05)),
			       out,
			       { { 0, 0, 0 } },
			       0 };
}

void tpa_roof_svg_embed(const struct tpa_machine *machine, uint32_t cores, const struct tpa_roof_place *places,
			size_t count, const char *title, FILE *out)
{
	struct frame frame = frame_around(machine, cores, places, count, out);
	unsigned used = 0;
	double total = 0;

	for (size_t i = 0; i < count; i++) {
		total += places[i].time_ns;
		used |= 1u << places[i].precision;
	}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"roof\" viewBox=\"0 0 %g %g\" "
		"width=\"%g\" height=\"%g\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	text(&frame, LEFT, 24, "font-size=\"15\" font-weight=\"bold\"", title);
	draw_grid(&frame);
	draw_roofs(&frame, machine, cores, used);
	for (size_t i = 0; i < count; i++)
		if (places[i].intensity > 0 && places[i].gflops > 0)
			draw_place(&frame, &places[i], total, i < NAMED);
	draw_key(&frame);
	fputs("</svg>\n", out);
}

void tpa_roof_svg(const struct tpa_machine *machine, uint32_t cores, const struct tpa_roof_place *places, size_t count,
		  const char *title, FILE *out)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	tpa_roof_svg_embed(machine, cores, places, count, title, out);
}
