/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with the names and signatures of libraries that are too large for a test, or not in Debian. */
#include <stdlib.h>
#include <string.h>

#include "libraries.h"

int MPI_Allreduce(const void *from, void *to, int count, long type, long operation, long communicator)
{
	(void)type, (void)operation, (void)communicator;
	memcpy(to, from, (size_t)count * sizeof(float));
	return 0;
}

int MPI_Barrier(long communicator)
{
	(void)communicator;
	return 0;
}

int MPI_Comm_rank(long communicator, int *rank)
{
	(void)communicator;
	*rank = 0;
	return 0;
}

void ggml_compute_forward_mul_mat(const void *parameters, void *tensor)
{
	(void)parameters, (void)tensor;
}

int ggml_graph_compute(void *graph, void *plan)
{
	ggml_compute_forward_mul_mat(plan, graph);
	return 0;
}

void ggml_nelements(void)
{
}

static void *create_session(const void *environment, const char *model, const void *options, void **out)
{
	(void)environment, (void)model, (void)options;
	*out = malloc(5000);
	return NULL;
}

static void *run(void *session, const void *options, const char *const *inputs, const void *const *values,
		 unsigned long input_count, const char *const *outputs, unsigned long output_count, void **results)
{
	void *block = malloc(300);

	(void)session, (void)options, (void)inputs, (void)values, (void)input_count, (void)outputs;
	results[output_count - 1] = NULL;
	free(block);
	return NULL;
}

/* RunWithBinding came with 1.5: of an older one what stands there is no member. */
static const struct ort_api api = { .create_session = create_session,
				    .run = run,
				    .later[133 - 10] = "behind the table" };

static const struct ort_api *get_api(unsigned version)
{
	return version <= 17 ? &api : NULL;
}

static const char *get_version(void)
{
	const char *version = getenv("MOCK_VERSION");

	return version ? version : "1.17.0";
}

static const struct ort_api_base base = { get_api, get_version };

const struct ort_api_base *OrtGetApiBase(void)
{
	return &base;
}
