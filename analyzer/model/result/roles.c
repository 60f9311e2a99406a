/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result/roles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/stats/stats.h"

#define LEAST_MEMBERS 4
#define SPREADS 6.0
#define NORMAL                                                                                                         \
	1.4826 /* of a normal distribution: its deviation, as a multiple of the median distance from the median */

static const struct {
	double factor, least;
} apart[TPA_ROLE_FIGURES] = {
	[TPA_ROLE_PEAK] = { 1.25, 1 << 20 }, [TPA_ROLE_RSS] = { 1.25, 1 << 20 }, [TPA_ROLE_UNFREED] = { 1.25, 1 << 20 },
	[TPA_ROLE_TIME] = { 2, 1e8 },	     [TPA_ROLE_CPU] = { 2, 1e8 },
};

double tpa_role_figure_of(const struct tpa_process *process, enum tpa_role_figure figure)
{
	switch (figure) {
	case TPA_ROLE_PEAK:
		return (double)process->heap.peak_bytes;
	case TPA_ROLE_RSS:
		return (double)process->heap.rss_peak;
	case TPA_ROLE_UNFREED:
		return (double)process->heap.end_bytes;
	case TPA_ROLE_CPU:
		return (double)tpa_cpu_ns(process, &process->cpu);
	default:
		return (double)process->duration_ns;
	}
}

/* ---- who belongs together ---- */

/* The program and its arguments, with "#" for each number in them: ranks, ports, descriptors. */
static char *command_of(const struct tpa_trace *trace)
{
	size_t size = strlen(trace->exe) + 1, length;
	char *text;

	for (size_t i = 0; i < trace->arg_count; i++)
		size += strlen(trace->args[i]) + 1;
	text = tpa_zalloc(size + 1, 1);
	length = (size_t)snprintf(text, size, "%s", trace->exe);
	for (size_t i = 0; i < trace->arg_count; i++) {
		text[length++] = '\n';
		for (const char *from = trace->args[i]; *from; from++) {
			bool digit = *from >= '0' && *from <= '9';

			if (!digit)
				text[length++] = *from;
			else if (text[length - 1] != '#')
				text[length++] = '#';
		}
	}
	return text;
}

struct sorting {
	const struct tpa_run *run;
	struct tpa_roles *roles;
	const char *const *forked_at;
	size_t *role_of; /* by process, of those before the current one */
};

static bool is_fork(const struct tpa_run *run, size_t index)
{
	return run->processes[index].trace->header->origin == TPROF_ORIGIN_FORK && run->processes[index].parent < index;
}

static char *key_of(const struct sorting *sorting, size_t index)
{
	const struct tpa_process *process = &sorting->run->processes[index];
	const char *job = process->ranks.job ? process->ranks.job : "";
	char *command, *key;

	if (is_fork(sorting->run, index))
		command = tpa_format("fork of %zu\n%s", sorting->role_of[process->parent],
				     sorting->forked_at[index] ? sorting->forked_at[index] : "");
	else
		command = command_of(process->trace);
	if (!sorting->roles->rank_of[index].is_rank)
		return command;
	key = tpa_format("rank of %s\n%s", job, command);
	free(command);
	return key;
}

static size_t find(char *const *keys, size_t count, const char *key)
{
	size_t i = 0;

	while (i < count && strcmp(keys[i], key) != 0)
		i++;
	return i;
}

static void add_member(const struct sorting *sorting, struct tpa_role *role, size_t index)
{
	const struct tpa_rank_of *rank = &sorting->roles->rank_of[index];
	size_t none = sorting->run->process_count;
	size_t parent = is_fork(sorting->run, index) ? sorting->run->processes[index].parent : none;

	if (!role->count) {
		role->ranks = rank->is_rank;
		role->rank = rank->number;
		role->parent = parent;
	}
	role->rank = role->rank == rank->number ? role->rank : TPA_COMM_UNKNOWN;
	role->parent = role->parent == parent ? parent : none;
	role->peaks += sorting->run->processes[index].heap.peak_bytes;
	*TPA_APPEND(role->members, role->count, role->room) = index;
}

static int by_peaks(const void *a, const void *b)
{
	const struct tpa_role *x = a, *y = b;

	return TPA_DOWN(x->peaks, y->peaks) ?: TPA_UP(x->members[0], y->members[0]);
}

static int by_rank(const void *a, const void *b, void *rank_of)
{
	const size_t *x = a, *y = b;
	const struct tpa_rank_of *list = rank_of;

	return TPA_UP(list[*x].number, list[*y].number) ?: TPA_UP(*x, *y);
}

static void sort_in(const struct tpa_run *run, struct tpa_roles *roles, const char *const *forked_at)
{
	struct sorting sorting = { run, roles, forked_at,
				   tpa_zalloc(run->process_count + 1, sizeof(*sorting.role_of)) };
	char **keys = tpa_zalloc(run->process_count + 1, sizeof(*keys));

	for (size_t i = 0; i < run->process_count; i++) {
		char *key = key_of(&sorting, i);
		size_t at = find(keys, roles->count, key);

		if (at == roles->count) {
			keys[at] = key;
			*TPA_APPEND(roles->list, roles->count, roles->room) = (struct tpa_role){ .count = 0 };
		} else {
			free(key);
		}
		sorting.role_of[i] = at;
		add_member(&sorting, &roles->list[at], i);
	}
	for (size_t i = 0; i < roles->count; i++) {
		free(keys[i]);
		qsort_r(roles->list[i].members, roles->list[i].count, sizeof(*roles->list[i].members), by_rank,
			roles->rank_of);
	}
	if (roles->count)
		qsort(roles->list, roles->count, sizeof(*roles->list), by_peaks);
	free(keys);
	free(sorting.role_of);
}

/* ---- figures ---- */

static struct tpa_role_spread spread_of(const struct tpa_run *run, const struct tpa_role *role,
					enum tpa_role_figure figure)
{
	double *list = tpa_zalloc(role->count, sizeof(*list));
	struct tpa_role_spread spread = { .least = INFINITY };

	for (size_t i = 0; i < role->count; i++) {
		list[i] = tpa_role_figure_of(&run->processes[role->members[i]], figure);
		spread.least = fmin(spread.least, list[i]);
		spread.most = fmax(spread.most, list[i]);
	}
	spread.median = tpa_median(list, role->count);
	for (size_t i = 0; i < role->count; i++)
		list[i] = fabs(list[i] - spread.median);
	spread.spread = NORMAL * tpa_median(list, role->count);
	free(list);
	return spread;
}

static bool is_apart(const struct tpa_role_spread *spread, double value, enum tpa_role_figure figure)
{
	double distance = fabs(value - spread->median), factor = apart[figure].factor;

	return distance > SPREADS * spread->spread && distance > apart[figure].least &&
	       (value > spread->median * factor || value < spread->median / factor);
}

static void find_odd(const struct tpa_run *run, struct tpa_role *role, size_t index)
{
	for (enum tpa_role_figure figure = 0; figure < TPA_ROLE_FIGURES; figure++) {
		double value = tpa_role_figure_of(&run->processes[index], figure);

		if (!is_apart(&role->figures[figure], value, figure))
			continue;
		*TPA_APPEND(role->odd, role->odd_count, role->odd_room) =
			(struct tpa_odd_one){ .process = index, .figure = figure, .value = value };
		return;
	}
}

static void judge(const struct tpa_run *run, struct tpa_role *role)
{
	double closest = INFINITY;

	for (enum tpa_role_figure figure = 0; figure < TPA_ROLE_FIGURES; figure++)
		role->figures[figure] = spread_of(run, role, figure);
	for (size_t i = 0; i < role->count; i++) {
		double value = tpa_role_figure_of(&run->processes[role->members[i]], TPA_ROLE_PEAK);
		double distance = fabs(value - role->figures[TPA_ROLE_PEAK].median);

		if (distance < closest) {
			closest = distance;
			role->typical = role->members[i];
		}
		if (role->count >= LEAST_MEMBERS)
			find_odd(run, role, role->members[i]);
	}
}

struct tpa_roles tpa_roles_find(const struct tpa_run *run, const char *const *forked_at)
{
	struct tpa_roles roles = { .rank_of = tpa_rank_of_each(run) };

	sort_in(run, &roles, forked_at);
	for (size_t i = 0; i < roles.count; i++)
		judge(run, &roles.list[i]);
	return roles;
}

void tpa_roles_free(struct tpa_roles *roles)
{
	for (size_t i = 0; i < roles->count; i++) {
		free(roles->list[i].members);
		free(roles->list[i].odd);
	}
	free(roles->list);
	free(roles->rank_of);
	*roles = (struct tpa_roles){ NULL, 0, 0, NULL };
}
