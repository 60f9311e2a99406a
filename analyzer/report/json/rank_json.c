/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/rank_json.h"

#include <math.h>

#include "report/json/json_stack.h"
#include "report/json/json_value.h"

#define of_number tpa_json_number

static json_t *ns_of(int64_t ns)
{
	return json_integer((json_int_t)ns);
}

static json_t *frame_of(const struct tpa_line *line)
{
	return line->location ? tpa_json_frame(line) : json_null();
}

static size_t shown(uint64_t top, size_t count)
{
	return top && top < count ? (size_t)top : count;
}

/* ---- why ---- */

static void set_reason(json_t *json, const struct tpa_rank_view *view, uint32_t rank,
		       const struct tpa_rank_reason *reason)
{
	char text[1000];

	tpa_rank_reason_text(view, rank, reason, text, sizeof(text));
	tpa_json_set(json, "why", json_string(tpa_rank_why_name(reason->why)));
	tpa_json_set(json, "what", *text ? tpa_json_string(text) : json_null());
	tpa_json_set(json, "frame", frame_of(&reason->frame));
	tpa_json_set(json, "from", frame_of(&reason->from));
	tpa_json_set(json, "to", frame_of(&reason->to));
	tpa_json_set(json, "op", tpa_json_string(reason->op));
	tpa_json_set(json, "wait", tpa_json_string(reason->wait));
	tpa_json_set(json, "more_ns", ns_of(reason->more_ns));
	tpa_json_set(json, "more_op_ns", ns_of(reason->more_op_ns));
	tpa_json_set(json, "more_line_ns", ns_of(reason->more_line_ns));
	tpa_json_set(json, "more_wait_ns", ns_of(reason->more_wait_ns));
	tpa_json_set(json, "more_not_running_ns", ns_of(reason->more_not_running_ns));
	tpa_json_set(json, "more_page_faults", json_integer((json_int_t)llround(reason->more_faults)));
}

static json_t *late_json(const struct tpa_rank_view *view, uint64_t top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < shown(top, view->reasons->case_count); i++) {
		const struct tpa_rank_late *late = &view->ranks->late[i];
		json_t *json = json_object();

		tpa_json_set(json, "rank", of_number(view->ranks->list[late->rank].number));
		tpa_json_set(json, "step", late->step ? of_number(late->step) : json_null());
		tpa_json_set(json, "caused_wait_ns", ns_of(late->caused_ns));
		tpa_json_set(json, "gain_ns", ns_of(late->gain_ns));
		tpa_json_set(json, "calls", of_number(late->groups));
		set_reason(json, view, late->rank, &view->reasons->cases[i]);
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *rank_json(const struct tpa_rank_view *view, uint32_t index)
{
	const struct tpa_ranks *ranks = view->ranks;
	const struct tpa_rank *rank = &ranks->list[index];
	json_t *json = json_object();

	tpa_json_set(json, "rank", of_number(rank->number));
	tpa_json_set(json, "pid", of_number(tpa_rank_trace(view, index)->header->pid));
	tpa_json_set(json, "local_rank",
		     rank->said->local_rank == TPA_COMM_UNKNOWN ? json_null() : of_number(rank->said->local_rank));
	tpa_json_set(json, "host", tpa_json_string(rank->said->host));
	tpa_json_set(json, "wait_ns", ns_of(rank->wait_ns));
	tpa_json_set(json, "transfer_ns", ns_of(rank->transfer_ns));
	tpa_json_set(json, "caused_wait_ns", ns_of(rank->caused_ns));
	tpa_json_set(json, "caused_wait_error_ns",
		     rank->caused_error_ns < 0 ? json_null() : ns_of(rank->caused_error_ns));
	tpa_json_set(json, "gain_ns", ns_of(rank->gain_ns));
	tpa_json_set(json, "critical_path_ns", ns_of(rank->path_ns));
	tpa_json_set(json, "late_calls", of_number(rank->late));
	tpa_json_set(json, "unmatched", of_number(rank->unmatched));
	set_reason(json, view, index, &view->reasons->ranks[index]);
	return json;
}

/* ---- what they called ---- */

static json_t *pattern_json(enum tpa_wait_pattern pattern)
{
	return pattern ? json_string(tpa_wait_pattern_name(pattern)) : json_null();
}

static json_t *functions_json(const struct tpa_ranks *ranks)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ranks->function_count; i++) {
		const struct tpa_rank_function *function = &ranks->functions[i];

		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", tpa_json_string(function->name),
				  "calls", of_number(function->calls), "matched", of_number(function->groups),
				  "transfer_ns", ns_of(function->transfer_ns), "wait_ns", ns_of(function->wait_ns),
				  "pattern", pattern_json(function->pattern), "bytes", of_number(function->bytes)));
	}
	return list;
}

static json_t *waits_json(const struct tpa_ranks *ranks)
{
	json_t *list = json_array();

	for (unsigned i = TPA_WAIT_NONE + 1; i < TPA_WAIT_PATTERNS; i++)
		if (ranks->wait_by[i])
			json_array_append_new(list, json_pack("{s:s, s:o}", "pattern",
							      tpa_wait_pattern_name((enum tpa_wait_pattern)i),
							      "wait_ns", ns_of(ranks->wait_by[i])));
	return list;
}

static json_t *sizes_json(const struct tpa_rank_communicator *communicator)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < TPA_RANK_SIZES; i++)
		if (communicator->sizes[i])
			json_array_append_new(list, json_pack("{s:o, s:o}", "from_bytes",
							      of_number(i ? UINT64_C(1) << (i - 1) : 0), "calls",
							      of_number(communicator->sizes[i])));
	return list;
}

static json_t *communicators_json(const struct tpa_ranks *ranks)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ranks->communicator_count; i++) {
		const struct tpa_rank_communicator *of = &ranks->communicators[i];
		double seconds = (double)of->transfer_ns / 1e9;
		json_t *json;

		if (!of->calls && !of->messages)
			continue;
		json = json_object();
		tpa_json_set(json, "name", tpa_json_string(of->name));
		tpa_json_set(json, "size", of_number(of->size));
		tpa_json_set(json, "seen", of_number(of->seen));
		tpa_json_set(json, "calls", of_number(of->calls));
		tpa_json_set(json, "messages", of_number(of->messages));
		tpa_json_set(json, "bytes", of_number(of->bytes));
		tpa_json_set(json, "bytes_per_s", seconds > 0 ? json_real((double)of->bytes / seconds) : json_null());
		tpa_json_set(json, "wait_ns", ns_of(of->wait_ns));
		tpa_json_set(json, "transfer_ns", ns_of(of->transfer_ns));
		tpa_json_set(json, "sizes", sizes_json(of));
		json_array_append_new(list, json);
	}
	return list;
}

/* ---- when ---- */

static json_t *ntp_json(const struct tpa_rank_ntp *ntp)
{
	if (!ntp->known)
		return json_null();
	return json_pack("{s:b, s:o, s:o}", "synchronised", ntp->synchronised, "max_error_ns",
			 of_number(ntp->max_error_ns), "estimated_error_ns", of_number(ntp->estimated_error_ns));
}

static json_t *hosts_json(const struct tpa_ranks *ranks)
{
	static const char *const sources[] = { [TPA_CLOCK_OWN] = "reference",
					       [TPA_CLOCK_BOUND] = "calls",
					       [TPA_CLOCK_HALF] = "one-sided",
					       [TPA_CLOCK_NTP] = "ntp",
					       [TPA_CLOCK_TAKEN] = "unix-time" };
	json_t *list = json_array();

	for (size_t i = 0; i < ranks->host_count; i++) {
		const struct tpa_rank_host *host = &ranks->hosts[i];

		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:b, s:o}", "name",
						      tpa_json_string(host->name), "ranks", of_number(host->ranks),
						      "offset_ns", tpa_json_real(host->offset_ns), "error_ns",
						      tpa_json_real(host->error_ns), "drift_ppm",
						      tpa_json_real(host->drift * 1e6), "clock", sources[host->source],
						      "bounds", of_number(host->bounds), "contradictory",
						      host->contradictory, "ntp", ntp_json(&host->ntp)));
	}
	return list;
}

static json_t *cells_json(const struct tpa_rank_view *view, size_t step)
{
	const struct tpa_rank_steps *steps = &view->steps;
	json_t *list = json_array();

	for (size_t r = 0; r < view->ranks->count; r++) {
		const struct tpa_rank_cell *cell = &steps->cells[r * steps->count + step];

		json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "time_ns", ns_of(llround(cell->ns)), "wait_ns",
						      ns_of(llround(cell->wait_ns)), "high_bytes",
						      of_number(cell->high_bytes)));
	}
	return list;
}

static json_t *steps_json(const struct tpa_rank_view *view)
{
	json_t *list = json_array();

	for (size_t i = 0; i < view->steps.count; i++) {
		const struct tpa_rank_step *step = &view->steps.list[i];

		json_array_append_new(
			list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "step", of_number(step->first), "steps",
					of_number(step->steps), "slowest_rank",
					of_number(view->ranks->list[step->slowest].number), "slowest_ns",
					ns_of(llround(step->slowest_ns)), "mean_ns", ns_of(llround(step->mean_ns)),
					"wait_ns", ns_of(llround(step->wait_ns)), "ranks", cells_json(view, i)));
	}
	return list;
}

static json_t *path_json(const struct tpa_ranks *ranks, uint64_t top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < shown(top, ranks->path_count); i++) {
		const struct tpa_rank_piece *piece = &ranks->path[i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o}", "rank", of_number(ranks->list[piece->rank].number),
						"begin_ns", ns_of(piece->begin - ranks->begin), "end_ns",
						ns_of(piece->end - ranks->begin)));
	}
	return list;
}

json_t *tpa_ranks_json(const struct tpa_rank_view *view, uint64_t top)
{
	const struct tpa_ranks *ranks = view->ranks;
	json_t *json = json_object(), *list = json_array();

	for (uint32_t i = 0; i < ranks->count; i++)
		json_array_append_new(list, rank_json(view, i));
	tpa_json_set(json, "count", of_number(ranks->count));
	tpa_json_set(json, "expected", ranks->world ? of_number(ranks->world) : json_null());
	tpa_json_set(json, "launcher", tpa_json_string(ranks->list[0].said->launcher));
	tpa_json_set(json, "job", tpa_json_string(ranks->list[0].said->job));
	tpa_json_set(json, "duration_ns", ns_of(ranks->end - ranks->begin));
	tpa_json_set(json, "wait_ns", ns_of(ranks->wait_ns));
	tpa_json_set(json, "transfer_ns", ns_of(ranks->transfer_ns));
	tpa_json_set(json, "clock_error_ns", tpa_json_real(ranks->error_ns));
	tpa_json_set(json, "late", late_json(view, top));
	tpa_json_set(json, "list", list);
	tpa_json_set(json, "collectives", functions_json(ranks));
	tpa_json_set(json, "collectives_matched", of_number(ranks->collectives));
	tpa_json_set(json, "collectives_incomplete", of_number(ranks->incomplete));
	tpa_json_set(json, "collectives_disagreeing", of_number(ranks->disagreeing));
	tpa_json_set(json, "messages_matched", of_number(ranks->messages));
	tpa_json_set(json, "unmatched", of_number(ranks->unmatched));
	tpa_json_set(json, "calls_lost", of_number(ranks->lost));
	tpa_json_set(json, "waits", waits_json(ranks));
	tpa_json_set(json, "communicators", communicators_json(ranks));
	tpa_json_set(json, "hosts", hosts_json(ranks));
	tpa_json_set(json, "steps", steps_json(view));
	tpa_json_set(json, "critical_path", path_json(ranks, top));
	return json;
}
