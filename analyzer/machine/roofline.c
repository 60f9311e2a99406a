/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/roofline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const tp_bound_names[] = { "", "compute", "memory" };

uint32_t tp_roof_cores(const struct tp_machine *machine, const struct tp_process *process)
{
	size_t threads = process->thread_count ? process->thread_count : 1;

	return threads < machine->cores ? (uint32_t)threads : machine->cores;
}

/* Of a cache of each core's own, all cores together hold more; a shared last cache is one. */
enum tp_level tp_roof_level(const struct tp_machine *machine, uint32_t cores, double bytes)
{
	for (int level = TP_LEVEL_L1; level < TP_LEVEL_MEMORY; level++) {
		double room = (double)machine->cache_bytes[level] * (level < TP_LEVEL_L3 ? cores : 1);

		if (machine->bandwidth[level].one > 0 && bytes <= room)
			return (enum tp_level)level;
	}
	return TP_LEVEL_MEMORY;
}

double tp_roof_bandwidth(const struct tp_machine *machine, uint32_t cores, enum tp_level level)
{
	return tp_rate_at(&machine->bandwidth[level], cores, machine->cores, level >= TP_LEVEL_L3);
}

double tp_roof_peak(const struct tp_machine *machine, uint32_t cores, enum tp_precision precision)
{
	struct tp_rate peak = tp_machine_peak(machine, precision);

	return tp_rate_at(&peak, cores, machine->cores, false);
}

/* The first letter of a BLAS name, behind what libraries put before it, is its type. */
enum tp_precision tp_op_precision(const struct tp_op_stats *op)
{
	static const char *const before[] = { "scipy_", "cblas_", "LAPACKE_", "mkl_" };
	const char *name = op->name;

	if (strcmp(op->category, "blas") != 0 && strcmp(op->category, "lapack") != 0)
		return TP_SINGLE;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		if (strncmp(name, before[i], strlen(before[i])) == 0)
			name += strlen(before[i]);
	if (name[0] == 'i') /* idamax */
		name++;
	return tolower((unsigned char)name[0]) == 'd' || tolower((unsigned char)name[0]) == 'z' ? TP_DOUBLE : TP_SINGLE;
}

/* What an op did itself, in its own time; but if ops within took part and said nothing of their work, in the whole. */
static uint64_t time_of(const struct tp_op_stats *op)
{
	return op->flop == op->self_flop && op->bytes == op->self_bytes ? op->total_ns : op->self_ns;
}

struct tp_roof_place tp_roof_place(const struct tp_machine *machine, uint32_t cores, const struct tp_op_stats *op)
{
	struct tp_roof_place place = { .op = op, .precision = tp_op_precision(op), .time_ns = (double)time_of(op) };
	double flop = (double)op->self_flop, bytes = (double)op->self_bytes, compute, move;

	if (!op->calls || !time_of(op) || (!op->self_flop && !op->self_bytes))
		return (struct tp_roof_place){ .op = op };
	place.level = tp_roof_level(machine, cores, bytes / (double)op->calls);
	compute = flop / tp_roof_peak(machine, cores, place.precision);
	move = bytes / tp_roof_bandwidth(machine, cores, place.level);
	place.bound = compute >= move ? TP_BOUND_COMPUTE : TP_BOUND_MEMORY;
	place.ideal_ns = compute >= move ? compute : move;
	place.intensity = flop > 0 && bytes > 0 ? flop / bytes : 0;
	place.gflops = flop / place.time_ns;
	place.gbytes = bytes / place.time_ns;
	place.roof = (flop > 0 ? flop : bytes) / place.ideal_ns;
	place.fraction = place.ideal_ns / place.time_ns;
	return place;
}

static int by_time(const void *left, const void *right)
{
	const struct tp_roof_place *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return strcmp(a->op->name, b->op->name);
}

struct tp_roof_place *tp_roof_places(const struct tp_machine *machine, const struct tp_process *process, size_t *count)
{
	struct tp_roof_place *places = calloc(process->op_count + 1, sizeof(*places));
	uint32_t cores = tp_roof_cores(machine, process);

	*count = 0;
	for (size_t i = 0; places && i < process->op_count; i++) {
		places[*count] = tp_roof_place(machine, cores, &process->ops[i]);
		*count += places[*count].bound != TP_BOUND_UNKNOWN;
	}
	if (places && *count)
		qsort(places, *count, sizeof(*places), by_time);
	return places;
}

struct tp_utilisation tp_roof_utilisation(const struct tp_machine *machine, const struct tp_process *process)
{
	const struct tp_step_stats *steps = &process->steps;
	double flop[TP_PRECISIONS] = { 0, 0 }, time = steps->durations.mean * (double)steps->durations.count;
	struct tp_utilisation use = { .known = steps->flop && time > 0 };

	for (size_t i = 0; i < process->op_count; i++)
		flop[tp_op_precision(&process->ops[i])] += (double)process->ops[i].self_flop;
	if (!use.known)
		return use;
	use.precision = flop[TP_DOUBLE] > flop[TP_SINGLE] ? TP_DOUBLE : TP_SINGLE;
	use.flop_per_step = (double)steps->flop / (double)steps->durations.count;
	use.gflops = (double)steps->flop / time;
	use.peak = tp_roof_peak(machine, tp_roof_cores(machine, process), use.precision);
	use.share = use.gflops / use.peak;
	return use;
}
