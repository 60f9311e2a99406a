/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/rank_flows.h"

void tpa_chrome_begin(struct tpa_chrome *chrome, FILE *out)
{
	*chrome = (struct tpa_chrome){ .out = out };
	fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", out);
}

void tpa_chrome_end(struct tpa_chrome *chrome, int truncated)
{
	fprintf(chrome->out,
		"\n],\n\"otherData\": {\"source\": \"tprof %s\", \"truncated\": %s, \"folded_calls\": %" PRIu64 "}}\n",
		TPROF_VERSION_STRING, truncated ? "true" : "false", chrome->folded);
}

/* Writes the fields of every event; the rest of the object follows. */
static void begin(struct tpa_chrome *chrome, char phase, uint32_t thread, uint64_t ns)
{
	fprintf(chrome->out,
		"%s\n{\"ph\": \"%c\", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32 ", \"ts\": %" PRIu64 ".%03u",
		chrome->events++ ? "," : "", phase, chrome->pid, thread, ns / 1000, (unsigned)(ns % 1000));
}

static void put_text(FILE *out, const char *text, size_t length)
{
	char *quoted = tpa_export_quote(text, length);

	fputs(quoted, out);
	free(quoted);
}

static void metadata(struct tpa_chrome *chrome, uint32_t thread, const char *what, const char *name)
{
	begin(chrome, 'M', thread, 0);
	fprintf(chrome->out, ", \"name\": \"%s\", \"args\": {\"name\": ", what);
	put_text(chrome->out, name, strlen(name));
	fputs("}}", chrome->out);
}

void tpa_chrome_process(struct tpa_chrome *chrome, uint32_t pid, const char *name)
{
	chrome->pid = pid;
	metadata(chrome, 0, "process_name", name);
}

void tpa_chrome_thread(struct tpa_chrome *chrome, uint32_t thread, const char *name)
{
	metadata(chrome, thread, "thread_name", name);
	begin(chrome, 'M', thread, 0);
	fprintf(chrome->out, ", \"name\": \"thread_sort_index\", \"args\": {\"sort_index\": %" PRIu32 "}}", thread);
}

static void separate(FILE *out, int *used)
{
	fputs((*used)++ ? ", " : ", \"args\": {", out);
}

/*
 * Writes a duration. Viewers add begin and duration in floating point, and ops that end at the same instant must not
 * overlap then: so an op ends a hundredth of a nanosecond early, and another one for each op around it. Rounding to
 * nanoseconds gives the exact end, up to the 49th level.
 */
static void put_duration(FILE *out, uint64_t begin_ns, uint64_t end_ns, uint32_t level)
{
	uint64_t took = end_ns > begin_ns ? (end_ns - begin_ns) * 100 : 0;

	took = took > level ? took - level - 1 : 0;
	fprintf(out, ", \"dur\": %" PRIu64 ".%05u", took / 100000, (unsigned)(took % 100000));
}

void tpa_chrome_op(struct tpa_chrome *chrome, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
		   const struct tpa_chrome_detail *detail)
{
	FILE *out = chrome->out;
	int used = 0;

	begin(chrome, 'X', thread, begin_ns);
	put_duration(out, begin_ns, end_ns, detail->level);
	fprintf(out, ", \"name\": %s, \"cat\": %s", detail->name, detail->category);
	if (detail->shape) {
		separate(out, &used);
		fputs("\"shape\": ", out);
		put_text(out, detail->shape, strlen(detail->shape));
	}
	if (detail->flop) {
		separate(out, &used);
		fprintf(out, "\"flop\": %" PRIu64, detail->flop);
	}
	if (detail->bytes) {
		separate(out, &used);
		fprintf(out, "\"bytes\": %" PRIu64, detail->bytes);
	}
	if (detail->unwound) {
		separate(out, &used);
		fputs("\"unwound\": true", out);
	}
	if (detail->open) {
		separate(out, &used);
		fputs("\"still open\": true", out);
	}
	fputs(used ? "}}" : "}", out);
}

void tpa_chrome_step(struct tpa_chrome *chrome, uint64_t begin_ns, uint64_t end_ns, uint64_t number, uint64_t items)
{
	begin(chrome, 'X', TPA_CHROME_STEPS, begin_ns);
	put_duration(chrome->out, begin_ns, end_ns, 0);
	fprintf(chrome->out, ", \"name\": \"step %" PRIu64 "\", \"cat\": \"step\"", number);
	if (items)
		fprintf(chrome->out, ", \"args\": {\"items\": %" PRIu64 "}", items);
	fputc('}', chrome->out);
}

void tpa_chrome_mark(struct tpa_chrome *chrome, uint32_t thread, uint64_t ns, const char *text, size_t length)
{
	begin(chrome, 'i', thread, ns);
	fputs(", \"s\": \"p\", \"cat\": \"mark\", \"name\": ", chrome->out);
	put_text(chrome->out, text, length);
	fputc('}', chrome->out);
}

void tpa_chrome_folded(struct tpa_chrome *chrome, uint32_t thread, uint64_t ns, const struct tpa_chrome_folded *folded)
{
	FILE *out = chrome->out;

	begin(chrome, 'i', thread, ns);
	fprintf(out, ", \"s\": \"t\", \"cat\": \"folded\", \"name\": %s, \"args\": {\"calls\": %" PRIu64, folded->name,
		folded->calls);
	if (folded->shape) {
		fputs(", \"shape\": ", out);
		put_text(out, folded->shape, strlen(folded->shape));
	}
	fprintf(out, ", \"timed\": %" PRIu64, folded->timed);
	if (folded->timed)
		fprintf(out, ", \"timed_ns\": %" PRIu64 ", \"min_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64,
			folded->total_ns, folded->min_ns, folded->max_ns);
	fputs("}}", out);
	chrome->folded += folded->calls;
}

void tpa_chrome_counter(struct tpa_chrome *chrome, uint64_t ns, const char *name, uint64_t bytes)
{
	begin(chrome, 'C', 0, ns);
	fprintf(chrome->out, ", \"name\": \"%s\", \"args\": {\"bytes\": %" PRIu64 "}}", name, bytes);
}

void tpa_chrome_flow(struct tpa_chrome *chrome, const struct tpa_rank_flow *flow)
{
	begin(chrome, flow->arrives ? 'f' : 's', flow->thread, flow->ns);
	fprintf(chrome->out,
		", \"id\": %" PRIu64 ", \"cat\": \"ranks\", \"name\": \"%s\"%s, \"args\": {\"rank\": %" PRIu32
		", \"wait_ns\": %" PRIu64 "}}",
		flow->number, flow->pattern, flow->arrives ? ", \"bp\": \"e\"" : "", flow->other, flow->wait_ns);
}
