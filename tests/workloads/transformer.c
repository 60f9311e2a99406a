/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transformer [--batch N] [--depth N] [--width N] [--heads N] [--length N] [--steps N]: `depth` encoder blocks (Vaswani
 * et al. 2017; normalised before each part, no gain) learn the digits as sequences: token t is row t mod 8 of the image.
 * Its scores and weighted sums are products of each head's own, by Fortran's sgemm_; the other products are cblas's.
 */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tprof.h>

#include "nn.h"

extern void sgemm_(const char *a_t, const char *b_t, const int *m, const int *n, const int *k, const float *alpha,
		   const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
		   const int *ldc);

enum { WIDER = 4 }; /* the feed-forward part's hidden layer */

/* All arrays are of rows() rows. */
struct block {
	struct linear qkv, out, up, down;
	float *normal1, *normal2; /* width: normalised input of each part */
	float *scale1, *scale2;	  /* 1: what it was multiplied with */
	float *all;		  /* 3 width: queries, keys, values */
	float *weights;		  /* heads x length: attention */
	float *mixed, *middle;	  /* width: heads' outputs; after the first part */
	float *hidden;		  /* WIDER x width */
	float *result;		  /* width */
};

static struct settings settings = { "tests/workloads/data/digits.csv", 16, 100, 2, 32, 2, 8, 8, 0.002f };
static struct linear embed, head;
static struct parameter *positions;
static struct block *blocks;
static float *tokens, *embedded, *pooled;
static float *d_wide, *d_all, *d_row, *d_normal, *d_weights; /* gradients on their way back */

static int rows(void)
{
	return settings.batch * settings.length;
}

static size_t row_floats(int width)
{
	return (size_t)rows() * (size_t)width;
}

/* ---- parts ---- */

/* Row-major is column-major of the transposes, and (a b)' = b' a'. */
static void head_product(int a_t, int b_t, int m, int n, int k, float alpha, const float *a, int lda, const float *b,
			 int ldb, float *c, int ldc)
{
	const float zero = 0;

	sgemm_(b_t ? "T" : "N", a_t ? "T" : "N", &n, &m, &k, &alpha, b, &ldb, a, &lda, &zero, c, &ldc);
}

static void normalise(const float *x, float *y, float *scale)
{
	int width = settings.width;

	for (int i = 0; i < rows(); i++, x += width, y += width) {
		float mean = 0, variance = 0;

		for (int j = 0; j < width; j++)
			mean += x[j] / (float)width;
		for (int j = 0; j < width; j++)
			variance += (x[j] - mean) * (x[j] - mean) / (float)width;
		scale[i] = 1 / sqrtf(variance + 1e-5f);
		for (int j = 0; j < width; j++)
			y[j] = (x[j] - mean) * scale[i];
	}
}

/* Adds the gradient by x to dx. */
static void normalise_backward(const float *y, const float *scale, const float *dy, float *dx)
{
	int width = settings.width;

	for (int i = 0; i < rows(); i++, y += width, dy += width, dx += width) {
		float mean = 0, along = 0;

		for (int j = 0; j < width; j++) {
			mean += dy[j] / (float)width;
			along += dy[j] * y[j] / (float)width;
		}
		for (int j = 0; j < width; j++)
			dx[j] += scale[i] * (dy[j] - mean - y[j] * along);
	}
}

static void softmax(float *x, int count)
{
	float top = x[0], sum = 0;

	for (int i = 1; i < count; i++)
		top = fmaxf(top, x[i]);
	for (int i = 0; i < count; i++)
		sum += x[i] = expf(x[i] - top);
	for (int i = 0; i < count; i++)
		x[i] /= sum;
}

/* Where the queries of a sequence's head begin in `all`, and its attention weights, and its output. */
struct head {
	size_t queries, weights, mixed;
	int length, width, stride; /* stride: of rows in `all` */
};

static struct head head_of(int sequence, int number)
{
	struct head h = { .length = settings.length,
			  .width = settings.width / settings.heads,
			  .stride = 3 * settings.width };
	size_t row = (size_t)sequence * (size_t)settings.length, at = (size_t)number * (size_t)h.width;

	h.queries = row * (size_t)h.stride + at;
	h.mixed = row * (size_t)settings.width + at;
	h.weights = ((size_t)sequence * (size_t)settings.heads + (size_t)number) * (size_t)h.length * (size_t)h.length;
	return h;
}

static void attend(const struct block *b, const struct head *h)
{
	const float *q = b->all + h->queries, *k = q + settings.width, *v = k + settings.width;
	float *weights = b->weights + h->weights;

	head_product(0, 1, h->length, h->length, h->width, 1 / sqrtf((float)h->width), q, h->stride, k, h->stride,
		     weights, h->length);
	for (int i = 0; i < h->length; i++)
		softmax(weights + (size_t)i * (size_t)h->length, h->length);
	head_product(0, 0, h->length, h->width, h->length, 1, weights, h->length, v, h->stride, b->mixed + h->mixed,
		     settings.width);
}

/* From the gradient by `mixed` in `d_mixed` to that by queries, keys and values in d_all. */
static void attend_backward(const struct block *b, const struct head *h, const float *d_mixed)
{
	const float *q = b->all + h->queries, *k = q + settings.width, *v = k + settings.width;
	const float *weights = b->weights + h->weights, *dy = d_mixed + h->mixed;
	float *dq = d_all + h->queries, *dk = dq + settings.width, *dv = dk + settings.width;
	float scale = 1 / sqrtf((float)h->width);
	int length = h->length;

	head_product(1, 0, length, h->width, length, 1, weights, length, dy, settings.width, dv, h->stride);
	head_product(0, 1, length, length, h->width, 1, dy, settings.width, v, h->stride, d_weights, length);
	for (int i = 0; i < length; i++) {
		const float *w = weights + (size_t)i * (size_t)length;
		float *dw = d_weights + (size_t)i * (size_t)length, along = 0;

		for (int j = 0; j < length; j++)
			along += w[j] * dw[j];
		for (int j = 0; j < length; j++)
			dw[j] = w[j] * (dw[j] - along);
	}
	head_product(0, 0, length, h->width, length, scale, d_weights, length, k, h->stride, dq, h->stride);
	head_product(1, 0, length, h->width, length, scale, d_weights, length, q, h->stride, dk, h->stride);
}

static void for_heads(void (*visit)(struct block *b, const struct head *h), struct block *b)
{
	for (int sequence = 0; sequence < settings.batch; sequence++) {
		for (int i = 0; i < settings.heads; i++) {
			struct head h = head_of(sequence, i);

			visit(b, &h);
		}
	}
}

static void visit_forward(struct block *b, const struct head *h)
{
	attend(b, h);
}

static void visit_backward(struct block *b, const struct head *h)
{
	attend_backward(b, h, d_row);
}

static void add(float *to, const float *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] += from[i];
}

/* ---- blocks ---- */

static void block_forward(struct block *b, const float *x)
{
	size_t count = row_floats(settings.width);

	tprof_op_begin("attention", "layer");
	normalise(x, b->normal1, b->scale1);
	linear_forward(&b->qkv, rows(), b->normal1, b->all);
	for_heads(visit_forward, b);
	linear_forward(&b->out, rows(), b->mixed, b->middle);
	add(b->middle, x, count);
	tprof_op_end();

	tprof_op_begin("feed-forward", "layer");
	normalise(b->middle, b->normal2, b->scale2);
	linear_forward(&b->up, rows(), b->normal2, b->hidden);
	relu(b->hidden, WIDER * count);
	linear_forward(&b->down, rows(), b->hidden, b->result);
	add(b->result, b->middle, count);
	tprof_op_end();
}

/* dx: the gradient by the result, and then by the block's input. */
static void block_backward(struct block *b, float *dx)
{
	tprof_op_begin("feed-forward backward", "layer");
	linear_backward(&b->down, rows(), b->hidden, dx, d_wide);
	relu_backward(b->hidden, d_wide, WIDER * row_floats(settings.width));
	linear_backward(&b->up, rows(), b->normal2, d_wide, d_normal);
	normalise_backward(b->normal2, b->scale2, d_normal, dx);
	tprof_op_end();

	tprof_op_begin("attention backward", "layer");
	linear_backward(&b->out, rows(), b->mixed, dx, d_row);
	for_heads(visit_backward, b);
	linear_backward(&b->qkv, rows(), b->normal1, d_all, d_normal);
	normalise_backward(b->normal1, b->scale1, d_normal, dx);
	tprof_op_end();
}

static void take_images(const float *images)
{
	for (int i = 0; i < rows(); i++) {
		int image = i / settings.length, row = i % settings.length % SIDE;

		memcpy(tokens + (size_t)i * SIDE, images + (size_t)image * PIXELS + (size_t)row * SIDE,
		       SIDE * sizeof(float));
	}
}

/* The mean over each sequence's rows. */
static void pool(const float *x)
{
	memset(pooled, 0, (size_t)settings.batch * (size_t)settings.width * sizeof(float));
	for (int i = 0; i < rows(); i++)
		for (int j = 0; j < settings.width; j++)
			pooled[(size_t)(i / settings.length) * (size_t)settings.width + (size_t)j] +=
				x[(size_t)i * (size_t)settings.width + (size_t)j] / (float)settings.length;
}

static void forward(const float *images, float *scores)
{
	const float *x = embedded;

	tprof_op_begin("forward", "phase");
	take_images(images);
	linear_forward(&embed, rows(), tokens, embedded);
	for (int i = 0; i < settings.batch; i++)
		add(embedded + (size_t)i * positions->count, positions->value, positions->count);
	for (int i = 0; i < settings.depth; i++) {
		block_forward(&blocks[i], x);
		x = blocks[i].result;
	}
	pool(x);
	linear_forward(&head, settings.batch, pooled, scores);
	tprof_op_end();
}

static void backward(const float *d_scores, float *dx)
{
	tprof_op_begin("backward", "phase");
	linear_backward(&head, settings.batch, pooled, d_scores, pooled); /* its values are not needed any more */
	for (int i = 0; i < rows(); i++)
		for (int j = 0; j < settings.width; j++)
			dx[(size_t)i * (size_t)settings.width + (size_t)j] =
				pooled[(size_t)(i / settings.length) * (size_t)settings.width + (size_t)j] /
				(float)settings.length;
	for (int i = settings.depth - 1; i >= 0; i--)
		block_backward(&blocks[i], dx);
	for (int i = 0; i < settings.batch; i++)
		add(positions->gradient, dx + (size_t)i * positions->count, positions->count);
	linear_backward(&embed, rows(), tokens, dx, NULL);
	tprof_op_end();
}

static float pass(const float *images, const int *labels, float *scores)
{
	float loss;

	forward(images, scores);
	if (!labels)
		return 0;
	loss = softmax_loss(scores, labels, settings.batch);
	backward(scores, embedded); /* so with these */
	return loss;
}

/* ---- the model ---- */

static struct block new_block(void)
{
	int width = settings.width;

	return (struct block){
		.qkv = new_linear(width, 3 * width),
		.out = new_linear(width, width),
		.up = new_linear(width, WIDER * width),
		.down = new_linear(WIDER * width, width),
		.normal1 = floats(row_floats(width)),
		.normal2 = floats(row_floats(width)),
		.scale1 = floats(row_floats(1)),
		.scale2 = floats(row_floats(1)),
		.all = floats(row_floats(3 * width)),
		.weights = floats(row_floats(settings.heads * settings.length)),
		.mixed = floats(row_floats(width)),
		.middle = floats(row_floats(width)),
		.hidden = floats(row_floats(WIDER * width)),
		.result = floats(row_floats(width)),
	};
}

static void free_block(const struct block *b)
{
	float *all[] = { b->normal1, b->normal2, b->scale1, b->scale2, b->all,
			 b->weights, b->mixed,	 b->middle, b->hidden, b->result };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
}

static void count_flop(struct model *model)
{
	const struct linear *dense[] = { &blocks[0].qkv, &blocks[0].out, &blocks[0].up, &blocks[0].down };
	uint64_t depth = (uint64_t)settings.depth, attention;

	/* Scores and weighted sums: 2 products of S x S x d a head on the way forth, 4 on the way back. */
	attention = flop_of_product(settings.length, settings.length, settings.width / settings.heads) *
		    (uint64_t)settings.heads * (uint64_t)settings.batch * depth;
	model->test_flop = flop_forward(&embed, rows()) + flop_forward(&head, settings.batch) + 2 * attention;
	model->step_flop = flop_backward(&embed, rows(), 0) + flop_backward(&head, settings.batch, 1) + 4 * attention;
	for (size_t i = 0; i < sizeof(dense) / sizeof(dense[0]); i++) {
		model->test_flop += depth * flop_forward(dense[i], rows());
		model->step_flop += depth * flop_backward(dense[i], rows(), 1);
	}
	model->step_flop += model->test_flop;
}

static void make_model(void)
{
	int width = settings.width;

	embed = new_linear(SIDE, width);
	positions = new_parameter((size_t)settings.length * (size_t)width, 0.1f, 0);
	for (int i = 0; i < settings.depth; i++)
		blocks[i] = new_block();
	head = new_linear(width, CLASSES);
	tokens = floats(row_floats(SIDE));
	embedded = floats(row_floats(width));
	pooled = floats((size_t)settings.batch * (size_t)width);
	d_wide = floats(row_floats(WIDER * width));
	d_all = floats(row_floats(3 * width));
	d_row = floats(row_floats(width));
	d_normal = floats(row_floats(width));
	d_weights = floats((size_t)settings.length * (size_t)settings.length);
}

int main(int argc, char **argv)
{
	struct model model = { .name = "transformer", .pass = pass };
	int status;

	read_settings(&settings, argc, argv);
	blocks = calloc((size_t)settings.depth, sizeof(*blocks));
	if (!blocks)
		return 1;
	make_model();
	count_flop(&model);
	status = train(&settings, &model);
	for (int i = 0; i < settings.depth; i++)
		free_block(&blocks[i]);
	free(blocks);
	free(tokens);
	free(embedded);
	free(pooled);
	free(d_wide);
	free(d_all);
	free(d_row);
	free(d_normal);
	free(d_weights);
	return status;
}
