/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's clock against one that is set already is a line: offset + drift * time. Each group with ranks on both hosts bounds it. Say x
 * waits for y: x left after y came, so where x is on the host that is set, the offset is at most x's end - y's post, and where y is,
 * at least y's post - x's end, at that time of the host's own clock. Of the bounds of 64 equal parts of the run the tightest are kept.
 *
 * The line is the one in the middle of the widest gap between lower and upper bounds: the gap is a concave function of the drift, so its
 * largest value is found by a search. The error is the distance to the outermost lines that keep all bounds, at the ends of the run. The
 * drift is at most 500 ppm, beyond which clocks are not disciplined (RFC 5905).
 *
 * Hosts that share no group with the first one are set by others that were set before; the errors add up.
 *
 * What calls leave open is bounded by what NTP says of both clocks: the kernel's largest error at the start, which grows by 500 ppm
 * until the daemon sets the clock again.
 */
#include "model/ranks/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/ranks/flows.h"

#define PARTS 64u
#define DRIFT_MOST 5e-4
#define SEARCH_STEPS 200
#define FIT_ERROR 50000 /* ns by which the clocks of two processes of a host may differ: each is fitted on its own */

/* The tightest bound of a part of the run. */
struct bound {
	bool known;
	int64_t value;	/* of the offset */
	int64_t at;	/* of the host's own clock */
	double reduced; /* value without the drift that is known so far: what is compared */
};

struct bounds {
	struct bound lower[PARTS], upper[PARTS];
	int64_t begin, end; /* of the host's own clock */
	double drift;	    /* known so far */
	uint64_t count;
};

struct line {
	double offset, drift; /* offset in the middle of the run */
};

/* ---- searching the line; times are relative to the middle of the run ---- */

static double middle_of(const struct bounds *bounds)
{
	return (double)(bounds->end - bounds->begin) / 2;
}

static double when(const struct bounds *bounds, const struct bound *bound)
{
	return (double)(bound->at - bounds->begin) - middle_of(bounds);
}

static double least_upper(const struct bounds *bounds, double drift)
{
	double least = INFINITY;

	for (size_t i = 0; i < PARTS; i++)
		if (bounds->upper[i].known)
			least = fmin(least, (double)bounds->upper[i].value - drift * when(bounds, &bounds->upper[i]));
	return least;
}

static double most_lower(const struct bounds *bounds, double drift)
{
	double most = -INFINITY;

	for (size_t i = 0; i < PARTS; i++)
		if (bounds->lower[i].known)
			most = fmax(most, (double)bounds->lower[i].value - drift * when(bounds, &bounds->lower[i]));
	return most;
}

static double gap(const struct bounds *bounds, double drift, double unused)
{
	(void)unused;
	return least_upper(bounds, drift) - most_lower(bounds, drift);
}

/* The highest offset at the time that a line of that drift may have; the lowest, as a negative number. */
static double highest(const struct bounds *bounds, double drift, double time)
{
	return least_upper(bounds, drift) + drift * time;
}

static double lowest(const struct bounds *bounds, double drift, double time)
{
	return -(most_lower(bounds, drift) + drift * time);
}

typedef double concave(const struct bounds *bounds, double drift, double time);

/* Where between low and high the concave function has its largest value. */
static double search_most(concave *function, const struct bounds *bounds, double time, double low, double high)
{
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double a = low + (high - low) / 3, b = high - (high - low) / 3;

		if (function(bounds, a, time) < function(bounds, b, time))
			low = a;
		else
			high = b;
	}
	return (low + high) / 2;
}

/* The drift between `good`, at which there is a line, and `end`, up to which there is one. */
static double search_edge(const struct bounds *bounds, double good, double end)
{
	if (gap(bounds, end, 0) >= 0)
		return end;
	for (int i = 0; i < SEARCH_STEPS; i++) {
		double between = (good + end) / 2;

		if (gap(bounds, between, 0) >= 0)
			good = between;
		else
			end = between;
	}
	return good;
}

static double error_of(const struct bounds *bounds, const struct line *line)
{
	double low = search_edge(bounds, line->drift, -DRIFT_MOST), high = search_edge(bounds, line->drift, DRIFT_MOST),
	       error = 0;

	for (int side = -1; side <= 1; side += 2) {
		double time = side * middle_of(bounds), here = line->offset + line->drift * time;
		double most = highest(bounds, search_most(highest, bounds, time, low, high), time);
		double least = -lowest(bounds, search_most(lowest, bounds, time, low, high), time);

		error = fmax(error, fmax(most - here, here - least));
	}
	return error;
}

static struct line line_of(const struct bounds *bounds)
{
	double drift = search_most(gap, bounds, 0, -DRIFT_MOST, DRIFT_MOST);

	return (struct line){ (least_upper(bounds, drift) + most_lower(bounds, drift)) / 2, drift };
}

/* ---- collecting bounds ---- */

static void keep(struct bounds *bounds, struct bound *list, int64_t value, int64_t at, int sign)
{
	double span = (double)(bounds->end - bounds->begin) + 1;
	size_t part = (size_t)((double)(at - bounds->begin) / span * PARTS);
	struct bound *bound = &list[part < PARTS ? part : PARTS - 1];
	double reduced = (double)value - bounds->drift * ((double)(at - bounds->begin) - middle_of(bounds));

	bounds->count++;
	if (bound->known && sign * (reduced - bound->reduced) >= 0)
		return;
	*bound = (struct bound){ .known = true, .value = value, .at = at, .reduced = reduced };
}

/* Of a group, on one host: the first end of those that wait, and the last post of those that are awaited. */
struct extremes {
	bool waits, awaited;
	int64_t first_end, last_post;
};

static bool waits(const struct tpa_rank_match *group, const struct tpa_rank_op *op)
{
	return !op->open && (group->message ? op->kind == TPA_COMM_RECEIVE : tpa_flow_waits(op));
}

static bool is_awaited(const struct tpa_rank_match *group, const struct tpa_rank_op *op)
{
	return group->message ? op->kind == TPA_COMM_SEND : tpa_flow_is_awaited(op);
}

static struct extremes extremes_of(const struct tpa_ranks *ranks, const struct tpa_rank_match *group, uint32_t host)
{
	struct extremes found = { 0 };

	for (uint32_t i = 0; i < group->count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[ranks->members[group->first + i]];

		/* Of a scan only some wait for others. */
		if (ranks->list[op->rank].host != host || op->flow == TPA_FLOW_PREFIX)
			continue;
		if (waits(group, op) && (!found.waits || op->end < found.first_end)) {
			found.waits = true;
			found.first_end = op->end;
		}
		if (is_awaited(group, op) && (!found.awaited || op->post > found.last_post)) {
			found.awaited = true;
			found.last_post = op->post;
		}
	}
	return found;
}

static void collect(const struct tpa_ranks *ranks, uint32_t set, uint32_t host, struct bounds *bounds)
{
	for (size_t i = 0; i < ranks->group_count; i++) {
		const struct tpa_rank_match *group = &ranks->groups[i];
		struct extremes known = extremes_of(ranks, group, set), own;

		if (!known.waits && !known.awaited)
			continue;
		own = extremes_of(ranks, group, host);
		if (known.waits && own.awaited)
			keep(bounds, bounds->upper, known.first_end - own.last_post, own.last_post, 1);
		if (own.waits && known.awaited)
			keep(bounds, bounds->lower, known.last_post - own.first_end, own.first_end, -1);
	}
}

static struct bounds begin_bounds(const struct tpa_ranks *ranks, uint32_t host)
{
	struct bounds bounds = { 0 };
	bool any = false;

	for (size_t i = 0; i < ranks->op_count; i++) {
		const struct tpa_rank_op *op = &ranks->ops[i];

		if (ranks->list[op->rank].host != host)
			continue;
		bounds.begin = !any || op->post < bounds.begin ? op->post : bounds.begin;
		bounds.end = !any || op->end > bounds.end ? op->end : bounds.end;
		any = true;
	}
	return bounds;
}

/* ---- hosts ---- */

static int64_t moved(const struct tpa_rank_host *host, int64_t time)
{
	return time + llround(host->offset_ns + host->drift * (double)(time - host->middle_ns));
}

static void move_host(struct tpa_ranks *ranks, uint32_t index)
{
	const struct tpa_rank_host *host = &ranks->hosts[index];

	for (size_t i = 0; i < ranks->op_count; i++) {
		struct tpa_rank_op *op = &ranks->ops[i];

		if (ranks->list[op->rank].host != index)
			continue;
		op->post = moved(host, op->post);
		op->begin = moved(host, op->begin);
		op->end = moved(host, op->end);
	}
}

static bool is_bounded(const struct bounds *bounds)
{
	return isfinite(least_upper(bounds, 0)) && isfinite(most_lower(bounds, 0));
}

/* Sets a host's clock by one that is set. False: it is not bounded from both sides. */
static bool set_by(struct tpa_ranks *ranks, uint32_t set, uint32_t index)
{
	struct tpa_rank_host *host = &ranks->hosts[index];
	struct bounds bounds = begin_bounds(ranks, index);
	struct line line;

	collect(ranks, set, index, &bounds);
	if (!is_bounded(&bounds))
		return false;
	/* Which bounds of a part are the tightest depends on the drift. */
	for (int pass = 0; pass < 2; pass++) {
		struct bounds again = { .begin = bounds.begin, .end = bounds.end, .drift = line_of(&bounds).drift };

		collect(ranks, set, index, &again);
		bounds = again;
	}
	line = line_of(&bounds);
	host->source = TPA_CLOCK_BOUND;
	host->bounds = bounds.count;
	host->middle_ns = bounds.begin + (bounds.end - bounds.begin) / 2;
	host->offset_ns = line.offset;
	host->drift = line.drift;
	host->contradictory = gap(&bounds, line.drift, 0) < -FIT_ERROR;
	host->error_ns = gap(&bounds, line.drift, 0) < 0 ? -gap(&bounds, line.drift, 0) : error_of(&bounds, &line);
	host->error_ns += ranks->hosts[set].error_ns;
	move_host(ranks, index);
	return true;
}

/* By how much the two clocks may differ at most, as NTP says; NAN: it says nothing. */
static double ntp_error(const struct tpa_ranks *ranks, const struct tpa_rank_host *host, const struct bounds *bounds)
{
	const struct tpa_rank_ntp *own = &host->ntp, *first = &ranks->hosts[0].ntp;

	if (!own->synchronised || !first->synchronised)
		return NAN;
	return (double)own->max_error_ns + (double)first->max_error_ns +
	       2 * DRIFT_MOST * (double)(bounds->end - bounds->begin);
}

/* Its own time, but within what NTP says, and within the bounds on the one side that has them. */
static void set_alone(struct tpa_ranks *ranks, uint32_t index)
{
	struct tpa_rank_host *host = &ranks->hosts[index];
	struct bounds bounds = begin_bounds(ranks, index);
	double low, high, error = ntp_error(ranks, host, &bounds);

	collect(ranks, 0, index, &bounds);
	low = most_lower(&bounds, 0);
	high = least_upper(&bounds, 0);
	host->source = bounds.count ? TPA_CLOCK_HALF : TPA_CLOCK_TAKEN;
	host->bounds = bounds.count;
	host->offset_ns = fmax(fmin(0, high), low);
	host->middle_ns = bounds.begin;
	host->error_ns = NAN;
	if (error >= low && -error <= high) { /* else calls contradict NTP */
		low = fmax(low, -error);
		high = fmin(high, error);
		host->source = TPA_CLOCK_NTP;
		host->offset_ns = (low + high) / 2;
		host->error_ns = (high - low) / 2;
	}
	move_host(ranks, index);
}

void tpa_clocks_align(struct tpa_ranks *ranks)
{
	uint32_t count = (uint32_t)ranks->host_count, set_count = count ? 1 : 0;
	uint32_t *set = tpa_zalloc(count + 1, sizeof(*set)); /* in the order in which they were set */
	bool *done = tpa_zalloc(count + 1, sizeof(*done));

	done[0] = true;
	if (count)
		ranks->hosts[0].middle_ns = begin_bounds(ranks, 0).begin;
	for (uint32_t i = 0; i < set_count; i++)
		for (uint32_t host = 0; host < count; host++)
			if (!done[host] && set_by(ranks, set[i], host)) {
				done[host] = true;
				set[set_count++] = host;
			}
	for (uint32_t host = 0; host < count; host++)
		if (!done[host])
			set_alone(ranks, host);
	ranks->error_ns = 0;
	for (uint32_t host = 0; host < count; host++) {
		double error = ranks->hosts[host].error_ns;

		ranks->error_ns = isnan(error) || isnan(ranks->error_ns) ? NAN : fmax(ranks->error_ns, error);
	}
	free(set);
	free(done);
}
