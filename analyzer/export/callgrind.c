/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgrind's format, for kcachegrind and callgrind_annotate: CPU time and memory by line, with what each call cost. Functions are kept
 * in memory, not stacks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/pairs.h"
#include "export/formats.h"
#include "export/sites.h"
#include "export/text.h"

enum event { CPU, ALLOCATED, ALLOCATIONS, PEAK, UNFREED, EVENTS };

enum names { OBJECT, SOURCE, FUNCTION, NAMES };

/* Cost of a line of a function; of a call from it, if `callee` is a function. */
struct cost {
	uint32_t function, callee; /* callee 0: its own */
	uint32_t line, callee_line;
	uint64_t calls;
	uint64_t events[EVENTS];
};

/* Texts are interned. */
struct function {
	const char *name, *file, *module;
};

struct callgrind {
	struct tpa_export *export;
	struct tpa_arena *arena;
	struct function *functions; /* numbers begin with 1 */
	size_t function_count, function_room;
	struct tpa_pairs by_name, by_file; /* a number for (name, file); for (that, module) */
	struct cost *costs;
	size_t cost_count, cost_room;
	struct tpa_pairs callers, calls; /* a number for (function, line); for (that, callee) */
	uint32_t names, lines;
	struct tpa_pairs
		seen; /* costs of this stack that are counted: with recursion, a call is in it more than once */
	uint64_t sums[EVENTS];
	struct tpa_pairs texts; /* numbers of those that were written */
	uint32_t written[NAMES];
};

static uint32_t number_of(struct tpa_pairs *pairs, uint64_t a, uint64_t b, uint32_t *count)
{
	bool found;
	uint32_t *number = tpa_pairs_at(pairs, a, b, &found);

	if (!found)
		*number = ++*count;
	return *number;
}

static uint32_t function_of(struct callgrind *to, const struct tpa_line *line)
{
	const struct tpa_location *location = line->location;
	char buffer[512];
	struct function function = { .name = tpa_line_name(line, buffer, sizeof(buffer)),
				     .file = location && location->file ? location->file : "???",
				     .module = line->symbol && line->symbol->path[0] ? line->symbol->path : "???" };
	uint32_t name, count = (uint32_t)to->function_count, number;

	function.name = tpa_arena_intern(to->arena, function.name);
	function.file = tpa_arena_intern(to->arena, function.file);
	function.module = tpa_arena_intern(to->arena, function.module);
	name = number_of(&to->by_name, (uintptr_t)function.name, (uintptr_t)function.file, &to->names);
	number = number_of(&to->by_file, name, (uintptr_t)function.module, &count);
	if (count > to->function_count)
		*TPA_APPEND(to->functions, to->function_count, to->function_room) = function;
	return number;
}

static uint32_t line_number(const struct tpa_line *line)
{
	return line->location && line->location->line > 0 ? (uint32_t)line->location->line : 0;
}

static void add_cost(struct callgrind *to, const struct cost *cost, const uint64_t *events)
{
	uint32_t count = (uint32_t)to->cost_count,
		 line = number_of(&to->callers, cost->function, cost->line, &to->lines);
	uint32_t number = number_of(&to->calls, line, (uint64_t)cost->callee << 32 | cost->callee_line, &count);

	if (count > to->cost_count)
		*TPA_APPEND(to->costs, to->cost_count, to->cost_room) = *cost;
	to->costs[number - 1].calls += cost->calls;
	for (int i = 0; i < EVENTS; i++)
		to->costs[number - 1].events[i] += events[i];
}

/* `calls`: how often the stack was there; what callgrind counts as calls. */
static void add_stack(struct callgrind *to, const struct tpa_stack *stack, size_t first, size_t last, uint64_t calls,
		      const uint64_t *events)
{
	uint32_t callee = 0, callee_line = 0;
	bool found;

	for (size_t i = first; i < last; i++) {
		const struct tpa_line *line = &stack->lines[i];
		struct cost cost = { .function = function_of(to, line),
				     .line = line_number(line),
				     .callee = callee,
				     .callee_line = callee_line,
				     .calls = callee ? calls : 0 };

		tpa_pairs_at(&to->seen, cost.function, 0, &found);
		if (!found)
			add_cost(to, &cost, events);
		callee = cost.function;
		callee_line = cost.line;
	}
	tpa_pairs_free(&to->seen);
	for (int i = 0; i < EVENTS; i++)
		to->sums[i] += last > first ? events[i] : 0;
}

static bool add_site(void *to, const struct tpa_export_site *site)
{
	const struct tpa_sums *sums = &site->sums;
	const uint64_t events[EVENTS] = { [ALLOCATED] = sums->bytes,
					  [ALLOCATIONS] = sums->allocations,
					  [PEAK] = sums->peak_bytes,
					  [UNFREED] = sums->live_bytes };

	add_stack(to, site->stack, site->stack->first, site->stack->last, sums->allocations, events);
	return true;
}

static bool add_cpu(void *to, const struct tpa_export_cpu *site)
{
	const uint64_t events[EVENTS] = { [CPU] = site->ns };

	add_stack(to, site->stack, 0, site->stack->last, site->site->cpu.samples, events);
	return true;
}

/* ---- writing ---- */

static int by_function(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return TPA_UP(x->function, y->function) ?: TPA_UP(x->line, y->line) ?: TPA_UP(x->callee, y->callee) ?:
	       TPA_UP(x->callee_line, y->callee_line);
}

/* "KEY=(NUMBER) TEXT", later "KEY=(NUMBER)"; objects, files and functions are numbered each for themselves. */
static void put_text(struct callgrind *to, const char *key, enum names kind, const char *text)
{
	FILE *out = to->export->out;
	uint32_t count = to->written[kind], number = number_of(&to->texts, (uintptr_t)text, kind, &count);

	fprintf(out, "%s=(%" PRIu32 ")", key, number);
	if (count > to->written[kind]) {
		to->written[kind] = count;
		fputc(' ', out);
		tpa_export_valid_text(out, text);
	}
	fputc('\n', out);
}

static void put_events(const struct callgrind *to, const uint64_t *events)
{
	for (int i = 0; i < EVENTS; i++)
		fprintf(to->export->out, " %" PRIu64, events[i]);
	fputc('\n', to->export->out);
}

static void put_cost(struct callgrind *to, const struct cost *cost, const struct cost *before)
{
	const struct function *function = &to->functions[cost->function - 1];
	FILE *out = to->export->out;

	if (!before || before->function != cost->function) {
		fputc('\n', out);
		put_text(to, "ob", OBJECT, function->module);
		put_text(to, "fl", SOURCE, function->file);
		put_text(to, "fn", FUNCTION, function->name);
	}
	if (cost->callee) {
		const struct function *callee = &to->functions[cost->callee - 1];

		put_text(to, "cob", OBJECT, callee->module);
		put_text(to, "cfi", SOURCE, callee->file);
		put_text(to, "cfn", FUNCTION, callee->name);
		fprintf(out, "calls=%" PRIu64 " %" PRIu32 "\n", cost->calls, cost->callee_line);
	}
	fprintf(out, "%" PRIu32, cost->line);
	put_events(to, cost->events);
}

static void put_head(const struct callgrind *to)
{
	const struct tpa_trace *trace = to->export->run->processes[0].trace;
	char *command = tpa_export_command(trace);
	FILE *out = to->export->out;

	fprintf(out,
		"# callgrind format\nversion: 1\ncreator: tprof-analyze " TPROF_VERSION_STRING "\npid: %" PRIu32 "\n",
		trace->header->pid);
	fprintf(out, "cmd: %s", command);
	free(command);
	fputs("\npart: 1\n\ndesc: Trigger: Program termination\n\npositions: line\n"
	      "event: Ns : CPU time, ns\nevent: Allocated : Allocated bytes\nevent: Allocations : Allocations\n"
	      "event: Peak : Bytes live at the peak\nevent: Unfreed : Bytes live at the end\n"
	      "events: Ns Allocated Allocations Peak Unfreed\nsummary:",
	      out);
	put_events(to, to->sums);
}

bool tpa_export_callgrind(struct tpa_export *export)
{
	struct callgrind to = { .export = export, .arena = tpa_arena_new() };

	tpa_export_sites(export, add_site, &to);
	tpa_export_cpu_sites(export, add_cpu, &to);
	if (to.cost_count)
		qsort(to.costs, to.cost_count, sizeof(*to.costs), by_function);
	put_head(&to);
	for (size_t i = 0; i < to.cost_count; i++)
		put_cost(&to, &to.costs[i], i ? &to.costs[i - 1] : NULL);
	fputs("\ntotals:", export->out);
	put_events(&to, to.sums);
	free(to.functions);
	free(to.costs);
	tpa_pairs_free(&to.by_name);
	tpa_pairs_free(&to.by_file);
	tpa_pairs_free(&to.callers);
	tpa_pairs_free(&to.calls);
	tpa_pairs_free(&to.texts);
	tpa_arena_free(to.arena);
	return !ferror(export->out);
}
