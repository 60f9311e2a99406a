/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/page_ops.h"

#include <inttypes.h>

#include "report/html/page_write.h"

#define SHAPES 12	  /* most shapes of an op */
#define BUCKETS_JOINED 16 /* buckets of a histogram that become one: eight are left of each power of two */

/* The tree of calls, from its root on; node 1 has the chains for which there was no node left. */
static void put_tree(const struct tpa_page_rows *rows, FILE *out)
{
	static const struct tpa_page_column nodes[] = { TPA_PAGE_COLUMN("parent", struct tpa_op_node, parent),
							TPA_PAGE_COLUMN("op", struct tpa_op_node, op), TPA_PAGE_END };
	static const struct tpa_page_column columns[] = { TPA_PAGE_COLUMN("node", struct tpa_history_op, node),
							  TPA_PAGE_COLUMN("calls", struct tpa_history_op, calls),
							  TPA_PAGE_COLUMN("totalNs", struct tpa_history_op, total_ns),
							  TPA_PAGE_COLUMN("selfNs", struct tpa_history_op, self_ns),
							  TPA_PAGE_END };
	const struct tpa_history *history = rows->history;

	fputs("\"opTree\":{", out);
	tpa_page_columns(out, nodes, rows->process->op_nodes, rows->process->op_node_count, sizeof(struct tpa_op_node));
	putc(',', out);
	tpa_page_list(out, "ends", history->ops.ends, history->look_count - 1);
	putc(',', out);
	tpa_page_columns(out, columns, history->ops.list, history->ops.count, sizeof(struct tpa_history_op));
	fputs("},", out);
}

/* The durations of the calls, as pairs of a bucket's smallest value and its count. */
static void put_histogram(const struct tpa_histogram *histogram, FILE *out)
{
	bool first = true;

	fputs(",\"histogram\":[", out);
	for (size_t i = 0; histogram && i < TPA_HISTOGRAM_BUCKETS; i += BUCKETS_JOINED) {
		uint64_t count = 0;

		for (size_t k = i; k < i + BUCKETS_JOINED; k++)
			count += tpa_histogram_bucket(histogram, k);
		if (!count)
			continue;
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", first ? "" : ",", tpa_histogram_low(i), count);
		first = false;
	}
	putc(']', out);
}

/* The first shapes are those that came first; the list says how many there are. */
static void put_shapes(const struct tpa_op_stats *op, FILE *out)
{
	fprintf(out, ",\"shapesTotal\":%zu,\"shapes\":[", op->shape_count);
	for (size_t i = 0; i < op->shape_count && i < SHAPES; i++) {
		const struct tpa_shape_stats *shape = &op->shapes[i];

		fputs(i ? ",{\"shape\":" : "{\"shape\":", out);
		tpa_page_text(shape->text ? shape->text : "others", out);
		fprintf(out, ",\"calls\":%" PRIu64 ",\"totalNs\":%" PRIu64 ",\"flop\":%" PRIu64 "}", shape->calls,
			shape->total_ns, shape->flop);
	}
	putc(']', out);
}

static void put_op(const struct tpa_op_stats *op, FILE *out)
{
	fprintf(out, "{\"op\":%" PRIu32 ",\"name\":", op->op);
	tpa_page_text(op->name, out);
	fputs(",\"category\":", out);
	tpa_page_text(op->category, out);
	fprintf(out,
		",\"minNs\":%" PRIu64 ",\"p50Ns\":%" PRIu64 ",\"p90Ns\":%" PRIu64 ",\"p99Ns\":%" PRIu64
		",\"maxNs\":%" PRIu64,
		op->min_ns, op->p50_ns, op->p90_ns, op->p99_ns, op->max_ns);
	put_histogram(op->histogram, out);
	put_shapes(op, out);
	putc('}', out);
}

void tpa_page_ops_write(const struct tpa_page_rows *rows, FILE *out)
{
	put_tree(rows, out);
	fputs("\"ops\":[", out);
	for (size_t i = 0; i < rows->process->op_count; i++) {
		if (i)
			putc(',', out);
		put_op(&rows->process->ops[i], out);
	}
	fputs("],", out);
}
