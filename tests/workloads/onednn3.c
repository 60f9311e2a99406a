/* SPDX-License-Identifier: Apache-2.0 */
/* onednn3 N: primitives of libdnnl3.so, each executed N times. */
#include <stdio.h>
#include <stdlib.h>

#include "dnnl3.h"

#define DIMS(...) ((const int64_t[]){ __VA_ARGS__, 0 })

enum { SRC = 129, DIFF_SRC, WEIGHTS, DIFF_WEIGHTS, DST, DIFF_DST };
enum { INFERENCE = 96, BACKWARD_DATA = 160 };

static int times;

static struct dnnl_descriptor *described(int kind, int propagation, int algorithm, const int64_t *kernel)
{
	return dnnl3_descriptor(kind, propagation, algorithm, kernel);
}

/* Executes it, and frees all. NULL: no such tensor. */
static void execute(struct dnnl_descriptor *descriptor, int type, const int64_t *src, const int64_t *weights,
		    const int64_t *dst, int gradient)
{
	const int64_t *dims[] = { src, weights, dst };
	struct dnnl_memory *memories[3] = { NULL };
	struct dnnl_primitive *primitive;

	for (int i = 0; i < 3; i++) {
		if (!dims[i])
			continue;
		memories[i] = dnnl3_memory(type, dims[i]);
		dnnl3_add(descriptor, SRC + 2 * i + (gradient && i != 1), memories[i]);
	}
	if (dnnl_primitive_create(&primitive, descriptor))
		abort();
	for (int i = 0; i < times; i++)
		if (dnnl_primitive_execute(primitive, NULL, 0, NULL))
			abort();
	dnnl_primitive_destroy(primitive);
	for (int i = 0; i < 3; i++)
		free(memories[i]);
	free(descriptor);
}

int main(int argc, char **argv)
{
	static const int64_t kernel[] = { 2, 2 };

	times = argc > 1 ? atoi(argv[1]) : 1;
	execute(described(14, 0, 0, NULL), F32, DIMS(7, 16, 32), DIMS(7, 32, 8), DIMS(7, 16, 8), 0);
	execute(described(5, INFERENCE, 1, NULL), F32, DIMS(2, 4, 10, 10), DIMS(2, 3, 2, 3, 3), DIMS(2, 6, 8, 8), 0);
	execute(described(5, BACKWARD_DATA, 1, NULL), F32, DIMS(2, 4, 10, 10), DIMS(2, 3, 2, 3, 3), DIMS(2, 6, 8, 8),
		1);
	execute(described(10, INFERENCE, 0, NULL), F64, DIMS(5, 30), DIMS(20, 30), DIMS(5, 20), 0);
	execute(described(16, INFERENCE, 0, kernel), F32, DIMS(1, 3, 8, 8), NULL, DIMS(1, 3, 4, 4), 0);
	execute(described(7, INFERENCE, RELU, NULL), F32, DIMS(100), NULL, DIMS(100), 0);
	execute(described(7, INFERENCE, TANH, NULL), F32, DIMS(50), NULL, DIMS(50), 0);
	execute(described(7, INFERENCE, LINEAR, NULL), F32, DIMS(25), NULL, DIMS(25), 0);
	execute(described(4, 0, 0, NULL), F32, NULL, NULL, DIMS(40), 0);
	execute(described(11, INFERENCE, 0, NULL), F32, DIMS(3, 4, 5), NULL, DIMS(3, 4, 6), 0);
	puts("onednn3: done");
	return 0;
}
