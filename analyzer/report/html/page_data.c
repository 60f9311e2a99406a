/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/page_data.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/html/page_ops.h"
#include "report/html/page_write.h"

/* ---- texts, each written once ---- */

struct texts {
	struct tpa_arena *arena;
	struct tpa_pairs known; /* (interned text, 0) to number */
	const char **list;
	size_t count, room;
};

static uint32_t text_number(struct texts *texts, const char *text)
{
	const char *key = tpa_arena_intern(texts->arena, text ? text : "");
	bool found;
	uint32_t *at = tpa_pairs_at(&texts->known, (uintptr_t)key, 0, &found);

	if (!found) {
		*at = (uint32_t)texts->count;
		*TPA_APPEND(texts->list, texts->count, texts->room) = key;
	}
	return *at;
}

static void put_texts(const struct texts *texts, FILE *out)
{
	fputs("\"texts\":[", out);
	for (size_t i = 0; i < texts->count; i++) {
		if (i)
			putc(',', out);
		tpa_page_text(texts->list[i], out);
	}
	fputs("],", out);
}

/* ---- the parts ---- */

struct page {
	const struct tpa_page_rows *rows;
	const struct tpa_process *process;
	const struct tpa_history *history;
	struct texts texts;
	FILE *out;
};

/* A frame that is shown, by the numbers of its texts. */
struct shown_frame {
	uint32_t function, file, line, module, flags;
};

static void put_frames(struct page *page, const struct tpa_page_frame **frames, size_t count)
{
	static const struct tpa_page_column columns[] = { TPA_PAGE_COLUMN("function", struct shown_frame, function),
							  TPA_PAGE_COLUMN("file", struct shown_frame, file),
							  TPA_PAGE_COLUMN("line", struct shown_frame, line),
							  TPA_PAGE_COLUMN("module", struct shown_frame, module),
							  TPA_PAGE_COLUMN("flags", struct shown_frame, flags),
							  TPA_PAGE_END };
	struct shown_frame *list = tpa_zalloc(count + 1, sizeof(*list));

	for (size_t i = 0; i < count; i++)
		list[i] = (struct shown_frame){ .function = text_number(&page->texts, frames[i]->function),
						.file = text_number(&page->texts, frames[i]->file),
						.line = frames[i]->line > 0 ? (uint32_t)frames[i]->line : 0,
						.module = text_number(&page->texts, frames[i]->module),
						.flags = frames[i]->flags };
	fputs("\"frames\":{", page->out);
	tpa_page_columns(page->out, columns, list, count, sizeof(*list));
	fputs("},", page->out);
	free(list);
}

/* A node that is shown. */
struct shown_node {
	uint32_t parent;
	int64_t frame; /* -1: the root */
};

/* Writes the nodes that are shown, and the frames that they are of. */
static void put_tree(struct page *page)
{
	static const struct tpa_page_column columns[] = { TPA_PAGE_COLUMN("parent", struct shown_node, parent),
							  TPA_PAGE_COLUMN("frame", struct shown_node, frame),
							  TPA_PAGE_END };
	const struct tpa_page_tree *tree = &page->rows->tree;
	uint32_t *number = tpa_zalloc(tree->frame_count + 1, sizeof(*number)); /* plus 1; 0: not shown */
	const struct tpa_page_frame **frames = tpa_zalloc(tree->frame_count + 1, sizeof(const struct tpa_page_frame *));
	struct shown_node *list = tpa_zalloc(tree->shown_count + 1, sizeof(*list));
	size_t count = 0;

	list[0].frame = -1;
	for (size_t i = 1; i < tree->shown_count; i++) {
		const struct tpa_page_node *node = &tree->nodes[tree->shown[i]];

		if (!number[node->frame]) {
			frames[count] = &tree->frames[node->frame];
			number[node->frame] = (uint32_t)++count;
		}
		list[i] = (struct shown_node){ tree->nodes[node->parent].kept, (int64_t)number[node->frame] - 1 };
	}
	put_frames(page, frames, count);
	fputs("\"tree\":{", page->out);
	tpa_page_columns(page->out, columns, list, tree->shown_count, sizeof(*list));
	fputs("},", page->out);
	free(number);
	free(frames);
	free(list);
}

#define ROW(name, member) TPA_PAGE_COLUMN(name, struct tpa_page_row, member)

static void put_sites(const struct page *page)
{
	static const struct tpa_page_column columns[] = { ROW("node", node),
							  ROW("op", op),
							  ROW("beginBytes", sums.begin_bytes),
							  ROW("beginBlocks", sums.begin_blocks),
							  ROW("peakBytes", sums.peak_bytes),
							  ROW("peakBlocks", sums.peak_blocks),
							  ROW("endBytes", sums.end_bytes),
							  ROW("endBlocks", sums.end_blocks),
							  ROW("bytes", sums.bytes),
							  ROW("allocations", sums.allocations),
							  ROW("temporary", sums.temporary),
							  TPA_PAGE_END };

	fputs("\"sites\":{", page->out);
	tpa_page_columns(page->out, columns, page->rows->rows, page->rows->row_count, sizeof(struct tpa_page_row));
	fputs("},", page->out);
}

#define CHANGE(name, member) TPA_PAGE_COLUMN(name, struct tpa_history_change, member)

static void put_changes(const struct page *page)
{
	static const struct tpa_page_column columns[] = { CHANGE("site", site),
							  CHANGE("liveBytes", live_bytes),
							  CHANGE("liveBlocks", live_blocks),
							  CHANGE("bytes", bytes),
							  CHANGE("allocations", allocations),
							  CHANGE("temporary", temporary),
							  TPA_PAGE_END };
	const struct tpa_page_rows *rows = page->rows;

	fputs("\"changes\":{", page->out);
	tpa_page_list(page->out, "ends", rows->changes.ends, page->history->look_count - 1);
	putc(',', page->out);
	tpa_page_columns(page->out, columns, rows->changes.list, rows->changes.count,
			 sizeof(struct tpa_history_change));
	fputs("},", page->out);
}

static void put_cpu(const struct page *page)
{
	static const struct tpa_page_column where[] = { TPA_PAGE_COLUMN("node", struct tpa_page_cpu, node),
							TPA_PAGE_COLUMN("thread", struct tpa_page_cpu, thread),
							TPA_PAGE_COLUMN("op", struct tpa_page_cpu, op), TPA_PAGE_END };
	static const struct tpa_page_column samples[] = {
		TPA_PAGE_COLUMN("where", struct tpa_history_sample, where),
		TPA_PAGE_COLUMN("periods", struct tpa_history_sample, periods), TPA_PAGE_END
	};
	const struct tpa_page_rows *rows = page->rows;
	FILE *out = page->out;

	fprintf(out, "\"cpu\":{\"periodNs\":%" PRIu64 ",", (uint64_t)page->process->trace->header->cpu_period_ns);
	tpa_page_columns(out, where, rows->cpu, rows->cpu_count, sizeof(struct tpa_page_cpu));
	putc(',', out);
	tpa_page_list(out, "ends", rows->samples.ends, page->history->look_count - 1);
	putc(',', out);
	tpa_page_columns(out, samples, rows->samples.list, rows->samples.count, sizeof(struct tpa_history_sample));
	fputs("},", out);
}

static void put_calls(const struct page *page)
{
	static const struct tpa_page_column columns[] = { TPA_PAGE_COLUMN("thread", struct tpa_history_call, thread),
							  TPA_PAGE_COLUMN("op", struct tpa_history_call, op),
							  TPA_PAGE_COLUMN("depth", struct tpa_history_call, depth),
							  TPA_PAGE_COLUMN("beginNs", struct tpa_history_call, begin_ns),
							  TPA_PAGE_COLUMN("endNs", struct tpa_history_call, end_ns),
							  TPA_PAGE_END };
	const struct tpa_history *history = page->history;

	fprintf(page->out, "\"calls\":{\"seen\":%" PRIu64 ",\"shortestNs\":%" PRIu64 ",", history->calls_seen,
		history->shortest_ns);
	tpa_page_columns(page->out, columns, history->calls, history->call_count, sizeof(struct tpa_history_call));
	fputs("},", page->out);
}

static void put_threads(const struct page *page)
{
	static const struct tpa_page_column columns[] = {
		TPA_PAGE_COLUMN("thread", struct tpa_history_thread, thread),
		TPA_PAGE_COLUMN("periods", struct tpa_history_thread, periods),
		TPA_PAGE_COLUMN("opNs", struct tpa_history_thread, op_ns),
		TPA_PAGE_COLUMN("bytes", struct tpa_history_thread, bytes),
		TPA_PAGE_COLUMN("allocations", struct tpa_history_thread, allocations),
		TPA_PAGE_END
	};
	const struct tpa_history *history = page->history;
	FILE *out = page->out;

	fputs("\"threads\":[", out);
	for (size_t i = 0; i < page->process->thread_count; i++) {
		const struct tpa_thread_stats *thread = &page->process->threads[i];

		fprintf(out,
			"%s{\"thread\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"firstNs\":%" PRIu64 ",\"lastNs\":%" PRIu64
			",\"name\":",
			i ? "," : "", thread->thread, thread->tid, thread->first_ns, thread->last_ns);
		tpa_page_text(thread->name, out);
		putc('}', out);
	}
	fputs("],\"work\":{", out);
	tpa_page_list(out, "ends", history->work.ends, history->look_count - 1);
	putc(',', out);
	tpa_page_columns(out, columns, history->work.list, history->work.count, sizeof(struct tpa_history_thread));
	fputs("},", out);
}

static void put_steps(const struct page *page)
{
	static const struct tpa_page_column columns[] = { TPA_PAGE_COLUMN("first", struct tpa_step, first),
							  TPA_PAGE_COLUMN("steps", struct tpa_step, steps),
							  TPA_PAGE_COLUMN("beginNs", struct tpa_step, begin_ns),
							  TPA_PAGE_COLUMN("endNs", struct tpa_step, end_ns),
							  TPA_PAGE_COLUMN("beginBytes", struct tpa_step, begin_bytes),
							  TPA_PAGE_COLUMN("endBytes", struct tpa_step, end_bytes),
							  TPA_PAGE_COLUMN("highBytes", struct tpa_step, high_bytes),
							  TPA_PAGE_END };
	const struct tpa_step_stats *steps = &page->process->steps;

	fputs("\"stepList\":{", page->out);
	tpa_page_columns(page->out, columns, steps->list, steps->list_count, sizeof(struct tpa_step));
	fputs("},", page->out);
}

static void put_points(const struct page *page)
{
	static const struct tpa_page_column columns[] = { TPA_PAGE_COLUMN("timeNs", struct tpa_point, time_ns),
							  TPA_PAGE_COLUMN("live", struct tpa_point, live_bytes),
							  TPA_PAGE_COLUMN("blocks", struct tpa_point, live_blocks),
							  TPA_PAGE_COLUMN("rss", struct tpa_point, rss),
							  TPA_PAGE_COLUMN("mapped", struct tpa_point, mapped_bytes),
							  TPA_PAGE_END };

	fputs("\"points\":{", page->out);
	tpa_page_columns(page->out, columns, page->process->timeline, page->process->point_count,
			 sizeof(struct tpa_point));
	fputs("},", page->out);
}

static void put_memory(const struct page *page)
{
	static const struct tpa_page_column columns[] = { TPA_PAGE_COLUMN("live", struct tpa_history_memory, live),
							  TPA_PAGE_COLUMN("rss", struct tpa_history_memory, rss),
							  TPA_PAGE_COLUMN("shared", struct tpa_history_memory, shared),
							  TPA_PAGE_COLUMN("own", struct tpa_history_memory, own),
							  TPA_PAGE_COLUMN("stacks", struct tpa_history_memory, stacks),
							  TPA_PAGE_COLUMN("mapped", struct tpa_history_memory, mapped),
							  TPA_PAGE_END };

	fputs("\"memory\":{", page->out);
	tpa_page_columns(page->out, columns, page->history->memory, page->history->look_count,
			 sizeof(struct tpa_history_memory));
	fputs("},", page->out);
}

/* Says what was left out or joined to keep the page small. */
static void put_reduced(const struct page *page)
{
	const struct tpa_page_tree *tree = &page->rows->tree;
	FILE *out = page->out;

	fprintf(out,
		"\"reduced\":{\"lines\":%zu,\"linesShown\":%zu,\"stacks\":%zu,\"rows\":%zu,\"intervals\":%zu,"
		"\"calls\":%" PRIu64 ",\"callsShown\":%zu},",
		page->rows->lines, tree->shown_count - 1, page->rows->stacks, page->rows->row_count,
		page->history->look_count - 1, page->history->calls_seen, page->history->call_count);
}

void tpa_page_data_write(const struct tpa_page_rows *rows, size_t index, const char *class, const json_t *report,
			 FILE *out)
{
	struct page page = { rows, rows->process, rows->history, { .arena = tpa_arena_new() }, out };
	const struct tpa_history *history = rows->history;
	const struct tpa_process *process = rows->process;

	fprintf(out,
		"<script type=\"application/json\" class=\"%s\" data-process=\"%zu\">{\"schema\":\"tprof-page/1\",",
		class, index);
	tpa_page_list(out, "looksNs", history->looks_ns, history->look_count);
	fprintf(out, ",\"peakLook\":%" PRId64 ",\"startNs\":%" PRIu64 ",\"durationNs\":%" PRIu64 ",\"estimated\":%s,",
		history->peak_look == SIZE_MAX ? -1 : (int64_t)history->peak_look, process->start_ns,
		process->duration_ns, process->estimated ? "true" : "false");
	put_reduced(&page);
	put_tree(&page);
	put_sites(&page);
	put_changes(&page);
	put_cpu(&page);
	tpa_page_ops_write(rows, out);
	put_calls(&page);
	put_threads(&page);
	put_steps(&page);
	put_points(&page);
	put_memory(&page);
	put_texts(&page.texts, out);
	fputs("\"report\":", out);
	tpa_page_json(report, out);
	fputs("}</script>\n", out);
	tpa_pairs_free(&page.texts.known);
	free(page.texts.list);
	tpa_arena_free(page.texts.arena);
}
