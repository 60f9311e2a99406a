/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/resident_listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/known_caches.h"
#include "report/rows/process_facts.h"

#define MATTERS (UINT64_C(4) << 20) /* outside of the heap: omit the section below this, */
#define MATTERS_PART 10		    /* and below one part in this many of RSS */
#define SMALL_PART 50		    /* merge files and modules below one part in this many of RSS */
#define DESCRIBED 500		    /* most owners whose stacks are examined */
#define LABEL 1200

struct row {
	char *label;
	uint64_t bytes;
	bool arenas;
};

struct rows {
	const struct tpa_listing *listing;
	size_t process;
	const struct tpa_makeup_moment *moment;
	struct row *list;
	size_t count, room;
};

static const struct tpa_process *process_of(const struct rows *rows)
{
	return &rows->listing->run->processes[rows->process];
}

static struct row *add(struct rows *rows, const char *label, uint64_t bytes)
{
	for (size_t i = 0; i < rows->count; i++) {
		if (strcmp(rows->list[i].label, label) != 0)
			continue;
		rows->list[i].bytes += bytes;
		return &rows->list[i];
	}
	tpa_grow(&rows->list, &rows->room, rows->count + 1, sizeof(*rows->list));
	rows->list[rows->count] = (struct row){ .label = tpa_strdup(label), .bytes = bytes };
	return &rows->list[rows->count++];
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* With --by function or line: the one that the memory is attributed to. Otherwise also as many callers as fit. */
static void describe(const struct rows *rows, uint32_t node, char *text, size_t size)
{
	const struct tpa_trace *trace = process_of(rows)->trace;
	struct tpa_stack stack = { NULL };
	const struct tpa_line *own;
	char name[400], place[700];

	if (rows->listing->by != TPA_BY_FUNCTION && rows->listing->by != TPA_BY_LINE) {
		tpa_listing_describe(rows->listing, rows->process, node, rows->listing->page->width - 34, text, size);
		return;
	}
	tpa_stack_read(&stack, trace, rows->listing->symbols[rows->process], node);
	own = tpa_stack_own(&stack);
	if (!own)
		snprintf(text, size, "(stack not recorded)");
	else if (rows->listing->by == TPA_BY_LINE)
		snprintf(text, size, "%s (%s)", tpa_line_place(own, trace->cwd, place, sizeof(place)),
			 tpa_line_name(own, name, sizeof(name)));
	else
		snprintf(text, size, "%s (%s)", tpa_line_name(own, name, sizeof(name)), own->symbol->module);
	tpa_stack_free(&stack);
}

static void add_mapped(struct rows *rows, const struct tpa_makeup_owner *owner, bool shared)
{
	enum tpa_holder holder = TPA_HOLDER_NONE;
	char text[LABEL], label[LABEL + 40];

	if (owner->node == TPROF_NODE_NONE) {
		add(rows, "mapped before the fork, by its parent", owner->bytes);
		return;
	}
	if (!shared)
		holder =
			tpa_mapping_holder(process_of(rows), rows->listing->symbols[rows->process], owner->node, false);
	if (holder != TPA_HOLDER_NONE) {
		add(rows, tpa_holder_name(holder), owner->bytes)->arenas = holder == TPA_HOLDER_PYTHON_ARENAS;
		return;
	}
	describe(rows, owner->node, text, sizeof(text));
	snprintf(label, sizeof(label), "%s %s", shared ? "shared memory, mapped by" : "mapped by", text);
	add(rows, label, owner->bytes);
}

/* Adds the path of a file or module. */
static void add_path(struct rows *rows, const struct tpa_makeup_owner *owner, const char *what, const char *rest)
{
	const char *path = tpa_makeup_path(process_of(rows)->trace, owner);
	char label[LABEL];

	if (!path || owner->bytes < rows->moment->sample.rss / SMALL_PART) {
		add(rows, rest, owner->bytes);
		return;
	}
	snprintf(label, sizeof(label), "%s %.1000s", what, base(path));
	add(rows, label, owner->bytes);
}

/* The search for holes at that moment, or NULL if there was none. */
static const struct tpa_hole_sum *holes_at(const struct rows *rows)
{
	const struct tpa_hole_series *holes = &process_of(rows)->holes;
	uint64_t time = rows->moment->sample.time;

	if (holes->peak.time == time)
		return &holes->peak.sum;
	for (size_t i = 0; i < holes->count; i++)
		if (holes->list[i].time == time)
			return &holes->list[i].sum;
	return NULL;
}

static void add_heap(struct rows *rows, uint64_t bytes)
{
	const struct tpa_hole_sum *holes = holes_at(rows);
	bool exact = rows->listing->page->exact;
	char label[LABEL];

	if (holes && holes->holes + holes->ends <= bytes) {
		add(rows, "the heap: free memory between live blocks (fragmentation)", holes->holes);
		add(rows, "the heap: free memory at its end", holes->ends);
		bytes -= holes->holes + holes->ends;
		snprintf(label, sizeof(label), "the heap: %s in live blocks, rounded up, with headers",
			 tpa_bytes(rows->moment->sample.live, exact).text);
	} else {
		snprintf(label, sizeof(label), "the heap: %s in live blocks, and what the allocator keeps",
			 tpa_bytes(rows->moment->sample.live, exact).text);
	}
	add(rows, tpa_heap_unseen(process_of(rows)) ? "the heap: live blocks, and what the allocator keeps" : label,
	    bytes);
}

static void add_owner(struct rows *rows, const struct tpa_makeup_owner *owner, bool described)
{
	switch (owner->part) {
	case TPA_MAKEUP_HEAP:
		add_heap(rows, owner->bytes);
		break;
	case TPA_MAKEUP_MAPPED:
		if (described)
			add_mapped(rows, owner, false);
		else
			add(rows, "mapped by other stacks", owner->bytes);
		break;
	case TPA_MAKEUP_SHARED:
		if (owner->node != TPROF_NODE_NONE && described)
			add_mapped(rows, owner, true);
		else
			add_path(rows, owner, "shared memory:", "other shared memory");
		break;
	case TPA_MAKEUP_UNSEEN:
		add(rows, "mapped by system calls of the program's own, which tprof does not see", owner->bytes);
		break;
	case TPA_MAKEUP_STATIC:
		add_path(rows, owner, "static data (.data, .bss) of", "static data of other modules");
		break;
	case TPA_MAKEUP_FILES:
		add_path(rows, owner, "file pages of", "pages of other files and libraries");
		break;
	case TPA_MAKEUP_STACKS:
		add(rows, "stacks of threads", owner->bytes);
		break;
	case TPA_MAKEUP_COLLECTOR:
		add(rows, "tprof's own: its tables, its data, the trace", owner->bytes);
		break;
	default:
		add(rows, "the kernel's, and what is not known", owner->bytes);
		break;
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return TPA_DOWN(x->bytes, y->bytes) ?: strcmp(x->label, y->label);
}

static void fill(struct rows *rows)
{
	for (size_t i = 0; i < rows->moment->count; i++)
		add_owner(rows, &rows->moment->owners[i], i < DESCRIBED);
	if (rows->count)
		qsort(rows->list, rows->count, sizeof(*rows->list), by_bytes);
}

static void print_row(const struct rows *rows, struct tpa_table *table, const char *label, uint64_t bytes)
{
	tpa_cell(table, TPA_STYLE_NUMBER, tpa_bytes(bytes, rows->listing->page->exact));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_percent(bytes, rows->moment->sample.rss));
	tpa_table_add(table, TPA_STYLE_PLAIN, label);
}

static void print_table(const struct rows *rows)
{
	struct tpa_table *table = tpa_table_new(">bytes|>%|*what");
	uint64_t top = rows->listing->top, left = 0;
	size_t shown = top && top < rows->count ? (size_t)top : rows->count;
	char label[100];

	for (size_t i = 0; i < rows->count; i++) {
		if (i < shown)
			print_row(rows, table, rows->list[i].label, rows->list[i].bytes);
		else
			left += rows->list[i].bytes;
	}
	if (shown < rows->count) {
		snprintf(label, sizeof(label), "in %zu more rows (--top 0 shows all)", rows->count - shown);
		print_row(rows, table, label, left);
	}
	tpa_table_end(table, rows->listing->page);
}

/* Prints a hint if Python's own allocator hides the contents of its arenas. */
static void print_hint(const struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].arenas && rows->list[i].bytes >= rows->moment->sample.rss / MATTERS_PART)
			tpa_print(rows->listing->page, TPA_STYLE_DIM,
				  "  %s: record with TPROF_PYTHON=alloc to see the objects in them, line by line\n",
				  rows->list[i].label);
}

/* Is much of RSS neither live blocks nor files? */
static bool matters(const struct tpa_makeup_sample *sample)
{
	uint64_t outside = sample->parts[TPA_MAKEUP_MAPPED] + sample->parts[TPA_MAKEUP_UNSEEN] +
			   sample->parts[TPA_MAKEUP_STATIC] + sample->parts[TPA_MAKEUP_SHARED] +
			   sample->parts[TPA_MAKEUP_STACKS];
	uint64_t heap = sample->parts[TPA_MAKEUP_HEAP];

	outside += heap > sample->live ? heap - sample->live : 0;
	return outside >= MATTERS && outside >= sample->rss / MATTERS_PART;
}

void tpa_makeup_print(const struct tpa_listing *listing, size_t process, const struct tpa_makeup_moment *moment,
		      const char *title)
{
	struct rows rows = { .listing = listing, .process = process, .moment = moment };
	uint64_t start = process_of(&rows)->start_ns, peak = process_of(&rows)->heap.rss_peak;

	if (!moment->sample.rss || !matters(&moment->sample))
		return;
	tpa_headline(listing->page, "%s: %s, %s after the start", title,
		     tpa_bytes(moment->sample.rss, listing->page->exact).text,
		     tpa_time(moment->sample.time - start).text);
	if (moment == &process_of(&rows)->makeup.peak && moment->sample.rss < peak / 20 * 19)
		fprintf(listing->page->out, "RSS was %s for a moment, between two readings of what it is made of\n",
			tpa_bytes(peak, listing->page->exact).text);
	fill(&rows);
	print_table(&rows);
	print_hint(&rows);
	for (size_t i = 0; i < rows.count; i++)
		free(rows.list[i].label);
	free(rows.list);
}

bool tpa_makeup_copied(const struct tpa_page *page, const struct tpa_process *process, char *text, size_t size)
{
	const struct tpa_makeup *makeup = &process->makeup;
	const struct tpa_makeup_sample *end = &makeup->end.sample;

	if (end->copied < UINT64_C(1) << 20)
		return false;
	snprintf(text, size,
		 "%s of its parent's pages were copied as they were written to (copy-on-write), of %s at the fork; "
		 "now %s is its own, %s shared",
		 tpa_bytes(end->copied, page->exact).text, tpa_bytes(makeup->inherited, page->exact).text,
		 tpa_bytes(end->private, page->exact).text,
		 tpa_bytes(end->rss > end->private ? end->rss - end->private : 0, page->exact).text);
	return true;
}
