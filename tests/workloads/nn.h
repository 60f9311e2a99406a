/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trainers mlp, cnn and transformer share: their arguments, dense layers on BLAS, loss, Adam. All products of
 * matrices are sgemm calls, all else is plain C, so that a trainer can say from its arguments alone how many
 * floating-point operations its BLAS calls do; flop_of_product() is the only formula: 2 m k n.
 *
 * Every run with the same arguments computes the same (with one BLAS thread). One thread; memory is from calloc, kept in
 * lists where the caller does not free it.
 */
#ifndef TESTS_WORKLOADS_NN_H
#define TESTS_WORKLOADS_NN_H

#include <stddef.h>
#include <stdint.h>

#include "digit_set.h"

struct settings {
	const char *data;  /* --data: the digits */
	int batch, steps;  /* --batch, --steps */
	int depth, width;  /* --depth: hidden layers, --width: units, channels or the model's dimension */
	int heads, length; /* --heads, --length: of the sequence; transformer only */
	int side;	   /* --side: of the image in pixels, 8 times a whole number; cnn only */
	float rate;	   /* --rate: Adam's */
};

/* Reads the arguments over the defaults in *s; ends the program with status 2 if they are wrong. */
void read_settings(struct settings *s, int argc, char **argv);

/* calloc that ends the program when there is no memory. */
float *floats(size_t count);

/* Uniform in [-1, 1), the same sequence in every run. */
float random_float(void);

/* ---- parameters ---- */

struct parameter {
	float *value, *gradient;
	float *mean, *square; /* Adam's */
	size_t count;
	struct parameter *next;
};

/* A parameter of the model: uniform in [-scale, scale), or `scale` itself if `constant`. */
struct parameter *new_parameter(size_t count, float scale, int constant);
uint64_t parameter_count(void);
/* One step of Adam (Kingma and Ba 2015) on all parameters; their gradients are 0 then. */
void update_parameters(float rate);
void free_parameters(void);

/* ---- layers; all arrays are row-major ---- */

/* c (m x n) = alpha * a (m x k) * b (k x n) + beta * c; `a_t`, `b_t`: the array holds its transpose. */
void product(int a_t, int b_t, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
	     float beta, float *c, int ldc);
uint64_t flop_of_product(int m, int n, int k);

struct linear {
	int in, out;
	struct parameter *weights, *bias; /* out x in; out */
};
struct linear new_linear(int in, int out);
/* y (rows x out) = x (rows x in) * weights' + bias */
void linear_forward(const struct linear *l, int rows, const float *x, float *y);
/* Adds to the gradients; dx may be NULL. */
void linear_backward(const struct linear *l, int rows, const float *x, const float *dy, float *dx);
uint64_t flop_forward(const struct linear *l, int rows);
/* `inner`: the gradient by the layer's input is computed too. */
uint64_t flop_backward(const struct linear *l, int rows, int inner);

void relu(float *x, size_t count);
/* dy becomes dx, where y = relu(x) */
void relu_backward(const float *y, float *dy, size_t count);

/* Softmax and cross entropy of `rows` rows: the mean loss; scores become their gradient. */
float softmax_loss(float *scores, const int *labels, int rows);

/* ---- training ---- */

struct model {
	const char *name;
	/* The mean loss of a batch of images and the gradients; labels NULL: only the scores (batch x CLASSES). */
	float (*pass)(const float *images, const int *labels, float *scores);
	uint64_t step_flop, test_flop; /* of one training step, of one pass without labels */
};

/* Trains, says what came of it in one line, frees all. Returns the program's exit status. */
int train(const struct settings *s, const struct model *model);

#endif
