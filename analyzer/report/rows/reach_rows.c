/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/reach_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

const struct tpa_reach_kind tpa_reach_kinds[TPA_REACH_KINDS] = {
	{ "definitely lost: nothing points to it", "definitely_lost", TPROF_REACH_DEFINITE, true },
	{ "indirectly lost: only lost blocks point to it", "indirectly_lost", TPROF_REACH_INDIRECT, false },
	{ "possibly lost: only pointers into its inside point to it", "possibly_lost", TPROF_REACH_POSSIBLE, true },
	{ "still reachable", "still_reachable", TPROF_REACH_STILL, false },
};

static const struct tpa_process *process_of(const struct tpa_growth_view *view)
{
	return &view->listing.run->processes[view->process];
}

static int by_bytes(const void *a, const void *b)
{
	const struct tpa_reach_sum *x = *(const struct tpa_reach_sum *const *)a;
	const struct tpa_reach_sum *y = *(const struct tpa_reach_sum *const *)b;

	return TPA_DOWN(x->bytes, y->bytes) ?: TPA_UP(x->node, y->node);
}

uint32_t tpa_reach_unknown_waiting(const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;

	return header->snapshot_known < header->snapshot_waiting ? header->snapshot_waiting - header->snapshot_known
								 : 0;
}

uint64_t tpa_reach_unseen_registers(const struct tpa_trace *trace)
{
	return TPROF_KEPT * ((uint64_t)tpa_reach_unknown_waiting(trace) + trace->header->snapshot_running);
}

uint64_t tpa_reach_latest(const struct tpa_trace *trace)
{
	uint64_t ticks = trace->header->search_ticks; /* a search that found no live block leaves nothing else */

	for (size_t i = 0; i < trace->reach_count; i++)
		ticks = trace->reach[i].ticks > ticks ? trace->reach[i].ticks : ticks;
	return ticks;
}

struct tpa_reach_found tpa_reach_find(const struct tpa_growth_view *view, enum tprof_reach reach)
{
	const struct tpa_trace *trace = process_of(view)->trace;
	struct tpa_reach_found found = { .list = tpa_zalloc(trace->reach_count, sizeof(struct tpa_reach_sum *)) };
	uint64_t ticks = tpa_reach_latest(trace);

	for (size_t i = 0; i < trace->reach_count; i++) {
		const struct tpa_reach_sum *sum = &trace->reach[i];

		if (sum->ticks != ticks || sum->reach != reach || !tpa_growth_shown(view, sum->node))
			continue;
		found.list[found.count++] = sum;
		found.bytes += sum->bytes;
		found.blocks += sum->blocks;
	}
	if (found.count)
		qsort(found.list, found.count, sizeof(*found.list), by_bytes);
	return found;
}

/* ---- a search that was asked for and not made ---- */

static const char *ending(const struct tpa_trace *trace)
{
	static const char *const ways[] = {
		"the system call exit_group", "exit()", "_exit()", "_Exit()", "quick_exit()",
		"the system call exit_group"
	};
	const struct tprof_header *header = trace->header;

	switch (header->end) {
	case TPROF_END_EXIT:
		return ways[header->end_way < sizeof(ways) / sizeof(ways[0]) ? header->end_way : 0];
	case TPROF_END_SIGNAL:
		return "a signal";
	case TPROF_END_EXEC:
		return "exec, which replaced the program";
	case TPROF_END_DETACHED:
		return "tprof detach";
	default:
		return "a signal, or the system call exit_group";
	}
}

void tpa_reach_say_unsearched(const struct tpa_trace *trace, char *text, size_t size)
{
	text[0] = 0;
	switch (trace->header->search_at_end) {
	case TPROF_SEARCH_DUE:
		if (trace->running)
			snprintf(text, size, "the process still runs: the check is made at its end");
		else if (trace->header->flags & TPROF_FLAG_STOPPED)
			snprintf(text, size, "recording had ended before the process did");
		else
			snprintf(text, size, "the process was ended by %s, which does not run the check",
				 ending(trace));
		break;
	case TPROF_SEARCH_FORBIDDEN:
		snprintf(
			text, size,
			"permissions forbade it: the process changed its user, or its program may be run but not read");
		break;
	case TPROF_SEARCH_NO_PROGRAM:
		snprintf(text, size,
			 "tprof-analyze could not be started: it belongs to ../bin from where libtprof.so is");
		break;
	case TPROF_SEARCH_FAILED:
		snprintf(text, size, "the search failed; the program's standard error says why");
		break;
	default:
		break;
	}
}

const char *tpa_reach_state(const struct tpa_trace *trace)
{
	switch (trace->header->search_at_end) {
	case TPROF_SEARCH_NOT_ASKED:
		return "not asked";
	case TPROF_SEARCH_DUE:
		return trace->running ? "due" : "passed by";
	case TPROF_SEARCH_DONE:
		return "done";
	case TPROF_SEARCH_FORBIDDEN:
		return "forbidden";
	default:
		return "failed";
	}
}
