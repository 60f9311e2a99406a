/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dhat's format, for dh_view.html: memory by stack, with the life of its blocks. Sums are those of the replay; the lives of blocks, and
 * the most that a stack had, come from a walk over the trace, which keeps the live blocks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/pairs.h"
#include "export/formats.h"
#include "export/sites.h"
#include "export/text.h"
#include "export/walk.h"
#include "model/heap/live.h"

#define MANY 10000u /* dh_view can't show many more stacks: then those with a smaller share of everything are summed */
#define SHORT_NS 1000000u /* dh_view calls blocks short-lived that live so long on average, as tprof does */

/* Of a stack: a node, whatever ops it was in. */
struct stack {
	bool known, written;
	struct tpa_sums sums;
	uint64_t lived_ns, live_bytes, live_blocks, most_bytes, most_blocks;
};

struct dhat {
	struct tpa_export *export;
	struct stack *stacks;
	size_t count, room;
	struct tpa_pairs nodes; /* number of a node's stack, from 1 on */
	struct tpa_live live;	/* site: the node + 1, time: nanoseconds */
	uint64_t end_ns;
	struct tpa_arena *arena;
	const char **frames; /* texts; their numbers begin with 1 */
	size_t frame_count, frame_room;
	struct tpa_pairs numbers;
	bool began;
	size_t all;	      /* stacks */
	struct stack sum;     /* of all */
	struct stack *summed; /* small ones, by the frame of their own line; their frames are all that is shown */
	size_t summed_count, summed_room;
};

static struct stack *stack_of(struct dhat *dhat, uint32_t node)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&dhat->nodes, node, 0, &found);

	if (!found) {
		*TPA_APPEND(dhat->stacks, dhat->count, dhat->room) = (struct stack){ 0 };
		*number = (uint32_t)dhat->count;
	}
	return &dhat->stacks[*number - 1];
}

/* ---- the lives of blocks ---- */

static void leave(struct dhat *dhat, struct tpa_block *block, uint64_t ns)
{
	struct stack *stack = stack_of(dhat, block->site - 1);

	stack->lived_ns += ns > block->time ? ns - block->time : 0;
	stack->live_bytes -= block->size;
	stack->live_blocks--;
}

static void see_block(void *to, struct tpa_walk *walk, const struct tpa_walk_block *told)
{
	struct dhat *dhat = to;
	struct tpa_block *block = tpa_live_place(&dhat->live, told->address);
	struct stack *stack;

	(void)walk;
	if (block->site)
		leave(dhat, block, told->ns);
	if (told->freed && block->site)
		tpa_live_remove(&dhat->live, block);
	if (told->freed || told->node >= UINT32_MAX - 1)
		return;
	dhat->live.count += !block->site;
	*block = (struct tpa_block){ .address = told->address,
				     .size = tpa_block_size(told->bytes) & TPA_BLOCK_MOST,
				     .time = told->ns,
				     .site = told->node + 1 };
	stack = stack_of(dhat, told->node);
	stack->live_bytes += block->size;
	stack->live_blocks++;
	if (stack->live_bytes > stack->most_bytes) {
		stack->most_bytes = stack->live_bytes;
		stack->most_blocks = stack->live_blocks;
	}
}

static void see_end(void *to, struct tpa_walk *walk, uint64_t ns)
{
	struct dhat *dhat = to;

	(void)walk;
	dhat->end_ns = ns;
	for (size_t i = 0; i < (size_t)1 << (64 - dhat->live.shift); i++)
		if (dhat->live.blocks[i].site)
			leave(dhat, &dhat->live.blocks[i], ns);
}

/* ---- writing ---- */

static bool add_site(void *to, const struct tpa_export_site *site)
{
	struct dhat *dhat = to;
	struct stack *stack = stack_of(dhat, site->site->node);

	dhat->all += !stack->known;
	stack->known = true;
	tpa_sums_add(&stack->sums, &site->sums);
	tpa_sums_add(&dhat->sum.sums, &site->sums);
	return true;
}

static uint32_t frame_of(struct dhat *dhat, const struct tpa_line *line)
{
	char buffer[1200];
	const char *text;
	uint32_t *number;
	bool found;

	tpa_export_line_text(line, buffer, sizeof(buffer));
	text = tpa_arena_intern(dhat->arena, buffer);
	number = tpa_pairs_at(&dhat->numbers, (uintptr_t)text, 0, &found);
	if (!found) {
		*TPA_APPEND(dhat->frames, dhat->frame_count, dhat->frame_room) = text;
		*number = (uint32_t)dhat->frame_count;
	}
	return *number;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void put_begin(struct dhat *dhat, const struct stack *stack)
{
	const struct tpa_sums *sums = &stack->sums;

	fprintf(dhat->export->out,
		"%s{\"tb\":%" PRIu64 ",\"tbk\":%" PRIu64 ",\"tl\":%" PRIu64 ",\"mb\":%" PRIu64 ",\"mbk\":%" PRIu64
		",\"gb\":%" PRIu64 ",\"gbk\":%" PRIu64 ",\"eb\":%" PRIu64 ",\"ebk\":%" PRIu64 ",\"fs\":[",
		dhat->began ? "\n ," : "\n ", sums->bytes, sums->allocations, stack->lived_ns,
		most(stack->most_bytes, most(sums->peak_bytes, sums->live_bytes)),
		most(stack->most_blocks, most(sums->peak_blocks, sums->live_blocks)), sums->peak_bytes,
		sums->peak_blocks, sums->live_bytes, sums->live_blocks);
	dhat->began = true;
}

static bool is_small(const struct dhat *dhat, const struct tpa_sums *sums)
{
	const struct tpa_sums *all = &dhat->sum.sums;

	return dhat->all > MANY && sums->bytes < all->bytes / MANY && sums->allocations < all->allocations / MANY &&
	       sums->peak_bytes <= all->peak_bytes / MANY && sums->live_bytes <= all->live_bytes / MANY;
}

static void add_small(struct dhat *dhat, const struct stack *stack, uint32_t frame)
{
	struct stack *to;

	tpa_extend(&dhat->summed, &dhat->summed_count, &dhat->summed_room, (size_t)frame + 1, sizeof(*dhat->summed));
	to = &dhat->summed[frame];
	to->known = true;
	to->lived_ns += stack->lived_ns;
	tpa_sums_add(&to->sums, &stack->sums);
}

static bool put_site(void *to, const struct tpa_export_site *site)
{
	struct dhat *dhat = to;
	struct stack *stack = stack_of(dhat, site->site->node);
	const struct tpa_stack *lines = site->stack;
	FILE *out = dhat->export->out;

	if (stack->written)
		return true;
	stack->written = true;
	if (is_small(dhat, &stack->sums) && tpa_stack_own(lines)) {
		add_small(dhat, stack, frame_of(dhat, tpa_stack_own(lines)));
		return true;
	}
	put_begin(dhat, stack);
	for (size_t i = lines->first; i < lines->last; i++)
		fprintf(out, "%s%" PRIu32, i > lines->first ? "," : "", frame_of(dhat, &lines->lines[i]));
	fputs("]}", out);
	return !ferror(out);
}

static void put_summed(struct dhat *dhat)
{
	for (size_t i = 0; i < dhat->summed_count; i++) {
		if (!dhat->summed[i].known)
			continue;
		put_begin(dhat, &dhat->summed[i]);
		fprintf(dhat->export->out, "%zu]}", i);
	}
}

static void put_command(FILE *out, const struct tpa_trace *trace)
{
	char *all = tpa_export_command(trace);

	tpa_export_json_text(out, all);
	free(all);
}

static void put_all(struct dhat *dhat)
{
	const struct tpa_process *process = &dhat->export->run->processes[0];
	FILE *out = dhat->export->out;

	fputs("{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\",\"bklt\":true,\"bkacc\":false\n"
	      ",\"tu\":\"ns\",\"Mtu\":\"ms\",\"cmd\":",
	      out);
	put_command(out, process->trace);
	fprintf(out, ",\"tuth\":%u,\"pid\":%" PRIu32 ",\"te\":%" PRIu64 ",\"tg\":%" PRIu64 "\n,\"pps\":[", SHORT_NS,
		process->trace->header->pid, dhat->end_ns, process->heap.peak_time_ns);
	tpa_export_sites(dhat->export, put_site, dhat);
	put_summed(dhat);
	fputs("\n ]\n,\"ftbl\":[\"[root]\"", out);
	for (size_t i = 0; i < dhat->frame_count; i++) {
		fputs("\n ,", out);
		tpa_export_json_text(out, dhat->frames[i]);
	}
	fputs("\n ]\n}\n", out);
}

bool tpa_export_dhat(struct tpa_export *export)
{
	static const struct tpa_visitor visitor = { .block = see_block, .process_end = see_end };
	struct dhat dhat = { .export = export };

	if (!tpa_export_one_process(export))
		return false;
	dhat.arena = tpa_arena_new();
	tpa_live_init(&dhat.live);
	tpa_walk(export, &visitor, &dhat);
	tpa_export_sites(export, add_site, &dhat);
	put_all(&dhat);
	tpa_live_free(&dhat.live);
	tpa_pairs_free(&dhat.numbers);
	tpa_pairs_free(&dhat.nodes);
	tpa_arena_free(dhat.arena);
	free((void *)dhat.frames);
	free(dhat.stacks);
	free(dhat.summed);
	return !ferror(export->out);
}
