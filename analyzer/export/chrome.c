/* SPDX-License-Identifier: Apache-2.0 */
/* Ops, steps, marks and memory over time as Chrome's trace events, written while the trace is read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/chrome_events.h"
#include "export/formats.h"
#include "export/rank_flows.h"
#include "export/walk.h"

struct chrome {
	struct tpa_chrome out;
	char **names, **categories; /* by op, quoted; NULL: not needed so far */
	struct tpa_rank_flows *flows;
	bool truncated;
};

static const char *quoted(char **cache, uint32_t op, const char *text)
{
	if (!cache[op])
		cache[op] = tpa_export_quote(text, strlen(text));
	return cache[op];
}

static const char *name_of(struct chrome *chrome, const struct tpa_walk *walk, uint32_t op)
{
	return quoted(chrome->names, op, tpa_walk_op_name(walk, op));
}

static void process(void *to, struct tpa_walk *walk)
{
	struct chrome *chrome = to;
	char name[300];

	chrome->names = tpa_zalloc(walk->replay.ops.calls.count, sizeof(*chrome->names));
	chrome->categories = tpa_zalloc(walk->replay.ops.calls.count, sizeof(*chrome->categories));
	tpa_chrome_process(&chrome->out, walk->trace->header->pid,
			   tpa_export_process_name(walk->trace, name, sizeof(name)));
	tpa_chrome_thread(&chrome->out, TPA_CHROME_STEPS, "steps");
}

static void put_flow(void *to, const struct tpa_rank_flow *flow)
{
	struct chrome *chrome = to;

	tpa_chrome_flow(&chrome->out, flow);
}

static void process_end(void *to, struct tpa_walk *walk, uint64_t ns)
{
	struct chrome *chrome = to;

	(void)ns;
	tpa_rank_flows_tell(chrome->flows, walk, put_flow, chrome);
	for (uint32_t i = 0; i < walk->replay.ops.calls.count; i++) {
		free(chrome->names[i]);
		free(chrome->categories[i]);
	}
	free(chrome->names);
	free(chrome->categories);
	chrome->truncated = walk->truncated;
}

static void thread(void *to, struct tpa_walk *walk, uint32_t number, uint32_t tid, const char *name)
{
	struct chrome *chrome = to;
	char text[96];

	(void)walk;
	tpa_chrome_thread(&chrome->out, number, tpa_export_thread_name(name, tid, text, sizeof(text)));
}

static void op_end(void *to, struct tpa_walk *walk, const struct tpa_walk_op *op)
{
	struct chrome *chrome = to;
	struct tpa_chrome_detail detail = {
		.name = name_of(chrome, walk, op->op),
		.category = quoted(chrome->categories, op->op, tpa_walk_op_category(walk, op->op)),
		.shape = op->shape,
		.flop = op->flop,
		.bytes = op->bytes,
		.level = op->level,
		.unwound = op->unwound,
		.open = op->open,
	};

	tpa_chrome_op(&chrome->out, op->thread, op->begin_ns, op->end_ns, &detail);
}

/* The times of the single calls are unknown: they are drawn together where the first of them began. */
static void folded(void *to, struct tpa_walk *walk, const struct tpa_walk_folded *calls)
{
	struct chrome *chrome = to;
	const struct tpa_chrome_folded told = {
		.name = name_of(chrome, walk, calls->op),
		.shape = calls->shape,
		.calls = calls->calls,
		.timed = calls->timed,
		.total_ns = calls->total_ns,
		.min_ns = calls->min_ns,
		.max_ns = calls->max_ns,
	};

	tpa_chrome_folded(&chrome->out, calls->thread, calls->ns, &told);
}

static void step(void *to, struct tpa_walk *walk, const struct tpa_walk_step *ended)
{
	struct chrome *chrome = to;

	(void)walk;
	tpa_chrome_step(&chrome->out, ended->begin_ns, ended->end_ns, ended->number, ended->items);
}

static void mark(void *to, struct tpa_walk *walk, uint64_t ns, uint32_t number, const char *text, size_t length)
{
	struct chrome *chrome = to;

	(void)walk;
	tpa_chrome_mark(&chrome->out, number, ns, text, length);
}

static void live(void *to, struct tpa_walk *walk, uint64_t ns, uint64_t bytes)
{
	struct chrome *chrome = to;

	(void)walk;
	tpa_chrome_counter(&chrome->out, ns, "live bytes", bytes);
}

static void rss(void *to, struct tpa_walk *walk, uint64_t ns, uint64_t bytes)
{
	struct chrome *chrome = to;

	(void)walk;
	tpa_chrome_counter(&chrome->out, ns, "RSS", bytes);
}

bool tpa_export_chrome(struct tpa_export *export)
{
	static const struct tpa_visitor visitor = { .process = process,
						    .process_end = process_end,
						    .thread = thread,
						    .op = op_end,
						    .folded = folded,
						    .step = step,
						    .mark = mark,
						    .live = live,
						    .rss = rss };
	struct chrome chrome = { .flows = tpa_rank_flows_new(export) };
	bool good;

	tpa_chrome_begin(&chrome.out, export->out);
	good = tpa_walk(export, &visitor, &chrome);
	tpa_chrome_end(&chrome.out, chrome.truncated);
	tpa_rank_flows_free(chrome.flows);
	return good;
}
