/* SPDX-License-Identifier: Apache-2.0 */
/*
 * massif's format, for ms_print and massif-visualizer: a snapshot for each point of the timeline; with the tree of stacks for the peak
 * and for the end.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "export/caller_tree.h"
#include "export/formats.h"
#include "export/sites.h"
#include "export/text.h"

#define MS_NS 1000000u
#define THRESHOLD 100u /* callers with less than 1 in so many of the bytes are summed, as massif does */

struct massif {
	FILE *out;
	struct tpa_caller_tree peak, end;
	uint64_t snapshots;
};

static bool add_site(void *to, const struct tpa_export_site *site)
{
	struct massif *massif = to;

	if (site->sums.peak_bytes)
		tpa_caller_tree_add(&massif->peak, site->stack, site->sums.peak_bytes, tpa_export_line_text);
	if (site->sums.live_bytes)
		tpa_caller_tree_add(&massif->end, site->stack, site->sums.live_bytes, tpa_export_line_text);
	return true;
}

/* ---- trees ---- */

static void indent(FILE *out, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		fputc(' ', out);
}

/* Callers that are printed one by one, and the bytes of the others. */
static uint32_t split(const struct tpa_caller_tree *tree, const struct tpa_caller *node, uint64_t *rest)
{
	uint32_t large = 0;

	*rest = 0;
	for (uint32_t i = 0; i < node->count; i++) {
		uint64_t bytes = tree->list[tree->order[node->first + i]].bytes;

		if (bytes >= (tree->list[0].bytes + THRESHOLD - 1) / THRESHOLD)
			large++;
		else
			*rest += bytes;
	}
	return large;
}

/* A stack is at most as deep as TPROF_DEPTH allows. */
static void print_node(FILE *out, const struct tpa_caller_tree *tree, const struct tpa_caller *node, size_t depth)
{
	uint64_t rest;
	uint32_t large = split(tree, node, &rest), small = node->count - large;

	indent(out, depth);
	fprintf(out, "n%" PRIu32 ": %" PRIu64 " ", large + (small > 0), node->bytes);
	tpa_export_valid_text(out,
			      depth ? node->text : "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.");
	fputc('\n', out);
	for (uint32_t i = 0; i < large; i++)
		print_node(out, tree, &tree->list[tree->order[node->first + i]], depth + 1);
	if (!small)
		return;
	indent(out, depth + 1);
	fprintf(out, "n0: %" PRIu64 " in %" PRIu32 " place%s below massif's threshold (1.00%%)\n", rest, small,
		small == 1 ? "," : "s, all");
}

/* ---- snapshots ---- */

static void print_snapshot(struct massif *massif, uint64_t ns, uint64_t bytes, const char *kind,
			   const struct tpa_caller_tree *tree)
{
	fprintf(massif->out,
		"#-----------\nsnapshot=%" PRIu64 "\n#-----------\ntime=%" PRIu64 "\nmem_heap_B=%" PRIu64
		"\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
		massif->snapshots++, ns / MS_NS, bytes, tree ? kind : "empty");
	if (tree)
		print_node(massif->out, tree, &tree->list[0], 0);
}

static void print_snapshots(struct massif *massif, const struct tpa_process *process)
{
	const struct tpa_heap *heap = &process->heap;
	bool peak = !heap->peak_bytes;

	for (size_t i = 0; i < process->point_count; i++) {
		const struct tpa_point *point = &process->timeline[i];
		bool last = i + 1 == process->point_count;

		if (!peak && point->time_ns >= heap->peak_time_ns) {
			peak = true;
			print_snapshot(massif, heap->peak_time_ns, heap->peak_bytes, "peak", &massif->peak);
			if (point->time_ns == heap->peak_time_ns && point->live_bytes == heap->peak_bytes && !last)
				continue;
		}
		print_snapshot(massif, point->time_ns, point->live_bytes, "detailed",
			       last && massif->end.list[0].bytes ? &massif->end : NULL);
	}
	if (!peak)
		print_snapshot(massif, heap->peak_time_ns, heap->peak_bytes, "peak", &massif->peak);
}

bool tpa_export_massif(struct tpa_export *export)
{
	struct massif massif = { .out = export->out };
	char *command;

	if (!tpa_export_one_process(export))
		return false;
	tpa_caller_tree_init(&massif.peak);
	tpa_caller_tree_init(&massif.end);
	tpa_export_sites(export, add_site, &massif);
	tpa_caller_tree_sort(&massif.peak);
	tpa_caller_tree_sort(&massif.end);
	fputs("desc: tprof-analyze export --format massif\n", massif.out);
	command = tpa_export_command(export->run->processes[0].trace);
	fprintf(massif.out, "cmd: %s\ntime_unit: ms\n", command);
	free(command);
	print_snapshots(&massif, &export->run->processes[0]);
	tpa_caller_tree_free(&massif.peak);
	tpa_caller_tree_free(&massif.end);
	return !ferror(massif.out);
}
