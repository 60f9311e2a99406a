/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a run by role: those of one program with the same command, numbers in it apart, and those that were forked by
 * processes of one role. Of each role the figures of its processes, and those that differ from the others.
 */
#ifndef TPROF_MODEL_RESULT_ROLES_H
#define TPROF_MODEL_RESULT_ROLES_H

#include "model/result/result.h"

enum tpa_role_figure { TPA_ROLE_PEAK, TPA_ROLE_RSS, TPA_ROLE_UNFREED, TPA_ROLE_TIME, TPA_ROLE_FIGURES };

/* Bytes, or ns. `spread` estimates the standard deviation by 1.4826 times the median distance from the median. */
struct tpa_role_spread {
	double median, spread, least, most;
};

/*
 * A process whose figure lies apart from those of the others: by more than six spreads; by more than a quarter of the median (of
 * time: by a factor of two); and by 1 MiB or 100 ms. Only roles of four processes or more have such.
 */
struct tpa_odd_one {
	size_t process; /* index in the run */
	enum tpa_role_figure figure;
	double value;
};

struct tpa_role {
	size_t *members; /* indices in the run, by start */
	size_t count, room;
	struct tpa_role_spread figures[TPA_ROLE_FIGURES];
	size_t typical;		 /* the process whose peak is closest to the median */
	struct tpa_odd_one *odd; /* the first figure in which a process is apart */
	size_t odd_count, odd_room;
};

struct tpa_roles {
	struct tpa_role *list; /* by the start of their first processes */
	size_t count, room;
};

/* Free the result with tpa_roles_free(). */
struct tpa_roles tpa_roles_find(const struct tpa_run *run);
void tpa_roles_free(struct tpa_roles *roles);

/* The figure of a process. */
double tpa_role_figure_of(const struct tpa_process *process, enum tpa_role_figure figure);

#endif
