/* SPDX-License-Identifier: Apache-2.0 */
/* dump: an event as a line. */
#include "commands/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/flop/work.h"
#include "report/rows/stack.h"
#include "trace/fields.h"

/* "function at file:line" of the innermost frame in the program's own code. */
static char *describe(struct tpa_dump *dump, uint32_t node)
{
	struct tpa_stack stack = { 0 };
	const struct tpa_line *own;
	char name[512], place[512], *text;

	tpa_stack_read(&stack, dump->trace, dump->symbols, node);
	own = tpa_stack_own(&stack);
	if (!own)
		text = tpa_strdup(node == TPROF_NODE_NONE ? "stack not recorded" : "?");
	else
		text = tpa_format("%s (%s)", tpa_line_name(own, name, sizeof(name)),
				  tpa_line_place(own, dump->trace->cwd, place, sizeof(place)));
	tpa_stack_free(&stack);
	return text;
}

static const char *stack_text(struct tpa_dump *dump, const struct tpa_event *event)
{
	uint32_t node = tpa_event_node(dump->trace, event);

	if (!dump->names[node])
		dump->names[node] = describe(dump, node);
	return dump->names[node];
}

static const char *size_text(const struct tpa_dump *dump, uint64_t bytes, struct tpa_text *text)
{
	*text = tpa_bytes(bytes, dump->session->page.exact);
	return text->text;
}

/* The mean by which a block was sampled, if its record says that. */
static void print_mean(const struct tpa_dump *dump, uint8_t mean)
{
	struct tpa_text size;

	if (mean == 0)
		fputs("  all recorded", dump->session->page.out);
	else if (mean != TPA_MEAN_UNSAID)
		fprintf(dump->session->page.out, "  one per %s", size_text(dump, UINT64_C(1) << mean, &size));
}

static void print_level(const struct tpa_dump *dump, const struct tpa_event *event)
{
	fprintf(dump->session->page.out, "%-14s allocations", "level");
	print_mean(dump, event->level.mean);
	fprintf(dump->session->page.out, "  calls of hooked functions %s",
		event->level.ops ? "recorded" : "not recorded");
}

static void print_alloc(struct tpa_dump *dump, const struct tpa_event *event)
{
	FILE *out = dump->session->page.out;
	struct tpa_text size;

	fprintf(out, "%-14s %#14" PRIx64 "  %10s", tpa_fn_name(event->alloc.fn), event->alloc.address,
		size_text(dump, event->alloc.bytes, &size));
	fprintf(out, "  usable %s", size_text(dump, event->alloc.usable, &size));
	if (event->alloc.alignment_log2)
		fprintf(out, "  aligned to 2^%u", event->alloc.alignment_log2);
	print_mean(dump, event->alloc.mean);
	fprintf(out, "  stack %" PRIu32 " %s", event->node, stack_text(dump, event));
}

static void print_map(struct tpa_dump *dump, const struct tpa_event *event)
{
	FILE *out = dump->session->page.out;
	struct tpa_text size;

	fprintf(out, "%-14s %#14" PRIx64 "  %10s", event->map.remap ? "mremap (to)" : "mmap", event->map.address,
		size_text(dump, event->map.length, &size));
	fprintf(out, "  prot %#" PRIx64 " flags %#" PRIx32 "  stack %" PRIu32 " %s", event->map.prot, event->map.flags,
		event->node, stack_text(dump, event));
}

/* Names may hold any bytes; keep control characters from the terminal. */
static void print_text(FILE *out, struct tpa_event_text text)
{
	for (uint32_t i = 0; i < text.length; i++)
		fputc((unsigned char)text.text[i] < ' ' || text.text[i] == 127 ? '?' : text.text[i], out);
}

static void print_name(FILE *out, const struct tpa_op *op)
{
	const char *name = op ? op->name : "(not named in the trace)";

	print_text(out, (struct tpa_event_text){ .text = name, .length = (uint32_t)strlen(name) });
}

/* Describes typed kernels and folded calls in words. */
static void print_work(FILE *out, const struct tpa_event *event)
{
	const struct tpa_work *work = event->work;
	struct tpa_work_amount amount;
	char shape[256];

	if (!work)
		return;
	amount = tpa_work_amount(work);
	tpa_work_shape(work, shape, sizeof(shape));
	fprintf(out, "%-14s %s %s", "work", tpa_work_name(work->kind), shape);
	if (amount.flop_known)
		fprintf(out, "  %" PRIu64 " FLOP", amount.flop);
}

static void print_usage(FILE *out, const struct tpa_event *event)
{
	const struct tpa_usage *usage = event->usage;

	if (!usage)
		return;
	fprintf(out, "%-14s %" PRIu64 " page faults, %" PRIu64 " major, %" PRIu64 " waits, %" PRIu64 " preemptions, ",
		"usage", usage->minor_faults, usage->major_faults, usage->waits, usage->preemptions);
	fprintf(out, "%s CPU time, %s of this thread", tpa_time(usage->cpu_ns).text, tpa_time(usage->own_cpu_ns).text);
}

static void print_fold(struct tpa_dump *dump, const struct tpa_event *event)
{
	FILE *out = dump->session->page.out;
	const struct tpa_op *op = tpa_dump_op(dump, event);
	const struct tpa_folded *folded = event->fold.calls;
	char shape[256];

	if (!folded)
		return;
	tpa_fold_shape(folded, shape, sizeof(shape));
	fprintf(out, "%-14s %" PRIu32 " calls, %" PRIu64 " ticks  ", "folded", folded->counts.calls,
		folded->counts.ticks);
	print_name(out, op);
	fprintf(out, " %s", shape);
}

/* Prints the increases since the thread's previous reading. */
static void print_counters(const struct tpa_dump *dump, const struct tpa_event *event)
{
	FILE *out = dump->session->page.out;

	fprintf(out, "%-14s", "counters");
	for (size_t i = 0; i < dump->trace->counter_count; i++) {
		const struct tpa_counter *counter = &dump->trace->counters[i];

		if (counter->number)
			fprintf(out, " %s +%" PRIu64, counter->name, event->counters->value[counter->number - 1]);
	}
}

static void print_op(struct tpa_dump *dump, const struct tpa_event *event)
{
	const struct tpa_op *op = tpa_dump_op(dump, event);
	FILE *out = dump->session->page.out;
	struct tpa_text size;

	switch (event->kind) {
	case TPA_EVENT_OP_BEGIN:
		fprintf(out, "%-14s ", "op begins");
		print_name(out, op);
		if (op && op->shape)
			fprintf(out, "  %s", op->shape);
		break;
	case TPA_EVENT_SHAPE:
		fprintf(out, "%-14s %s", "op shape", op && op->shape ? op->shape : "?");
		break;
	case TPA_EVENT_OP_END:
		fprintf(out, "%-14s %s", "op ends", event->op_end.unwound ? "unwound" : "");
		if (event->op_end.kept)
			fprintf(out, "not the innermost: %" PRIu64 " in it go%s on", event->op_end.kept,
				event->op_end.kept == 1 ? "es" : "");
		break;
	case TPA_EVENT_DETAIL:
		fprintf(out, "%-14s %" PRIu64 " FLOP, %s moved, shape ", "op detail", event->detail.flop,
			size_text(dump, event->detail.bytes, &size));
		print_text(out, event->detail.shape);
		break;
	case TPA_EVENT_COUNTERS:
		print_counters(dump, event);
		break;
	default:
		fprintf(out, "%-14s %" PRIu64 " items", "step ends", event->step.items);
		break;
	}
}

static void print_pool(struct tpa_dump *dump, const struct tpa_event *event)
{
	FILE *out = dump->session->page.out;
	struct tpa_text size;

	if (event->kind == TPA_EVENT_POOL_FREE) {
		fprintf(out, "%-14s %#14" PRIx64 "%s", "pool free", event->pool_free.address,
			event->pool_free.whole ? "  all of it" : "");
		return;
	}
	fprintf(out, "%-14s %#14" PRIx64 "  %10s", "pool alloc", event->pool_alloc.address,
		size_text(dump, event->pool_alloc.bytes, &size));
	print_mean(dump, event->pool_alloc.mean);
	fprintf(out, "  of %#" PRIx64 "  stack %" PRIu32 " %s", event->pool_alloc.pool, event->node,
		stack_text(dump, event));
}

/* Prints sizes under the names that JSON uses. */
static void print_sizes(const struct tpa_dump *dump, const struct tpa_event *event)
{
	const struct tpa_field *fields = tpa_event_rows[event->kind].inside;
	const void *payload = tpa_event_payload(event);
	struct tpa_text size;

	for (size_t i = 0; payload && i < TPA_FIELDS_MOST && fields[i].name; i++)
		if (tpa_field_is_there(&fields[i], payload))
			fprintf(dump->session->page.out, "  %s %s", fields[i].name,
				size_text(dump, tpa_field_value(&fields[i], payload), &size));
}

static void print_region(const struct tpa_dump *dump, const struct tpa_event *event)
{
	static const char *const kinds[TPROF_REGION_KINDS] = { "end",	   "anonymous", "[heap]",
							       "file",	   "shared",	"stack",
							       "trace",	   "other",	"stack of a thread",
							       "collector" };
	FILE *out = dump->session->page.out;
	const struct tpa_region *region = event->region;
	struct tpa_text size;

	fprintf(out, "%-14s ", "region");
	if (!region)
		return;
	fprintf(out, "%#14" PRIx64 "  %10s", region->low, size_text(dump, region->high - region->low, &size));
	fprintf(out, "  RSS %s", size_text(dump, region->rss, &size));
	fprintf(out, "  private %s  %s", size_text(dump, region->private, &size), kinds[region->kind]);
	if (region->file && region->file < dump->trace->file_count && dump->trace->files[region->file])
		fprintf(out, "  %s", dump->trace->files[region->file]);
}

/* "communicator 1 (MPI_COMM_WORLD)". */
static void print_group(const struct tpa_dump *dump, uint32_t number)
{
	const struct tpa_trace *trace = dump->trace;
	const struct tpa_known_group *group = number < trace->group_count ? &trace->groups[number] : NULL;
	FILE *out = dump->session->page.out;

	fprintf(out, "  communicator %" PRIu32, number);
	if (!group || !group->name)
		return;
	if (group->name[0]) {
		fputs(" (", out);
		print_text(out, (struct tpa_event_text){ group->name, (uint32_t)strlen(group->name) });
		fputs(")", out);
	}
	fprintf(out, " rank %" PRIu32 " of %" PRIu32, group->rank, group->size);
}

static void print_rank(FILE *out, const char *name, int32_t rank)
{
	if (rank != TPROF_COMM_ANY)
		fprintf(out, "  %s %" PRId32, name, rank);
}

static void print_parts(FILE *out, const struct tpa_comm *comm)
{
	fputs("  of parts", out);
	if (!comm->part_bytes)
		fputs(" ?", out);
	for (unsigned i = 0; i < comm->part_bytes * 8u; i++)
		if (comm->part_bits[i / 8] >> i % 8 & 1)
			fprintf(out, " %u", i);
}

static void print_comm(struct tpa_dump *dump, const struct tpa_event *event)
{
	FILE *out = dump->session->page.out;
	const struct tpa_comm *comm = event->comm;
	struct tpa_text size;

	fprintf(out, "%-14s ", "communicates");
	if (!comm)
		return;
	fprintf(out, "%s%s", tpa_comm_name(comm->what), comm->begins ? " begins" : "");
	if (comm->communicator)
		print_group(dump, comm->communicator);
	if (comm->sequence)
		fprintf(out, "  call %" PRIu64, comm->sequence);
	print_rank(out, "peer", comm->peer);
	print_rank(out, "tag", comm->tag);
	if (comm->sent)
		fprintf(out, "  sends %s", size_text(dump, comm->sent, &size));
	if (comm->received)
		fprintf(out, "  receives %s", size_text(dump, comm->received, &size));
	if (comm->parts)
		print_parts(out, comm);
	if (comm->request)
		fprintf(out, "  request %" PRIu64, comm->request);
	fprintf(out, "  stack %" PRIu32 " %s", event->node, stack_text(dump, event));
}

static void print_comm_done(const struct tpa_dump *dump, const struct tpa_event *event)
{
	FILE *out = dump->session->page.out;
	const struct tpa_comm_done *done = event->comm_done;
	struct tpa_text size;

	fprintf(out, "%-14s ", "complete");
	if (!done)
		return;
	if (done->request)
		fprintf(out, "request %" PRIu64, done->request);
	if (done->status)
		fprintf(out, "  source %" PRId32 "  tag %" PRId32 "  %s", done->source, done->tag,
			size_text(dump, done->bytes, &size));
	if (done->cancelled || done->freed)
		fputs(done->freed ? "  freed" : "  cancelled", out);
}

static void print_waited(struct tpa_dump *dump, const struct tpa_event *event)
{
	FILE *out = dump->session->page.out;

	fprintf(out, "%-14s %s in ", "waited",
		tpa_time((uint64_t)((double)event->waited.ticks * tpa_trace_tick_ns(dump->trace))).text);
	print_name(out, tpa_dump_op(dump, event));
	fprintf(out, "  stack %" PRIu32 " %s", event->node, stack_text(dump, event));
}

void tpa_dump_event(struct tpa_dump *dump, const struct tpa_event *event, uint64_t time_ns)
{
	FILE *out = dump->session->page.out;
	struct tpa_text size;

	fprintf(out, "%14.6f  thread %-4" PRIu32 " ", (double)time_ns / 1e6, event->thread);
	switch ((enum tpa_event_kind)event->kind) {
	case TPA_EVENT_ALLOC:
		print_alloc(dump, event);
		break;
	case TPA_EVENT_FREE:
		fprintf(out, "%-14s %#14" PRIx64 "%s", tpa_fn_name(event->free.fn), event->free.address,
			event->free.fn < TPROF_FN_FREE ? "  old block" : "");
		break;
	case TPA_EVENT_MAP:
		print_map(dump, event);
		break;
	case TPA_EVENT_UNMAP:
		fprintf(out, "%-14s %#14" PRIx64 "  %10s", event->unmap.remap ? "mremap (from)" : "munmap",
			event->unmap.address, size_text(dump, event->unmap.length, &size));
		break;
	case TPA_EVENT_MEMORY:
		fprintf(out, "%-14s RSS %s", "memory", size_text(dump, event->memory.rss, &size));
		fprintf(out, "  VMS %s", size_text(dump, event->memory.vms, &size));
		print_sizes(dump, event);
		break;
	case TPA_EVENT_NAME:
	case TPA_EVENT_MARK:
		fprintf(out, "%-14s ", tpa_event_kind_name(event->kind));
		print_text(out, event->kind == TPA_EVENT_NAME ? event->name : event->mark);
		break;
	case TPA_EVENT_OP_BEGIN:
	case TPA_EVENT_OP_END:
	case TPA_EVENT_SHAPE:
	case TPA_EVENT_DETAIL:
	case TPA_EVENT_STEP:
	case TPA_EVENT_COUNTERS:
		print_op(dump, event);
		break;
	case TPA_EVENT_POOL_ALLOC:
	case TPA_EVENT_POOL_FREE:
		print_pool(dump, event);
		break;
	case TPA_EVENT_WORK:
		print_work(out, event);
		break;
	case TPA_EVENT_FOLD:
		print_fold(dump, event);
		break;
	case TPA_EVENT_SAMPLE:
		fprintf(out, "%-14s %s of CPU time  stack %" PRIu32 " %s", "sample",
			tpa_time(event->sample.periods * dump->trace->header->cpu_period_ns).text, event->node,
			stack_text(dump, event));
		break;
	case TPA_EVENT_USAGE:
		print_usage(out, event);
		break;
	case TPA_EVENT_ALLOCATOR:
		fprintf(out, "%-13s", "allocator");
		print_sizes(dump, event);
		break;
	case TPA_EVENT_REGION:
		print_region(dump, event);
		break;
	case TPA_EVENT_LEVEL:
		print_level(dump, event);
		break;
	case TPA_EVENT_COMM:
		print_comm(dump, event);
		break;
	case TPA_EVENT_COMM_DONE:
		print_comm_done(dump, event);
		break;
	case TPA_EVENT_WAITED:
		print_waited(dump, event);
		break;
	case TPA_EVENT_PAUSE:
	case TPA_EVENT_RESUME:
		fprintf(out, "%-14s of recording", tpa_event_kind_name(event->kind));
		break;
	case TPA_EVENT_THREAD:
		fprintf(out, "%-14s takes over a chunk, tid %" PRIu32, "thread", event->tid);
		break;
	default:
		fprintf(out, "%-14s the last release did not happen", tpa_event_kind_name(event->kind));
		break;
	}
	fputs(event->cancelled ? "  (cancelled)\n" : "\n", out);
}
