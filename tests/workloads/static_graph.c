// SPDX-License-Identifier: Apache-2.0
/*
 * static_graph ROUNDS: a graph of tensors, computed by threads that share each node's rows, as ggml does it. The kernels are
 * static functions, reached by a switch, by a table of pointers, and by each other. Prints the result, and a line "FUNCTION
 * CALLS" for each kernel.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROWS = 12, COLUMNS = 16, NODES = 6 };
enum op { OP_MUL_MAT, OP_ADD, OP_RMS_NORM, OP_SILU, OP_SOFT_MAX, OPS };

struct tensor {
	enum op op;
	const struct tensor *from[2];
	float data[ROWS * COLUMNS];
};

static atomic_long calls[OPS + 2];
static struct tensor leaf[2], nodes[NODES];
static pthread_barrier_t barrier;
static int rounds = 10;

#define KERNEL static __attribute__((noinline))

KERNEL float vec_dot(int n, const float *a, const float *b)
{
	float sum = 0;

	calls[OPS]++;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

KERNEL float vec_max(int n, const float *a)
{
	float max = a[0];

	calls[OPS + 1]++;
	for (int i = 1; i < n; i++)
		max = a[i] > max ? a[i] : max;
	return max;
}

KERNEL void forward_mul_mat(struct tensor *to, int first, int last)
{
	calls[OP_MUL_MAT]++;
	for (int r = first; r < last; r++)
		for (int c = 0; c < COLUMNS; c++)
			to->data[r * COLUMNS + c] = vec_dot(COLUMNS, to->from[0]->data + r * COLUMNS,
							    to->from[1]->data + c % ROWS * COLUMNS);
}

KERNEL void forward_add(struct tensor *to, int first, int last)
{
	calls[OP_ADD]++;
	for (int i = first * COLUMNS; i < last * COLUMNS; i++)
		to->data[i] = to->from[0]->data[i] + to->from[1]->data[i];
}

KERNEL void forward_rms_norm(struct tensor *to, int first, int last)
{
	calls[OP_RMS_NORM]++;
	for (int r = first; r < last; r++) {
		const float *row = to->from[0]->data + r * COLUMNS;
		float scale = 1.0f / sqrtf(vec_dot(COLUMNS, row, row) / COLUMNS + 1e-6f);

		for (int c = 0; c < COLUMNS; c++)
			to->data[r * COLUMNS + c] = row[c] * scale;
	}
}

KERNEL void forward_silu(struct tensor *to, int first, int last)
{
	calls[OP_SILU]++;
	for (int i = first * COLUMNS; i < last * COLUMNS; i++)
		to->data[i] = to->from[0]->data[i] / (1.0f + expf(-to->from[0]->data[i]));
}

KERNEL void forward_soft_max(struct tensor *to, int first, int last)
{
	calls[OP_SOFT_MAX]++;
	for (int r = first; r < last; r++) {
		const float *row = to->from[0]->data + r * COLUMNS;
		float max = vec_max(COLUMNS, row), sum = 0;

		for (int c = 0; c < COLUMNS; c++)
			sum += to->data[r * COLUMNS + c] = expf(row[c] - max);
		for (int c = 0; c < COLUMNS; c++)
			to->data[r * COLUMNS + c] /= sum;
	}
}

static void (*const by_table[OPS])(struct tensor *, int,
				   int) = { [OP_SILU] = forward_silu, [OP_SOFT_MAX] = forward_soft_max };

KERNEL void compute_forward(struct tensor *node, int first, int last)
{
	switch (node->op) {
	case OP_MUL_MAT:
		forward_mul_mat(node, first, last);
		break;
	case OP_ADD:
		forward_add(node, first, last);
		break;
	case OP_RMS_NORM:
		forward_rms_norm(node, first, last);
		break;
	default:
		by_table[node->op](node, first, last);
	}
}

static void *work(void *number)
{
	int i = (int)(long)number;

	for (int round = 0; round < rounds; round++)
		for (int n = 0; n < NODES; n++) {
			compute_forward(&nodes[n], ROWS * i / THREADS, ROWS * (i + 1) / THREADS);
			pthread_barrier_wait(&barrier);
		}
	return NULL;
}

int main(int count, char **arguments)
{
	static const char *const names[] = { "forward_mul_mat",	 "forward_add", "forward_rms_norm", "forward_silu",
					     "forward_soft_max", "vec_dot",	"vec_max" };
	static const enum op ops[NODES] = { OP_RMS_NORM, OP_MUL_MAT, OP_SILU, OP_ADD, OP_MUL_MAT, OP_SOFT_MAX };
	pthread_t threads[THREADS];
	double sum = 0;

	if (count > 1)
		rounds = atoi(arguments[1]);
	for (int i = 0; i < ROWS * COLUMNS; i++) {
		leaf[0].data[i] = (float)(i * 37 % 101) / 50 - 1;
		leaf[1].data[i] = (float)(i * 53 % 97) / 48 - 1;
	}
	for (int n = 0; n < NODES; n++)
		nodes[n] = (struct tensor){ ops[n], { n ? &nodes[n - 1] : &leaf[0], &leaf[1] }, { 0 } };
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < ROWS * COLUMNS; i++)
		sum += nodes[NODES - 1].data[i] * (double)(i + 1);
	printf("result %.9g\n", sum);
	for (int i = 0; i < OPS + 2; i++)
		printf("%s %ld\n", names[i], atomic_load(&calls[i]));
	return 0;
}
