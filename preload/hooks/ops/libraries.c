/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/libraries.h"

static bool choose(const char *symbol, const char *prefix, const char *const *globs, size_t count, struct tp_text *to)
{
	size_t length = strlen(prefix);

	if (strncmp(symbol, prefix, length) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (tp_text_glob(globs[i], symbol + length)) {
			tp_text_add(to, symbol);
			return true;
		}
	}
	return false;
}

/* Execution, and making a plan, which may measure for seconds; in double, float, long double and quadruple precision. */
bool tp_fftw_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	static const char *const globs[] = {
		"_execute*",  "_plan_dft*",  "_plan_many*",  "_plan_guru*",  "_plan_r2r*",
		"?_execute*", "?_plan_dft*", "?_plan_many*", "?_plan_guru*", "?_plan_r2r*",
	};

	(void)signature;
	return choose(symbol, "fftw", globs, TP_LENGTH(globs), to);
}

/* Collectives, blocking and not; messages; and waiting for them. The profiling interface's PMPI_ is the library's own. */
bool tp_mpi_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	static const char *const globs[] = {
		"Allreduce*",  "Iallreduce*", "Reduce*",    "Ireduce*",	 "Bcast*",     "Ibcast*",     "Allgather*",
		"Iallgather*", "Alltoall*",   "Ialltoall*", "Gather*",	 "Igather*",   "Scatter*",    "Iscatter*",
		"Scan*",       "Exscan*",     "Barrier*",   "Ibarrier*", "Neighbor_*", "Send",	      "Ssend",
		"Bsend",       "Rsend",	      "Isend",	    "Recv",	 "Irecv",      "Mrecv",	      "Sendrecv*",
		"Wait",	       "Waitall",     "Waitany",    "Waitsome",	 "Probe",      "Put",	      "Get",
		"Accumulate",  "Win_fence",   "Start",	    "Startall",	 "File_read*", "File_write*",
	};

	(void)signature;
	return choose(symbol, "MPI_", globs, TP_LENGTH(globs), to);
}

/* A graph as a whole, and its operators where the library was built so that they are called through pointers. */
bool tp_ggml_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	static const char *const globs[] = {
		"graph_compute*",     "compute_forward_*",  "backend_graph_compute*", "backend_sched_graph_compute*",
		"backend_tensor_set", "backend_tensor_get",
	};

	(void)signature;
	return choose(symbol, "ggml_", globs, TP_LENGTH(globs), to);
}

/* Running an operator or a subgraph, and making them, which packs the weights. */
bool tp_xnnpack_choose(const char *symbol, struct tp_text *to, struct tp_signature *signature)
{
	static const char *const globs[] = { "run_operator*", "invoke_runtime", "create_*" };

	(void)signature;
	return choose(symbol, "xnn_", globs, TP_LENGTH(globs), to);
}
