/* SPDX-License-Identifier: Apache-2.0 */
/* The sites of a run with their stacks, for formats that ask for a replayed run: memory, and CPU samples. */
#ifndef TPROF_EXPORT_SITES_H
#define TPROF_EXPORT_SITES_H

#include "export/export.h"
#include "report/rows/stack.h"

/* Memory of a stack and op. What it points to is valid during the call. */
struct tpa_export_site {
	size_t which; /* index in export->traces */
	const struct tpa_process *process;
	const struct tpa_site *site;
	struct tpa_sums sums;		      /* allocated, peak, unfreed (`live`), temporary: as reports sum them */
	const struct tpa_stack *stack;	      /* lines [first, last) are those that reports show */
	const char *op;			      /* innermost open op; NULL: none */
	const struct tpa_growth_site *growth; /* how it grows, if it leaks or may leak; NULL: it does neither */
};

/* CPU samples of a stack, thread and op. */
struct tpa_export_cpu {
	size_t which;
	const struct tpa_process *process;
	const struct tpa_cpu_site *site;
	const struct tpa_stack *stack; /* lines [0, last): time in malloc is malloc's */
	const char *op;
	uint64_t ns;
};

/*
 * Calls `visit` for each site that passes the filter and the suppressions, one process after the other. Stops when it returns false.
 * Returns whether all were visited. A site with several growing stacks that are alike (`growth->members`) has the growth of all.
 */
bool tpa_export_sites(struct tpa_export *export, bool (*visit)(void *to, const struct tpa_export_site *site), void *to);

/* The same for the sites of one process. */
bool tpa_export_process_sites(struct tpa_export *export, const struct tpa_process *process,
			      bool (*visit)(void *to, const struct tpa_export_site *site), void *to);

bool tpa_export_cpu_sites(struct tpa_export *export, bool (*visit)(void *to, const struct tpa_export_cpu *site),
			  void *to);

#endif
