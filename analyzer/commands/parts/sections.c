/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/sections.h"

#include "commands/parts/growth_report.h"
#include "commands/parts/role_report.h"

#define ROLES 8	   /* most roles that get a section */
#define LEAKING 16 /* the same, of those in which something grows */
#define SMALL 100  /* no section if the peak and the CPU time are below 1/SMALL of the largest and no op ran */

/* Did it run ops, or have a fair part of the largest peak or CPU time? A launcher, or a fork before its exec, did not. */
static bool matters(const struct tpa_run *run, size_t index)
{
	const struct tpa_process *mine = &run->processes[index];
	uint64_t peak = 0, cpu = 0;

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_process *other = &run->processes[i];
		uint64_t others = tpa_cpu_ns(other, &other->cpu);

		peak = other->heap.peak_bytes > peak ? other->heap.peak_bytes : peak;
		cpu = others > cpu ? others : cpu;
	}
	return mine->op_count || mine->heap.peak_bytes >= peak / SMALL ||
	       (cpu && tpa_cpu_ns(mine, &mine->cpu) >= cpu / SMALL);
}

/* The member with the largest peak, of those that leak if `leaking`; the number of processes: there is none. */
static size_t largest_of(struct tpa_session *session, const struct tpa_role *role, bool leaking)
{
	const struct tpa_process *processes = session->run->processes;
	size_t largest = session->run->process_count;

	for (size_t i = 0; i < role->count; i++) {
		size_t member = role->members[i];

		if (leaking && !tpa_leaks_count(session, member))
			continue;
		if (largest == session->run->process_count ||
		    processes[member].heap.peak_bytes > processes[largest].heap.peak_bytes)
			largest = member;
	}
	return largest;
}

/* The number of roles with a larger process. */
static size_t rank_of(struct tpa_session *session, const struct tpa_roles *roles, size_t index)
{
	const struct tpa_process *processes = session->run->processes;
	uint64_t mine = processes[largest_of(session, &roles->list[index], false)].heap.peak_bytes;
	size_t rank = 0;

	for (size_t i = 0; i < roles->count; i++) {
		uint64_t peak = processes[largest_of(session, &roles->list[i], false)].heap.peak_bytes;

		rank += peak > mine || (peak == mine && i < index);
	}
	return rank;
}

void tpa_sections_choose(struct tpa_session *session, struct tpa_section *sections)
{
	struct tpa_roles roles = tpa_session_roles(session);

	for (size_t i = 0; i < roles.count; i++) {
		const struct tpa_role *role = &roles.list[i];
		size_t rank = rank_of(session, &roles, i), process = largest_of(session, role, false);

		if (rank < ROLES && (!rank || matters(session->run, process)))
			sections[process] = (struct tpa_section){ role->count, "the largest" };
		process = rank < LEAKING ? largest_of(session, role, true) : session->run->process_count;
		if (process < session->run->process_count && !sections[process].alike)
			sections[process] = (struct tpa_section){ role->count, "the largest that leaks" };
		for (size_t m = 0; m < role->count; m++)
			if (&session->run->processes[role->members[m]] == session->late)
				sections[role->members[m]] =
					(struct tpa_section){ role->count, "the one that made the others wait" };
	}
	tpa_roles_free(&roles);
}
