/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/job.h"

#include <stdlib.h>
#include <string.h>

/* The variables of a launcher, those of the innermost first: srun may start mpirun's ranks. NULL: it has none for that. */
static const struct launcher {
	const char *name, *rank, *size, *local, *job;
} launchers[] = {
	{ "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
	  "OMPI_MCA_ess_base_jobid" },
	{ "PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_JOBID" },
	{ "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID" },
	{ "Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID" },
	{ "PMIx", "PMIX_RANK", NULL, NULL, "PMIX_NAMESPACE" },
};

/* The value of a piece NAME=value; NULL: there is none. */
static const char *value_of(const struct tpa_trace *trace, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	for (size_t i = 0; name && i < trace->job_count; i++)
		if (strncmp(trace->job[i], name, length) == 0 && trace->job[i][length] == '=')
			return trace->job[i] + length + 1;
	return NULL;
}

static uint32_t number_of(const struct tpa_trace *trace, const char *name)
{
	const char *value = value_of(trace, name);
	unsigned long number;
	char *end;

	if (!value || *value < '0' || *value > '9')
		return TPA_COMM_UNKNOWN;
	number = strtoul(value, &end, 10);
	return *end || number >= TPA_COMM_UNKNOWN ? TPA_COMM_UNKNOWN : (uint32_t)number;
}

static void read_launcher(const struct tpa_trace *trace, struct tpa_rank_process *to)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const struct launcher *launcher = &launchers[i];

		to->world_rank = number_of(trace, launcher->rank);
		if (to->world_rank == TPA_COMM_UNKNOWN)
			continue;
		to->world_size = number_of(trace, launcher->size);
		to->local_rank = number_of(trace, launcher->local);
		to->launcher = launcher->name;
		to->job = value_of(trace, launcher->job);
		return;
	}
}

void tpa_job_read(const struct tpa_trace *trace, struct tpa_rank_process *to)
{
	const char *slurm = value_of(trace, "SLURM_JOB_ID");

	to->world_rank = to->world_size = to->local_rank = TPA_COMM_UNKNOWN;
	to->host = value_of(trace, "HOST");
	to->cgroup = value_of(trace, "CGROUP");
	read_launcher(trace, to);
	if (slurm) /* its number is the one that users know */
		to->job = slurm;
	for (size_t i = 1; i < trace->group_count && !to->joined; i++) {
		const struct tpa_known_group *group = &trace->groups[i];

		if (!group->name || group->kind != TPROF_GROUP_WORLD)
			continue;
		to->joined = true;
		to->world_rank = group->rank;
		to->world_size = group->size;
	}
}
