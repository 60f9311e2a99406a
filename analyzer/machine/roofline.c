/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/roofline.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"

const char *const tpa_bound_names[] = { "", "compute", "memory" };

uint32_t tpa_roof_cores(const struct tpa_machine *machine, const struct tpa_process *process)
{
	size_t threads = process->thread_count ? process->thread_count : 1;

	return threads < machine->cores ? (uint32_t)threads : machine->cores;
}

/* All cores together hold more in their private caches than one; a shared last cache counts once. */
enum tpa_level tpa_roof_level(const struct tpa_machine *machine, uint32_t cores, double bytes)
{
	for (int level = TPA_LEVEL_L1; level < TPA_LEVEL_MEMORY; level++) {
		double room = (double)machine->cache_bytes[level] * (level < TPA_LEVEL_L3 ? cores : 1);

		if (machine->bandwidth[level].one > 0 && bytes <= room)
			return (enum tpa_level)level;
	}
	return TPA_LEVEL_MEMORY;
}

double tpa_roof_bandwidth(const struct tpa_machine *machine, uint32_t cores, enum tpa_level level)
{
	return tpa_rate_at(&machine->bandwidth[level], cores, machine->cores, level >= TPA_LEVEL_L3);
}

double tpa_roof_peak(const struct tpa_machine *machine, uint32_t cores, enum tpa_precision precision)
{
	struct tpa_rate peak = tpa_machine_peak(machine, precision);

	return tpa_rate_at(&peak, cores, machine->cores, false);
}

uint64_t tpa_op_flop_in(const struct tpa_op_stats *op, enum tpa_precision precision)
{
	uint64_t said = 0;

	if (precision < TPA_PRECISIONS)
		return op->flop_in[precision];
	for (int i = 0; i < TPA_PRECISIONS; i++)
		said += op->flop_in[i];
	return op->self_flop > said ? op->self_flop - said : 0;
}

enum tpa_precision tpa_op_precision(const struct tpa_op_stats *op)
{
	enum tpa_precision most = TPA_UNSAID;

	for (int i = 0; i < TPA_PRECISIONS; i++)
		if (tpa_op_flop_in(op, (enum tpa_precision)i) > tpa_op_flop_in(op, most))
			most = (enum tpa_precision)i;
	return most;
}

bool tpa_op_mixed(const struct tpa_op_stats *op)
{
	int kinds = 0;

	for (int i = 0; i <= TPA_UNSAID; i++)
		kinds += tpa_op_flop_in(op, (enum tpa_precision)i) > 0;
	return kinds > 1;
}

double tpa_roof_compute_ns(const struct tpa_machine *machine, uint32_t cores, const struct tpa_op_stats *op)
{
	double ns = 0;

	for (int i = 0; i <= TPA_UNSAID; i++)
		ns += (double)tpa_op_flop_in(op, (enum tpa_precision)i) /
		      tpa_roof_peak(machine, cores, (enum tpa_precision)i);
	return ns;
}

/* The share of an op's own FLOP that counts as the model's. */
static double matrix_part(const struct tpa_op_stats *op)
{
	return op->self_flop ? (double)op->self_matrix_flop / (double)op->self_flop : 0;
}

/* An op's self time; its total time if inner ops did part of the work without reporting it. */
static uint64_t time_of(const struct tpa_op_stats *op)
{
	return op->flop == op->self_flop && op->bytes == op->self_bytes ? op->total_ns : op->self_ns;
}

struct tpa_roof_place tpa_roof_place(const struct tpa_machine *machine, uint32_t cores, const struct tpa_op_stats *op)
{
	struct tpa_roof_place place = {
		.op = op, .precision = tpa_op_precision(op), .mixed = tpa_op_mixed(op), .time_ns = (double)time_of(op)
	};
	double flop = (double)op->self_flop, bytes = (double)op->self_bytes, compute, move;

	if (!op->calls || !time_of(op) || (!op->self_flop && !op->self_bytes))
		return (struct tpa_roof_place){ .op = op };
	place.level = tpa_roof_level(machine, cores, bytes / (double)op->calls);
	compute = tpa_roof_compute_ns(machine, cores, op);
	move = bytes / tpa_roof_bandwidth(machine, cores, place.level);
	place.bound = compute >= move ? TPA_BOUND_COMPUTE : TPA_BOUND_MEMORY;
	place.ideal_ns = compute >= move ? compute : move;
	place.intensity = flop > 0 && bytes > 0 ? flop / bytes : 0;
	place.gflops = flop / place.time_ns;
	place.gbytes = bytes / place.time_ns;
	place.roof = (flop > 0 ? flop : bytes) / place.ideal_ns;
	place.fraction = place.ideal_ns / place.time_ns;
	return place;
}

bool tpa_roof_is_uneven(const struct tpa_op_stats *op)
{
	enum { ENOUGH = 10, TIMES = 10 };

	return op->calls >= ENOUGH && op->shape_count <= 1 && op->p90_ns >= 1000 && op->p90_ns / TIMES >= op->p50_ns;
}

static int by_time(const void *left, const void *right)
{
	const struct tpa_roof_place *a = left, *b = right;

	return TPA_DOWN(a->time_ns, b->time_ns) ?: strcmp(a->op->name, b->op->name);
}

struct tpa_roof_place *tpa_roof_places(const struct tpa_machine *machine, const struct tpa_process *process,
				       size_t *count)
{
	struct tpa_roof_place *places = tpa_zalloc(process->op_count, sizeof(*places));
	uint32_t cores = tpa_roof_cores(machine, process);

	*count = 0;
	for (size_t i = 0; i < process->op_count; i++) {
		places[*count] = tpa_roof_place(machine, cores, &process->ops[i]);
		*count += places[*count].bound != TPA_BOUND_UNKNOWN;
	}
	if (*count)
		qsort(places, *count, sizeof(*places), by_time);
	return places;
}

struct tpa_utilisation tpa_roof_utilisation(const struct tpa_machine *machine, const struct tpa_process *process)
{
	const struct tpa_step_stats *steps = &process->steps;
	double flop[TPA_PRECISIONS + 1] = { 0 }, time = steps->durations.mean * (double)steps->durations.count;
	struct tpa_utilisation use = { .known = steps->matrix_flop && time > 0, .precision = TPA_UNSAID };
	double all = 0, least_ns = 0;
	uint32_t cores = tpa_roof_cores(machine, process);

	for (size_t i = 0; i < process->op_count; i++) {
		for (int p = 0; p <= TPA_UNSAID; p++)
			flop[p] += (double)tpa_op_flop_in(&process->ops[i], (enum tpa_precision)p) *
				   matrix_part(&process->ops[i]);
		least_ns += tpa_roof_compute_ns(machine, cores, &process->ops[i]) * matrix_part(&process->ops[i]);
	}
	if (!use.known || !(least_ns > 0))
		return (struct tpa_utilisation){ .known = false };
	for (int p = 0; p <= TPA_UNSAID; p++) {
		all += flop[p];
		if (flop[p] > flop[use.precision])
			use.precision = (enum tpa_precision)p;
	}
	use.mixed = flop[use.precision] < all;
	use.flop_per_step = (double)steps->matrix_flop / (double)steps->durations.count;
	use.gflops = (double)steps->matrix_flop / time;
	use.peak = all / least_ns;
	use.share = use.gflops / use.peak;
	return use;
}

const char *tpa_roof_precision(enum tpa_precision precision, bool mixed)
{
	return mixed ? "mixed" : tpa_precision_names[precision < TPA_PRECISIONS ? precision : TPA_SINGLE];
}

/* Returns NULL if there is a roof. */
const char *tpa_roof_missing(const struct tpa_roof_place *place)
{
	if (tpa_roof_explains(place))
		return NULL;
	return tpa_roof_is_uneven(place->op) ? "no roof: uneven" : "no roof";
}
