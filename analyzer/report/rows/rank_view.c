/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/rank_view.h"

#include <stdio.h>
#include <string.h>

#include "report/rows/units.h"

/* A page fault takes at least that long, by which it is known whether they matter. */
#define FAULT_NS 250

uint32_t tpa_rank_latest(const struct tpa_ranks *ranks)
{
	uint32_t latest = TPA_RANK_NONE;

	for (uint32_t i = 0; i < ranks->count; i++)
		if (ranks->list[i].caused_ns > (latest == TPA_RANK_NONE ? 0 : ranks->list[latest].caused_ns))
			latest = i;
	return latest;
}

uint64_t tpa_rank_each(const struct tpa_ranks *ranks, int64_t caused_ns)
{
	return ranks->count > 1 ? (uint64_t)caused_ns / (ranks->count - 1) : 0;
}

/* "loader.py:88": the file's name alone, which is enough in a sentence. */
static void place_of(const struct tpa_line *line, const struct tpa_trace *trace, char *text, size_t size)
{
	char place[1100];

	tpa_line_place(line, trace->cwd, place, sizeof(place));
	snprintf(text, size, "%s", tpa_file_name(place));
}

static void add(char *text, size_t size, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, size - length, "%s", more);
}

static void add_line(char *text, size_t size, const struct tpa_trace *trace, const struct tpa_line *line)
{
	char name[300], place[300], both[700];

	place_of(line, trace, place, sizeof(place));
	snprintf(both, sizeof(both), "%s (%s)", tpa_line_name(line, name, sizeof(name)), place);
	add(text, size, both);
}

/* "sleep at loader.py:88 (load_batch) for 1.33 s". Users know sleep by many names. */
static void add_wait(char *text, size_t size, const struct tpa_trace *trace, const struct tpa_rank_reason *reason)
{
	char name[300], place[300], all[900];
	size_t length = strlen(reason->wait);
	bool sleeps = length >= 5 && strcmp(reason->wait + length - 5, "sleep") == 0;

	place_of(&reason->wait_line, trace, place, sizeof(place));
	snprintf(all, sizeof(all), "%s at %s (%s) for %s", sleeps ? "sleep" : reason->wait, place,
		 tpa_line_name(&reason->wait_line, name, sizeof(name)), tpa_time((uint64_t)reason->more_wait_ns).text);
	add(text, size, all);
}

static void add_between(char *text, size_t size, const struct tpa_trace *trace, const struct tpa_rank_reason *reason)
{
	char from[300], to[300], buffer[300], both[1000];
	const char *name;

	if (!reason->to.location)
		return;
	place_of(&reason->to, trace, to, sizeof(to));
	name = tpa_line_name(&reason->to, buffer, sizeof(buffer));
	if (reason->from.location) {
		place_of(&reason->from, trace, from, sizeof(from));
		snprintf(both, sizeof(both), " between %s and %s (%s)", from, to, name);
	} else {
		snprintf(both, sizeof(both), " before %s (%s)", to, name);
	}
	add(text, size, both);
}

static void add_not_running(char *text, size_t size, const struct tpa_trace *trace,
			    const struct tpa_rank_reason *reason)
{
	add(text, size, "not running");
	if (reason->op && reason->more_op_ns > reason->more_ns / 2) {
		add(text, size, " in ");
		add(text, size, reason->op);
	}
	add_between(text, size, trace, reason);
}

/* What comes after the largest cause. */
static void add_rest(char *text, size_t size, const struct tpa_trace *trace, const struct tpa_rank_reason *reason)
{
	char more[100];
	bool waits = tpa_rank_reason_waits(reason);

	if (reason->why == TPA_WHY_NOT_RUNNING && waits && tpa_rank_reason_has_line(reason)) {
		snprintf(more, sizeof(more), " for %s", tpa_time((uint64_t)reason->more_line_ns).text);
		add(text, size, ", and ");
		add_line(text, size, trace, &reason->line);
		add(text, size, more);
	} else if (reason->why == TPA_WHY_LINE && waits) {
		add(text, size, ", and ");
		add_wait(text, size, trace, reason);
	} else if (reason->why == TPA_WHY_LINE && reason->more_not_running_ns > reason->more_ns / 2) {
		snprintf(more, sizeof(more), ", and not running for %s",
			 tpa_time((uint64_t)reason->more_not_running_ns).text);
		add(text, size, more);
	}
	if (reason->more_faults >= 100 && reason->more_faults * FAULT_NS > 0.1 * (double)reason->more_ns) {
		snprintf(more, sizeof(more), ", with %s more page faults",
			 tpa_count((uint64_t)reason->more_faults).text);
		add(text, size, more);
	}
}

const char *tpa_rank_reason_text(const struct tpa_rank_view *view, uint32_t rank, const struct tpa_rank_reason *reason,
				 char *text, size_t size)
{
	const struct tpa_trace *trace = tpa_rank_trace(view, rank);

	text[0] = '\0';
	switch (reason->why) {
	case TPA_WHY_LINE:
		add_line(text, size, trace, &reason->line);
		break;
	case TPA_WHY_OP:
		add(text, size, "in ");
		add(text, size, reason->op);
		break;
	case TPA_WHY_NOT_RUNNING:
		if (tpa_rank_reason_waits(reason))
			add_wait(text, size, trace, reason);
		else
			add_not_running(text, size, trace, reason);
		break;
	default:
		return text;
	}
	add_rest(text, size, trace, reason);
	return text;
}
