/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/rank_listing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/bar.h"

/* Reasons of ranks that made the others wait less than a hundredth of the run are noise. */
#define MATTERS 0.01

static uint64_t shown(uint64_t top, uint64_t count)
{
	return top && top < count ? top : count;
}

static uint64_t length(const struct tpa_ranks *ranks)
{
	return (uint64_t)(ranks->end - ranks->begin);
}

static struct tpa_text time_of(int64_t ns)
{
	return tpa_time(ns > 0 ? (uint64_t)ns : 0);
}

static struct tpa_text number_of(uint32_t number)
{
	return tpa_text_of("%u", number);
}

static void reason_cell(struct tpa_table *table, const struct tpa_rank_view *view, uint32_t rank,
			const struct tpa_rank_reason *reason)
{
	char text[1000];

	tpa_rank_reason_text(view, rank, reason, text, sizeof(text));
	tpa_table_add(table, *text ? TPA_STYLE_FUNCTION : TPA_STYLE_DIM, *text ? text : "-");
}

/* ---- the head ---- */

static void print_size(const struct tpa_page *page, const struct tpa_ranks *ranks)
{
	const struct tpa_rank_process *said = ranks->list[0].said;
	uint64_t all = (uint64_t)(ranks->count * length(ranks));

	tpa_print(page, TPA_STYLE_TITLE, "%zu ranks", ranks->count);
	if (ranks->world > ranks->count)
		tpa_print(page, TPA_STYLE_WARN, " of %u: of the others there is no trace", ranks->world);
	fprintf(page->out, " on %zu host%s", ranks->host_count, tpa_plural(ranks->host_count));
	if (said->launcher)
		fprintf(page->out, ", started by %s", said->launcher);
	fprintf(page->out, "; %s from the first call to the last\n", tpa_time(length(ranks)).text);
	fprintf(page->out, "of their time, %s was waiting for one another, %s transfer\n",
		tpa_percent((uint64_t)ranks->wait_ns, all).text, tpa_percent((uint64_t)ranks->transfer_ns, all).text);
}

static bool matters(const struct tpa_ranks *ranks, const struct tpa_rank *rank)
{
	return (double)tpa_rank_each(ranks, rank->caused_ns) > MATTERS * (double)length(ranks);
}

uint32_t tpa_ranks_late(const struct tpa_ranks *ranks)
{
	uint32_t latest = tpa_rank_latest(ranks);

	return latest == TPA_RANK_NONE || matters(ranks, &ranks->list[latest]) ? latest : TPA_RANK_NONE;
}

void tpa_ranks_answer_print(const struct tpa_page *page, const struct tpa_rank_view *view)
{
	const struct tpa_ranks *ranks = view->ranks;
	uint32_t latest = tpa_ranks_late(ranks);
	const struct tpa_rank *rank = &ranks->list[latest == TPA_RANK_NONE ? 0 : latest];
	char text[1000];

	if (latest == TPA_RANK_NONE) {
		fprintf(page->out, "no rank made the others wait for more than %s of the run\n",
			tpa_share(MATTERS).text);
		return;
	}
	tpa_print(page, TPA_STYLE_WARN, "rank %u made the others wait %s of %s", rank->number,
		  tpa_time(tpa_rank_each(ranks, rank->caused_ns)).text, tpa_time(length(ranks)).text);
	tpa_rank_reason_text(view, latest, &view->reasons->ranks[latest], text, sizeof(text));
	fprintf(page->out, "%s%s\n", *text ? ": " : "", text);
}

/* ---- tables ---- */

static int compare_caused(const void *left, const void *right)
{
	const struct tpa_rank *const *a = left, *const *b = right;

	if ((*a)->caused_ns != (*b)->caused_ns)
		return (*a)->caused_ns < (*b)->caused_ns ? 1 : -1;
	return (*a)->number < (*b)->number ? -1 : 1;
}

static const struct tpa_rank **by_caused(const struct tpa_ranks *ranks)
{
	const struct tpa_rank **list = malloc(ranks->count * sizeof(*list));

	for (size_t i = 0; list && i < ranks->count; i++)
		list[i] = &ranks->list[i];
	if (list)
		qsort(list, ranks->count, sizeof(const struct tpa_rank *), compare_caused);
	return list;
}

static void print_ranks(const struct tpa_page *page, const struct tpa_rank_view *view, uint64_t top)
{
	const struct tpa_ranks *ranks = view->ranks;
	const struct tpa_rank **list = by_caused(ranks);
	uint64_t rows = shown(top, ranks->count), all = length(ranks);
	struct tpa_table *table;

	if (!list)
		return;
	tpa_headline(page, "Ranks, by how long they made the others wait");
	table = tpa_table_new(
		">rank|>made wait|>late|>waited|>transfer|>on the path|>gain|*did longer than the others");
	for (uint64_t i = 0; i < rows; i++) {
		const struct tpa_rank *rank = list[i];
		uint32_t index = (uint32_t)(rank - ranks->list);

		tpa_cell(table, TPA_STYLE_PLAIN, number_of(rank->number));
		tpa_cell(table, TPA_STYLE_NUMBER, time_of((int64_t)tpa_rank_each(ranks, rank->caused_ns)));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_count(rank->late));
		tpa_cell(table, TPA_STYLE_PLAIN, time_of(rank->wait_ns));
		tpa_cell(table, TPA_STYLE_PLAIN, time_of(rank->transfer_ns));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_percent((uint64_t)rank->path_ns, all));
		tpa_cell(table, TPA_STYLE_PLAIN, time_of(rank->gain_ns));
		reason_cell(table, view, index, &view->reasons->ranks[index]);
	}
	tpa_table_end(table, page);
	tpa_rest_print(page, ranks->count, rows, " rank");
	fputs("  made wait: each of the others, on average; gain: how much earlier the run would be over, had the "
	      "rank\n"
	      "  taken as long as the others' median before each collective to which it came last\n",
	      page->out);
	free((void *)list);
}

static void print_late(const struct tpa_page *page, const struct tpa_rank_view *view, uint64_t top)
{
	const struct tpa_ranks *ranks = view->ranks;
	uint64_t rows = shown(top, view->reasons->case_count);
	struct tpa_table *table;

	if (!rows || !ranks->late[0].step)
		return;
	tpa_headline(page, "Steps in which a rank made the others wait longest");
	table = tpa_table_new(">step|>rank|>made wait|>gain|*did longer than the others");
	for (uint32_t i = 0; i < rows; i++) {
		const struct tpa_rank_late *late = &ranks->late[i];

		tpa_cell(table, TPA_STYLE_PLAIN, late->step ? tpa_count(late->step) : tpa_text_of("-"));
		tpa_cell(table, TPA_STYLE_PLAIN, number_of(ranks->list[late->rank].number));
		tpa_cell(table, TPA_STYLE_NUMBER, time_of((int64_t)tpa_rank_each(ranks, late->caused_ns)));
		tpa_cell(table, TPA_STYLE_PLAIN, time_of(late->gain_ns));
		reason_cell(table, view, late->rank, &view->reasons->cases[i]);
	}
	tpa_table_end(table, page);
	tpa_rest_print(page, ranks->late_count, rows, " row");
}

static void print_functions(const struct tpa_page *page, const struct tpa_ranks *ranks, uint64_t top)
{
	uint64_t rows = shown(top, ranks->function_count);
	struct tpa_table *table;

	if (!rows)
		return;
	tpa_headline(page, "Collectives, by the time that ranks waited in them");
	table = tpa_table_new(">waited|>transfer|>calls|>sent|why|*function");
	for (uint64_t i = 0; i < rows; i++) {
		const struct tpa_rank_function *function = &ranks->functions[i];

		tpa_cell(table, TPA_STYLE_NUMBER, time_of(function->wait_ns));
		tpa_cell(table, TPA_STYLE_PLAIN, time_of(function->transfer_ns));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_count(function->calls));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_bytes(function->bytes, page->exact));
		tpa_table_add(table, TPA_STYLE_PLAIN,
			      function->pattern ? tpa_wait_pattern_name(function->pattern) : "-");
		tpa_table_add(table, TPA_STYLE_FUNCTION, function->name);
	}
	tpa_table_end(table, page);
	tpa_rest_print(page, ranks->function_count, rows, " function");
}

static void print_messages(const struct tpa_page *page, const struct tpa_ranks *ranks)
{
	if (!ranks->messages)
		return;
	tpa_headline(page, "Messages: %s", tpa_count(ranks->messages).text);
	fprintf(page->out, "  %s: receivers waited %s; %s: senders waited %s\n",
		tpa_wait_pattern_name(TPA_WAIT_LATE_SENDER), time_of(ranks->wait_by[TPA_WAIT_LATE_SENDER]).text,
		tpa_wait_pattern_name(TPA_WAIT_LATE_RECEIVER), time_of(ranks->wait_by[TPA_WAIT_LATE_RECEIVER]).text);
}

/* "64 B to 127 B: 12,000" of the size that most have. */
static struct tpa_text most_sizes(const struct tpa_page *page, const struct tpa_rank_communicator *communicator)
{
	unsigned most = 0;

	for (unsigned i = 1; i < TPA_RANK_SIZES; i++)
		if (communicator->sizes[i] > communicator->sizes[most])
			most = i;
	if (!communicator->sizes[most])
		return tpa_text_of("-");
	return most ? tpa_text_of("%s and more", tpa_bytes(UINT64_C(1) << (most - 1), page->exact).text)
		    : tpa_text_of("0 B");
}

static void print_communicators(const struct tpa_page *page, const struct tpa_ranks *ranks, uint64_t top)
{
	uint64_t rows = 0, used = 0;
	struct tpa_table *table =
		tpa_table_new(">ranks|>calls|>messages|>sent|>a second|>most of|>waited|*communicator");

	for (size_t i = 0; i < ranks->communicator_count; i++) {
		const struct tpa_rank_communicator *of = &ranks->communicators[i];
		double seconds = (double)of->transfer_ns / 1e9;

		if (!of->calls && !of->messages)
			continue;
		used++;
		if (top && rows >= top)
			continue;
		rows++;
		tpa_cell(table, TPA_STYLE_PLAIN, number_of(of->size));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_count(of->calls));
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_count(of->messages));
		tpa_cell(table, TPA_STYLE_NUMBER, tpa_bytes(of->bytes, page->exact));
		tpa_cell(table, TPA_STYLE_PLAIN,
			 seconds > 0 ? tpa_bytes((uint64_t)((double)of->bytes / seconds), page->exact)
				     : tpa_text_of("-"));
		tpa_cell(table, TPA_STYLE_PLAIN, most_sizes(page, of));
		tpa_cell(table, TPA_STYLE_PLAIN, time_of(of->wait_ns));
		tpa_table_add(table, TPA_STYLE_FUNCTION, of->name);
	}
	if (rows) {
		tpa_headline(page, "Communicators: bytes sent, also by second of transfer");
		tpa_table_end(table, page);
		tpa_rest_print(page, used, rows, " communicator");
	} else {
		tpa_table_free(table);
	}
}

static void print_sizes(const struct tpa_page *page, const struct tpa_ranks *ranks)
{
	uint64_t sizes[TPA_RANK_SIZES] = { 0 }, most = 0;
	struct tpa_table *table;

	for (size_t c = 0; c < ranks->communicator_count; c++)
		for (unsigned i = 0; i < TPA_RANK_SIZES; i++)
			sizes[i] += ranks->communicators[c].sizes[i];
	for (unsigned i = 0; i < TPA_RANK_SIZES; i++)
		most = sizes[i] > most ? sizes[i] : most;
	if (!most)
		return;
	tpa_headline(page, "Sizes of what a call sends");
	table = tpa_table_new(page->bars ? ">from|>calls|" : ">from|>calls");
	for (unsigned i = 0; i < TPA_RANK_SIZES; i++) {
		if (!sizes[i])
			continue;
		tpa_cell(table, TPA_STYLE_PLAIN, tpa_bytes(i ? UINT64_C(1) << (i - 1) : 0, page->exact));
		tpa_cell(table, TPA_STYLE_NUMBER, tpa_count(sizes[i]));
		if (page->bars)
			tpa_cell(table, TPA_STYLE_PLAIN, tpa_bar(page, (double)sizes[i] / (double)most));
	}
	tpa_table_end(table, page);
}

static int compare_steps(const void *left, const void *right)
{
	const struct tpa_rank_step *const *a = left, *const *b = right;
	double mine = (*a)->slowest_ns - (*a)->mean_ns, other = (*b)->slowest_ns - (*b)->mean_ns;

	return mine < other ? 1 : mine > other ? -1 : (*a)->first < (*b)->first ? -1 : 1;
}

static void print_steps(const struct tpa_page *page, const struct tpa_rank_view *view, uint64_t top)
{
	const struct tpa_rank_steps *steps = &view->steps;
	const struct tpa_rank_step **list = malloc((steps->count + 1) * sizeof(*list));
	uint64_t rows = shown(top, steps->count);
	struct tpa_table *table;

	if (!list || !steps->count) {
		free((void *)list);
		return;
	}
	for (size_t i = 0; i < steps->count; i++)
		list[i] = &steps->list[i];
	qsort(list, steps->count, sizeof(const struct tpa_rank_step *), compare_steps);
	tpa_headline(page, "Imbalance of steps: time without waiting");
	table = tpa_table_new(">step|>slowest rank|>its time|>mean|>more|>all waited");
	for (uint64_t i = 0; i < rows; i++) {
		const struct tpa_rank_step *step = list[i];

		tpa_cell(table, TPA_STYLE_PLAIN, tpa_range_text(step->first, step->steps));
		tpa_cell(table, TPA_STYLE_PLAIN, number_of(view->ranks->list[step->slowest].number));
		tpa_cell(table, TPA_STYLE_NUMBER, time_of((int64_t)step->slowest_ns));
		tpa_cell(table, TPA_STYLE_PLAIN, time_of((int64_t)step->mean_ns));
		tpa_cell(table, TPA_STYLE_PLAIN,
			 step->mean_ns > 0 ? tpa_share(step->slowest_ns / step->mean_ns - 1) : tpa_text_of("-"));
		tpa_cell(table, TPA_STYLE_PLAIN, time_of((int64_t)step->wait_ns));
	}
	tpa_table_end(table, page);
	tpa_rest_print(page, steps->count, rows, " row");
	free((void *)list);
}

/* ---- what the numbers rest on ---- */

static struct tpa_text signed_time(double ns)
{
	return tpa_text_of("%s%s", ns < 0 ? "-" : "+", tpa_time((uint64_t)fabs(ns)).text);
}

static void print_clocks(const struct tpa_page *page, const struct tpa_ranks *ranks)
{
	static const char *const sources[] = { [TPA_CLOCK_OWN] = "the others are set by it",
					       [TPA_CLOCK_BOUND] = "set by calls that wait for one another",
					       [TPA_CLOCK_HALF] = "bounded from one side only",
					       [TPA_CLOCK_NTP] = "by NTP: no call bounds it",
					       [TPA_CLOCK_TAKEN] = "taken as it is: no call bounds it" };
	struct tpa_table *table;

	if (ranks->host_count < 2)
		return;
	tpa_headline(page, "Clocks of the hosts");
	table = tpa_table_new("host|>ranks|>moved by|>error at most|>drift|*how");
	for (size_t i = 0; i < ranks->host_count; i++) {
		const struct tpa_rank_host *host = &ranks->hosts[i];

		tpa_table_add(table, TPA_STYLE_FUNCTION, host->name ? host->name : "?");
		tpa_cell(table, TPA_STYLE_PLAIN, number_of(host->ranks));
		tpa_cell(table, TPA_STYLE_NUMBER, i ? signed_time(host->offset_ns) : tpa_text_of("-"));
		tpa_cell(table, TPA_STYLE_PLAIN,
			 isnan(host->error_ns) ? tpa_text_of("not known") : time_of((int64_t)host->error_ns));
		tpa_cell(table, TPA_STYLE_PLAIN,
			 host->source == TPA_CLOCK_BOUND ? tpa_text_of("%+.2f ppm", host->drift * 1e6)
							 : tpa_text_of("-"));
		if (host->source == TPA_CLOCK_TAKEN && host->ntp.known && !host->ntp.synchronised)
			tpa_table_add(table, TPA_STYLE_WARN,
				      "taken as it is: no call bounds it, not synchronised by NTP");
		else
			tpa_table_add(table, host->contradictory ? TPA_STYLE_WARN : TPA_STYLE_PLAIN,
				      host->contradictory ? "calls contradict one another: its clock did not run evenly"
							  : sources[host->source]);
	}
	tpa_table_end(table, page);
}

static void note(const struct tpa_page *page, uint64_t count, const char *what)
{
	if (count)
		tpa_print(page, TPA_STYLE_WARN, "note: %s %s\n", tpa_count(count).text, what);
}

static void print_missing(const struct tpa_page *page, const struct tpa_ranks *ranks)
{
	if (ranks->incomplete || ranks->unmatched || ranks->lost || ranks->disagreeing)
		fputc('\n', page->out);
	note(page, ranks->incomplete,
	     "collectives lack ranks, which were not recorded or lost it: who came last may be one of these");
	note(page, ranks->unmatched, "calls have no partner in another rank's trace");
	note(page, ranks->disagreeing, "collectives are not the same call in all ranks: their waiting is not known");
	note(page, ranks->lost, "calls were lost or are damaged");
}

void tpa_ranks_print(const struct tpa_page *page, const struct tpa_rank_view *view, uint64_t top)
{
	print_size(page, view->ranks);
	tpa_ranks_answer_print(page, view);
	print_ranks(page, view, top);
	print_late(page, view, top);
	print_functions(page, view->ranks, top);
	print_messages(page, view->ranks);
	print_steps(page, view, top);
	print_communicators(page, view->ranks, top);
	print_sizes(page, view->ranks);
	print_clocks(page, view->ranks);
	print_missing(page, view->ranks);
}
