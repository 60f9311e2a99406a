/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a run by role: those of one program with the same command, numbers in it apart, and those that were forked by
 * processes of one role at one place; ranks of a parallel job have roles of their own. Of each role the figures of its processes, and those that
 * differ from the others.
 */
#ifndef TPROF_MODEL_RESULT_ROLES_H
#define TPROF_MODEL_RESULT_ROLES_H

#include "model/result/rank_of.h"
#include "model/result/result.h"

enum tpa_role_figure { TPA_ROLE_PEAK, TPA_ROLE_RSS, TPA_ROLE_UNFREED, TPA_ROLE_TIME, TPA_ROLE_CPU, TPA_ROLE_FIGURES };

/* Bytes, or ns. `spread` estimates the standard deviation by 1.4826 times the median distance from the median. */
struct tpa_role_spread {
	double median, spread, least, most;
};

/*
 * A process whose figure lies apart from those of the others: by more than six spreads; by more than a quarter of the median (of
 * times: by a factor of two); and by 1 MiB or 100 ms. Only roles of four processes or more have such.
 */
struct tpa_odd_one {
	size_t process; /* index in the run */
	enum tpa_role_figure figure;
	double value;
};

struct tpa_role {
	size_t *members; /* indices in the run, by rank, then by start */
	size_t count, room;
	bool ranks;    /* its processes are ranks */
	uint32_t rank; /* that all of them belong to; TPA_COMM_UNKNOWN: to several, or to none */
	size_t parent; /* index of the process that forked all of them; number of processes: several, or they are no forks */
	uint64_t peaks; /* sum of the peaks, bytes */
	struct tpa_role_spread figures[TPA_ROLE_FIGURES];
	size_t typical;		 /* the process whose peak is closest to the median */
	struct tpa_odd_one *odd; /* the first figure in which a process is apart */
	size_t odd_count, odd_room;
};

struct tpa_roles {
	struct tpa_role *list; /* the one whose peaks add up to most first */
	size_t count, room;
	struct tpa_rank_of *rank_of; /* by process */
};

/*
 * forked_at: by process, a text for the place where it was forked, which tells roles apart; NULL: not known. Free the result with
 * tpa_roles_free().
 */
struct tpa_roles tpa_roles_find(const struct tpa_run *run, const char *const *forked_at);
void tpa_roles_free(struct tpa_roles *roles);

/* The figure of a process. */
double tpa_role_figure_of(const struct tpa_process *process, enum tpa_role_figure figure);

#endif
