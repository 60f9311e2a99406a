/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/flame.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/text/text.h"
#include "report/text/xml.h"

#define WIDTH 1200
#define MARGIN 10
#define ROW 17
#define HEAD 56
#define FOOT 40
#define SMALLEST 0.1 /* pixels */
#define LETTER 7.0   /* pixels: average width of a character at 12 px */

/* The script has its own file beside this one, included byte by byte. */
__asm__(".section .rodata\n"
	".global tpa_flame_script\n"
	"tpa_flame_script:\n"
	".incbin \"analyzer/report/export/flame.js\"\n"
	".byte 0\n"
	".previous\n");
extern const char tpa_flame_script[];

/* Colours by module, the same in every picture: the module gives the hue, the function a slight lightness. */
static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261u;

	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h ^ h >> 15;
}

static void put_color(const struct tpa_tree_node *node, FILE *out)
{
	uint32_t hue = hash(node->module) % 360, light = 62 + hash(node->function) % 14;

	if (!node->module || !*node->module)
		fputs("#c8c8c8", out);
	else
		fprintf(out, "hsl(%" PRIu32 ",58%%,%" PRIu32 "%%)", hue, light);
}

struct flame {
	const struct tpa_tree *tree;
	const char *unit;
	bool time;
	FILE *out;
	uint32_t rows;
	double per_byte; /* pixels */
};

static struct tpa_text amount(const struct flame *flame, uint64_t bytes)
{
	return flame->time ? tpa_time(bytes) : tpa_bytes(bytes, false);
}

static void put_title(const struct flame *flame, const struct tpa_tree_node *node)
{
	const struct tpa_tree *tree = flame->tree;
	FILE *out = flame->out;
	uint64_t whole = tree->nodes[0].bytes;

	fputs("<title>", out);
	tpa_xml_text(node->function ? node->function : "(no name)", out);
	if (node->module && *node->module) {
		fputs(" \xe2\x80\x94 ", out);
		tpa_xml_text(node->module, out);
	}
	if (node->place) {
		fputs(", ", out);
		tpa_xml_text(node->place, out);
	}
	fprintf(out, "\n%s", amount(flame, node->bytes).text);
	fputs(" (", out);
	tpa_xml_text(tpa_percent(node->bytes, whole).text, out);
	fprintf(out, ") in %s %s", tpa_count(node->calls).text, flame->unit);
	if (node->self_bytes && node->self_bytes != node->bytes)
		fprintf(out, "; itself %s", amount(flame, node->self_bytes).text);
	fputs("</title>", out);
}

static void put_node(const struct flame *flame, const struct tpa_tree_node *node, double x, uint32_t depth)
{
	double width = (double)node->bytes * flame->per_byte;
	int y = HEAD + (int)(flame->rows - 1 - depth) * ROW;
	const char *name = node->function ? node->function : node->module && *node->module ? node->module : "?";
	size_t room = width > 3 * LETTER ? (size_t)((width - 4) / LETTER) : 0;

	/* a, b: the frame's start and width in bytes, from which the script zooms */
	fprintf(flame->out,
		"<g class=\"f\" tabindex=\"-1\" data-d=\"%" PRIu32 "\" data-a=\"%.0f\" data-b=\"%" PRIu64 "\">", depth,
		(x - MARGIN) / flame->per_byte, node->bytes);
	put_title(flame, node);
	fprintf(flame->out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"", x, y, width, ROW - 1);
	put_color(node, flame->out);
	fprintf(flame->out, "\"/><text x=\"%.2f\" y=\"%d\">", x + 3, y + 12);
	if (room >= strlen(name))
		tpa_xml_start(name, room, flame->out);
	else if (room > 2) {
		tpa_xml_start(name, room - 2, flame->out);
		fputs("..", flame->out);
	}
	fputs("</text></g>\n", flame->out);
}

/* Depth first without recursion: stacks may be as deep as memory allows. */
static void put_nodes(const struct flame *flame)
{
	const struct tpa_tree_node *nodes = flame->tree->nodes;
	double x = MARGIN;
	uint32_t node = 0, depth = 0;

	for (;;) {
		bool visible = (double)nodes[node].bytes * flame->per_byte >= SMALLEST;

		if (visible)
			put_node(flame, &nodes[node], x, depth);
		if (visible && nodes[node].first_child) {
			node = nodes[node].first_child;
			depth++;
			continue;
		}
		x += (double)nodes[node].bytes * flame->per_byte;
		while (node && !nodes[node].next_sibling) {
			node = nodes[node].parent;
			depth--;
			/* the parent's self bytes, and children too narrow to draw, follow its children */
			x += (double)nodes[node].self_bytes * flame->per_byte;
		}
		if (!node)
			return;
		node = nodes[node].next_sibling;
	}
}

/* The deepest row that is drawn. */
static uint32_t drawn_rows(const struct tpa_tree *tree, double per_byte)
{
	uint32_t *depths = tpa_zalloc(tree->count, sizeof(*depths));
	uint32_t rows = 1;

	for (size_t i = 1; i < tree->count; i++) {
		depths[i] = depths[tree->nodes[i].parent] + 1;
		if ((double)tree->nodes[i].bytes * per_byte >= SMALLEST && depths[i] + 1 > rows)
			rows = depths[i] + 1;
	}
	free(depths);
	return rows;
}

/* Writes the script's parameters. */
static void put_size(const struct flame *flame, int height)
{
	fprintf(flame->out, "viewBox=\"0 0 %d %d\" data-width=\"%d\" data-margin=\"%d\" data-bytes=\"%" PRIu64 "\"",
		WIDTH, height, WIDTH, MARGIN, flame->tree->nodes[0].bytes);
}

static void put_head(const struct flame *flame, const char *title, int height)
{
	FILE *out = flame->out;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" role=\"img\" "
		"aria-labelledby=\"title desc\" ",
		WIDTH, height);
	put_size(flame, height);
	fputs(">\n<title id=\"title\">", out);
	tpa_xml_text(title, out);
	fprintf(out,
		"</title>\n<desc id=\"desc\">Each box is a function; its width is the %s put down to it and to what "
		"it ",
		flame->time ? "CPU time" : "memory");
	fputs("called; callers stand below. Click or Enter zooms, Escape goes back, / searches, arrows move.</desc>\n"
	      "<style>\n"
	      "svg{font-family:DejaVu Sans Mono,Menlo,Consolas,monospace;background:#fff}\n"
	      "text{font-size:12px;fill:#111;pointer-events:none}\n"
	      ".f{cursor:pointer;outline:none}\n"
	      ".f:hover rect,.f:focus rect{stroke:#000;stroke-width:1}\n"
	      ".hit rect{fill:#e3008c}\n.hit text{fill:#fff}\n.below rect{opacity:.45}\n"
	      ".b{cursor:pointer;pointer-events:auto;fill:#0645ad}\n"
	      "</style>\n",
	      out);
	fprintf(out, "<rect x=\"0\" y=\"0\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
	fprintf(out, "<text x=\"%d\" y=\"24\" text-anchor=\"middle\" style=\"font-size:16px\">", WIDTH / 2);
	tpa_xml_text(title, out);
	fputs("</text>\n", out);
}

static void put_controls(const struct flame *flame, int height)
{
	fprintf(flame->out,
		"<text class=\"b reset\" role=\"button\" x=\"%d\" y=\"44\" visibility=\"hidden\">reset zoom</text>\n"
		"<text class=\"b search\" role=\"button\" x=\"%d\" y=\"44\" text-anchor=\"end\">search (/)</text>\n",
		MARGIN, WIDTH - MARGIN);
	fprintf(flame->out, "<text class=\"details\" x=\"%d\" y=\"%d\"> </text>\n", MARGIN, height - 16);
	fprintf(flame->out, "<text class=\"matched\" x=\"%d\" y=\"%d\" text-anchor=\"end\"> </text>\n", WIDTH - MARGIN,
		height - 16);
}

static void put(struct flame *flame, const char *title)
{
	uint64_t whole = flame->tree->nodes[0].bytes;
	int height;

	flame->per_byte = (double)(WIDTH - 2 * MARGIN) / (double)(whole ? whole : 1);
	flame->rows = drawn_rows(flame->tree, flame->per_byte);
	height = HEAD + (int)flame->rows * ROW + FOOT;
	put_head(flame, title, height);
	if (whole)
		put_nodes(flame);
	else
		fprintf(flame->out, "<text x=\"%d\" y=\"%d\">nothing to show: no %s of this kind</text>\n", MARGIN,
			HEAD + 12, flame->time ? "CPU sample" : "memory");
	put_controls(flame, height);
	fprintf(flame->out, "<script>%s</script>\n", tpa_flame_script);
	fputs("</svg>\n", flame->out);
}

void tpa_flame_write(const struct tpa_tree *tree, const char *title, const char *unit, bool time, FILE *out)
{
	struct flame flame = { .tree = tree, .unit = unit, .time = time, .out = out };

	put(&flame, title);
}
