/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIBRARIES_H
#define LIBRARIES_H

int MPI_Allreduce(const void *from, void *to, int count, long type, long operation, long communicator);
int MPI_Barrier(long communicator);
int MPI_Comm_rank(long communicator, int *rank);
int ggml_graph_compute(void *graph, void *plan);
void ggml_compute_forward_mul_mat(const void *parameters, void *tensor);
void ggml_nelements(void);

/* ONNX Runtime's: a table of pointers behind two calls. */
struct ort_api {
	void *first[3];
	void *(*create_environment)(int level, const char *name, void **out);
	void *others[3];
	void *(*create_session)(const void *environment, const char *model, const void *options, void **out);
	void *(*create_session_from_array)(const void *environment, const void *model, unsigned long bytes,
					   const void *options, void **out);
	void *(*run)(void *session, const void *options, const char *const *inputs, const void *const *values,
		     unsigned long input_count, const char *const *outputs, unsigned long output_count, void **results);
	const void *later[251]; /* what versions up to 1.16 added */
};
struct ort_api_base {
	const struct ort_api *(*get_api)(unsigned version);
	const char *(*get_version)(void);
};
const struct ort_api_base *OrtGetApiBase(void);

#endif
