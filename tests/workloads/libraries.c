/* SPDX-License-Identifier: Apache-2.0 */
/* Calls libmocks.so's functions. `libraries N`: each N times. */
#include <stdio.h>
#include <stdlib.h>

#include "libraries.h"

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, rank = 1;
	float from[4] = { 1, 2, 3, 4 }, to[4] = { 0 };
	const struct ort_api *api = OrtGetApiBase()->get_api(17);
	void *session = NULL, *result = from;

	if (api->create_session(NULL, "model.onnx", NULL, &session) || !session)
		return 1;
	for (int i = 0; i < times; i++) {
		MPI_Allreduce(from, to, 4, 1, 2, 3);
		MPI_Barrier(3);
		MPI_Comm_rank(3, &rank);
		ggml_graph_compute(NULL, NULL);
		ggml_nelements();
		if (api->run(session, NULL, NULL, NULL, 1, NULL, 1, &result) || result)
			return 1;
	}
	free(session);
	if (getenv("MOCK_VERSION"))
		puts(api->later[133 - 10]);
	printf("%.0f %d\n", (double)to[3], rank);
	return 0;
}
