/* SPDX-License-Identifier: Apache-2.0 */
/* onednn3 N [mixed]: primitives of libdnnl3.so, each executed N times; mixed: those whose tensors are of several types. */
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
static void execute_typed(struct dnnl_descriptor *descriptor, const int types[3], const int64_t *src,
			  const int64_t *weights, const int64_t *dst, int gradient)
{
	const int64_t *dims[] = { src, weights, dst };
	struct dnnl_memory *memories[3] = { NULL };
	struct dnnl_primitive *primitive;

	for (int i = 0; i < 3; i++) {
		if (!dims[i])
			continue;
		memories[i] = dnnl3_memory(types[i], dims[i]);
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

static void execute(struct dnnl_descriptor *descriptor, int type, const int64_t *src, const int64_t *weights,
		    const int64_t *dst, int gradient)
{
	execute_typed(descriptor, (const int[]){ type, type, type }, src, weights, dst, gradient);
}

/* Of several types, all of the same dimensions: each must be kept apart from the others. */
static void mixed(void)
{
	execute_typed(described(14, 0, 0, NULL), (const int[]){ U8, S8, S32 }, DIMS(16, 32), DIMS(32, 8), DIMS(16, 8),
		      0);
	execute_typed(described(14, 0, 0, NULL), (const int[]){ U8, S8, F32 }, DIMS(16, 32), DIMS(32, 8), DIMS(16, 8),
		      0);
	execute_typed(described(14, 0, 0, NULL), (const int[]){ U8, S8, U8 }, DIMS(16, 32), DIMS(32, 8), DIMS(16, 8),
		      0);
	execute_typed(described(14, 0, 0, NULL), (const int[]){ BF16, BF16, F32 }, DIMS(16, 32), DIMS(32, 8),
		      DIMS(16, 8), 0);
	execute_typed(described(5, INFERENCE, 1, NULL), (const int[]){ U8, S8, S32 }, DIMS(2, 4, 10, 10),
		      DIMS(2, 3, 2, 3, 3), DIMS(2, 6, 8, 8), 0);
	execute_typed(described(1, 0, 0, NULL), (const int[]){ F32, 0, BF16 }, DIMS(10, 10), NULL, DIMS(10, 10), 0);
	execute_typed(described(9, INFERENCE, 0, NULL), (const int[]){ BF16, 0, BF16 }, DIMS(2, 3, 5, 5), NULL,
		      DIMS(2, 3, 5, 5), 0);
}

int main(int argc, char **argv)
{
	static const int64_t kernel[] = { 2, 2 };

	times = argc > 1 ? atoi(argv[1]) : 1;
	if (argc > 2) {
		mixed();
		return 0;
	}
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
