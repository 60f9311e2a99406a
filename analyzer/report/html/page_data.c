/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/page_data.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/json/json_value.h"

/* ---- JSON in an element ---- */

static int put_escaped(const char *text, size_t size, void *out)
{
	for (size_t i = 0; i < size; i++)
		if (strchr("<>&", text[i]) && text[i])
			fprintf(out, "\\u%04x", (unsigned)text[i]);
		else
			putc(text[i], out);
	return 0;
}

void tpa_page_data_json(const json_t *json, FILE *out)
{
	json_dump_callback(json, put_escaped, out, JSON_ENCODE_ANY | JSON_COMPACT);
}

static void put_text(const char *text, FILE *out)
{
	json_t *json = tpa_json_string(text);

	tpa_page_data_json(json, out);
	json_decref(json);
}

/* A member of the structs in a list, which is written as a list of its own: the page's script reads these fast. */
struct column {
	const char *name; /* NULL: no more */
	size_t at, size;
};
#define COLUMN(name, type, member)                                                                                     \
	{                                                                                                              \
		name, offsetof(type, member), sizeof(((type *)NULL)->member)                                           \
	}
#define END                                                                                                            \
	{                                                                                                              \
		NULL, 0, 0                                                                                             \
	}

static void put_number(FILE *out, size_t i, int64_t value)
{
	fprintf(out, i ? ",%" PRId64 : "%" PRId64, value);
}

static void put_column(FILE *out, const struct column *column, const void *list, size_t count, size_t size)
{
	const char *at = (const char *)list + column->at;
	uint32_t narrow;
	int64_t wide;

	fprintf(out, "\"%s\":[", column->name);
	for (size_t i = 0; i < count; i++, at += size) {
		if (column->size == sizeof(narrow)) {
			memcpy(&narrow, at, sizeof(narrow));
			wide = narrow;
		} else
			memcpy(&wide, at, sizeof(wide));
		put_number(out, i, wide);
	}
	putc(']', out);
}

/* With commas between them. `list` may be NULL if `count` is 0. */
static void put_columns(FILE *out, const struct column *columns, const void *list, size_t count, size_t size)
{
	for (const struct column *column = columns; column->name; column++) {
		if (column != columns)
			putc(',', out);
		put_column(out, column, list, list ? count : 0, size);
	}
}

/* Writes a list of size_t or other numbers of 64 bits. */
static void put_list(FILE *out, const char *name, const void *list, size_t count)
{
	const struct column column = { name, 0, sizeof(uint64_t) };

	put_column(out, &column, list, count, sizeof(uint64_t));
}

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
		put_text(texts->list[i], out);
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
	static const struct column columns[] = {
		COLUMN("function", struct shown_frame, function), COLUMN("file", struct shown_frame, file),
		COLUMN("line", struct shown_frame, line),	  COLUMN("module", struct shown_frame, module),
		COLUMN("flags", struct shown_frame, flags),	  END
	};
	struct shown_frame *list = tpa_zalloc(count + 1, sizeof(*list));

	for (size_t i = 0; i < count; i++)
		list[i] = (struct shown_frame){ .function = text_number(&page->texts, frames[i]->function),
						.file = text_number(&page->texts, frames[i]->file),
						.line = frames[i]->line > 0 ? (uint32_t)frames[i]->line : 0,
						.module = text_number(&page->texts, frames[i]->module),
						.flags = frames[i]->flags };
	fputs("\"frames\":{", page->out);
	put_columns(page->out, columns, list, count, sizeof(*list));
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
	static const struct column columns[] = { COLUMN("parent", struct shown_node, parent),
						 COLUMN("frame", struct shown_node, frame), END };
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
	put_columns(page->out, columns, list, tree->shown_count, sizeof(*list));
	fputs("},", page->out);
	free(number);
	free(frames);
	free(list);
}

#define ROW(name, member) COLUMN(name, struct tpa_page_row, member)

static void put_sites(const struct page *page)
{
	static const struct column columns[] = { ROW("node", node),
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
						 END };

	fputs("\"sites\":{", page->out);
	put_columns(page->out, columns, page->rows->rows, page->rows->row_count, sizeof(struct tpa_page_row));
	fputs("},", page->out);
}

#define CHANGE(name, member) COLUMN(name, struct tpa_history_change, member)

static void put_changes(const struct page *page)
{
	static const struct column columns[] = { CHANGE("site", site),
						 CHANGE("liveBytes", live_bytes),
						 CHANGE("liveBlocks", live_blocks),
						 CHANGE("bytes", bytes),
						 CHANGE("allocations", allocations),
						 CHANGE("temporary", temporary),
						 END };
	const struct tpa_page_rows *rows = page->rows;

	fputs("\"changes\":{", page->out);
	put_list(page->out, "ends", rows->changes.ends, page->history->look_count - 1);
	putc(',', page->out);
	put_columns(page->out, columns, rows->changes.list, rows->changes.count, sizeof(struct tpa_history_change));
	fputs("},", page->out);
}

static void put_cpu(const struct page *page)
{
	static const struct column where[] = { COLUMN("node", struct tpa_page_cpu, node),
					       COLUMN("thread", struct tpa_page_cpu, thread),
					       COLUMN("op", struct tpa_page_cpu, op), END };
	static const struct column samples[] = { COLUMN("where", struct tpa_history_sample, where),
						 COLUMN("periods", struct tpa_history_sample, periods), END };
	const struct tpa_page_rows *rows = page->rows;
	FILE *out = page->out;

	fprintf(out, "\"cpu\":{\"periodNs\":%" PRIu64 ",", (uint64_t)page->process->trace->header->cpu_period_ns);
	put_columns(out, where, rows->cpu, rows->cpu_count, sizeof(struct tpa_page_cpu));
	putc(',', out);
	put_list(out, "ends", rows->samples.ends, page->history->look_count - 1);
	putc(',', out);
	put_columns(out, samples, rows->samples.list, rows->samples.count, sizeof(struct tpa_history_sample));
	fputs("},", out);
}

static void put_op_names(const struct page *page)
{
	const struct tpa_process *process = page->process;
	FILE *out = page->out;

	fputs("\"opNames\":{", out);
	for (size_t i = 0; i < process->op_count; i++) {
		fprintf(out, "%s\"%" PRIu32 "\":", i ? "," : "", process->ops[i].op);
		put_text(process->ops[i].name, out);
	}
	fputs("},", out);
}

/* The tree of calls, from its root on; node 1 has the chains for which there was no node left. */
static void put_ops(const struct page *page)
{
	static const struct column nodes[] = { COLUMN("parent", struct tpa_op_node, parent),
					       COLUMN("op", struct tpa_op_node, op), END };
	static const struct column columns[] = { COLUMN("node", struct tpa_history_op, node),
						 COLUMN("calls", struct tpa_history_op, calls),
						 COLUMN("totalNs", struct tpa_history_op, total_ns),
						 COLUMN("selfNs", struct tpa_history_op, self_ns), END };
	const struct tpa_history *history = page->history;
	FILE *out = page->out;

	fputs("\"opTree\":{", out);
	put_columns(out, nodes, page->process->op_nodes, page->process->op_node_count, sizeof(struct tpa_op_node));
	putc(',', out);
	put_list(out, "ends", history->ops.ends, history->look_count - 1);
	putc(',', out);
	put_columns(out, columns, history->ops.list, history->ops.count, sizeof(struct tpa_history_op));
	fputs("},", out);
	put_op_names(page);
}

static void put_calls(const struct page *page)
{
	static const struct column columns[] = {
		COLUMN("thread", struct tpa_history_call, thread), COLUMN("op", struct tpa_history_call, op),
		COLUMN("depth", struct tpa_history_call, depth),   COLUMN("beginNs", struct tpa_history_call, begin_ns),
		COLUMN("endNs", struct tpa_history_call, end_ns),  END
	};
	const struct tpa_history *history = page->history;

	fprintf(page->out, "\"calls\":{\"seen\":%" PRIu64 ",\"shortestNs\":%" PRIu64 ",", history->calls_seen,
		history->shortest_ns);
	put_columns(page->out, columns, history->calls, history->call_count, sizeof(struct tpa_history_call));
	fputs("},", page->out);
}

static void put_threads(const struct page *page)
{
	static const struct column columns[] = { COLUMN("thread", struct tpa_history_thread, thread),
						 COLUMN("periods", struct tpa_history_thread, periods),
						 COLUMN("opNs", struct tpa_history_thread, op_ns),
						 COLUMN("bytes", struct tpa_history_thread, bytes),
						 COLUMN("allocations", struct tpa_history_thread, allocations),
						 END };
	const struct tpa_history *history = page->history;
	FILE *out = page->out;

	fputs("\"threads\":[", out);
	for (size_t i = 0; i < page->process->thread_count; i++) {
		const struct tpa_thread_stats *thread = &page->process->threads[i];

		fprintf(out,
			"%s{\"thread\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"firstNs\":%" PRIu64 ",\"lastNs\":%" PRIu64
			",\"name\":",
			i ? "," : "", thread->thread, thread->tid, thread->first_ns, thread->last_ns);
		put_text(thread->name, out);
		putc('}', out);
	}
	fputs("],\"work\":{", out);
	put_list(out, "ends", history->work.ends, history->look_count - 1);
	putc(',', out);
	put_columns(out, columns, history->work.list, history->work.count, sizeof(struct tpa_history_thread));
	fputs("},", out);
}

static void put_steps(const struct page *page)
{
	static const struct column columns[] = { COLUMN("first", struct tpa_step, first),
						 COLUMN("steps", struct tpa_step, steps),
						 COLUMN("beginNs", struct tpa_step, begin_ns),
						 COLUMN("endNs", struct tpa_step, end_ns),
						 COLUMN("beginBytes", struct tpa_step, begin_bytes),
						 COLUMN("endBytes", struct tpa_step, end_bytes),
						 COLUMN("highBytes", struct tpa_step, high_bytes),
						 END };
	const struct tpa_step_stats *steps = &page->process->steps;

	fputs("\"stepList\":{", page->out);
	put_columns(page->out, columns, steps->list, steps->list_count, sizeof(struct tpa_step));
	fputs("},", page->out);
}

static void put_points(const struct page *page)
{
	static const struct column columns[] = {
		COLUMN("timeNs", struct tpa_point, time_ns),	  COLUMN("live", struct tpa_point, live_bytes),
		COLUMN("blocks", struct tpa_point, live_blocks),  COLUMN("rss", struct tpa_point, rss),
		COLUMN("mapped", struct tpa_point, mapped_bytes), END
	};

	fputs("\"points\":{", page->out);
	put_columns(page->out, columns, page->process->timeline, page->process->point_count, sizeof(struct tpa_point));
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
		tree->count - 1, tree->shown_count - 1, page->rows->stacks, page->rows->row_count,
		page->history->look_count - 1, page->history->calls_seen, page->history->call_count);
}

void tpa_page_data_write(const struct tpa_page_rows *rows, size_t index, const json_t *report, FILE *out)
{
	struct page page = { rows, rows->process, rows->history, { .arena = tpa_arena_new() }, out };
	const struct tpa_history *history = rows->history;
	const struct tpa_process *process = rows->process;

	fprintf(out,
		"<script type=\"application/json\" class=\"data\" data-process=\"%zu\">{\"schema\":\"tprof-page/1\",",
		index);
	put_list(out, "looksNs", history->looks_ns, history->look_count);
	fprintf(out, ",\"peakLook\":%" PRId64 ",\"startNs\":%" PRIu64 ",\"durationNs\":%" PRIu64 ",\"estimated\":%s,",
		history->peak_look == SIZE_MAX ? -1 : (int64_t)history->peak_look, process->start_ns,
		process->duration_ns, process->estimated ? "true" : "false");
	put_reduced(&page);
	put_tree(&page);
	put_sites(&page);
	put_changes(&page);
	put_cpu(&page);
	put_ops(&page);
	put_calls(&page);
	put_threads(&page);
	put_steps(&page);
	put_points(&page);
	put_texts(&page.texts, out);
	fputs("\"report\":", out);
	tpa_page_data_json(report, out);
	fputs("}</script>\n", out);
	tpa_pairs_free(&page.texts.known);
	free(page.texts.list);
	tpa_arena_free(page.texts.arena);
}
