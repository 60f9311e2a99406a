/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranks/job.h"

#include <stdlib.h>
#include <string.h>

#include <tprof/format.h>

#include "base/memory.h"

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

#define PIECES_MOST 64u /* of a header that is looked at without opening its trace */

/* NAME=value, as header.job has them. */
struct pieces {
	const char *const *list;
	size_t count;
};

/* The value of a piece; NULL: there is none. */
static const char *value_of(const struct pieces *pieces, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	for (size_t i = 0; name && i < pieces->count; i++)
		if (strncmp(pieces->list[i], name, length) == 0 && pieces->list[i][length] == '=')
			return pieces->list[i] + length + 1;
	return NULL;
}

static uint32_t number_of(const struct pieces *pieces, const char *name)
{
	const char *value = value_of(pieces, name);
	unsigned long number;
	char *end;

	if (!value || *value < '0' || *value > '9')
		return TPA_COMM_UNKNOWN;
	number = strtoul(value, &end, 10);
	return *end || number >= TPA_COMM_UNKNOWN ? TPA_COMM_UNKNOWN : (uint32_t)number;
}

static void read_launcher(const struct pieces *pieces, struct tpa_rank_process *to)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const struct launcher *launcher = &launchers[i];

		to->world_rank = number_of(pieces, launcher->rank);
		if (to->world_rank == TPA_COMM_UNKNOWN)
			continue;
		to->world_size = number_of(pieces, launcher->size);
		to->local_rank = number_of(pieces, launcher->local);
		to->launcher = launcher->name;
		to->job = value_of(pieces, launcher->job);
		return;
	}
}

static uint64_t microseconds_of(const struct pieces *pieces, const char *name)
{
	uint32_t number = number_of(pieces, name);

	return number == TPA_COMM_UNKNOWN ? UINT64_MAX : number * UINT64_C(1000);
}

static struct tpa_rank_ntp read_ntp(const struct pieces *pieces)
{
	const char *synchronised = value_of(pieces, "NTP_SYNCHRONISED");
	struct tpa_rank_ntp ntp = { .max_error_ns = microseconds_of(pieces, "NTP_MAX_ERROR_US"),
				    .estimated_error_ns = microseconds_of(pieces, "NTP_ESTIMATED_ERROR_US") };

	ntp.known = synchronised && ntp.max_error_ns != UINT64_MAX && ntp.estimated_error_ns != UINT64_MAX;
	ntp.synchronised = ntp.known && strcmp(synchronised, "1") == 0;
	return ntp;
}

static void read_pieces(const struct pieces *pieces, struct tpa_rank_process *to)
{
	const char *slurm = value_of(pieces, "SLURM_JOB_ID");

	to->world_rank = to->world_size = to->local_rank = TPA_COMM_UNKNOWN;
	to->host = value_of(pieces, "HOST");
	to->cgroup = value_of(pieces, "CGROUP");
	to->ntp = read_ntp(pieces);
	read_launcher(pieces, to);
	if (slurm) /* its number is the one that users know */
		to->job = slurm;
}

char *tpa_job_peek(const char *file, const struct tprof_header *header, struct tpa_rank_process *to)
{
	const char *list[PIECES_MOST];
	struct pieces pieces = { list, 0 };
	uint64_t bytes;
	char *text;

	*to = (struct tpa_rank_process){ 0 };
	if (!header->job.length || header->job.length > TPROF_HEADER_SIZE ||
	    header->job.offset > TPROF_HEADER_SIZE - header->job.length)
		return NULL;
	text = tpa_zalloc(1, TPROF_HEADER_SIZE + 1);
	if (tpa_trace_begin(file, text, TPROF_HEADER_SIZE, &bytes) < header->job.offset + header->job.length) {
		free(text);
		return NULL;
	}
	memmove(text, text + header->job.offset, header->job.length);
	text[header->job.length] = 0;
	for (const char *at = text; at < text + header->job.length && pieces.count < PIECES_MOST; at += strlen(at) + 1)
		list[pieces.count++] = at;
	read_pieces(&pieces, to);
	return text;
}

void tpa_job_read(const struct tpa_trace *trace, struct tpa_rank_process *to)
{
	read_pieces(&(struct pieces){ trace->job, trace->job_count }, to);
	for (size_t i = 1; i < trace->group_count && !to->joined; i++) {
		const struct tpa_known_group *group = &trace->groups[i];

		if (!group->name || group->kind != TPROF_GROUP_WORLD)
			continue;
		to->joined = true;
		to->world_rank = group->rank;
		to->world_size = group->size;
	}
}
