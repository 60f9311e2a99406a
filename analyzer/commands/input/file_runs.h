/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run each file is of. Its header says so, but for ranks of a parallel job that were started one by one (mpirun -n 4 tprof run --
 * PROGRAM): each is a run of its own by its header, and one run here. They have the same launcher, job and number of ranks, and
 * different ranks; where the launcher tells no number of the job, they must have lived at the same time, too.
 */
#ifndef TPROF_COMMANDS_INPUT_FILE_RUNS_H
#define TPROF_COMMANDS_INPUT_FILE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tprof/header.h>

struct tpa_file_run {
	bool readable;		    /* false: opening the file reports the error */
	struct tprof_header header; /* unchecked */
	uint64_t run;		    /* equal for files of one run; 0: the trace is older than run identities */
};

/* An element a file. The caller frees the list. */
struct tpa_file_run *tpa_file_runs(const char *const *files, size_t count);

#endif
