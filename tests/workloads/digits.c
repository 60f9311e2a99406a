/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits [FILE [EPOCHS]]: trains a network of two layers (64 inputs, 64 hidden, 10 classes) on the UCI handwritten digits
 * by stochastic gradient descent on OpenBLAS. The demo's program: it really learns, and at every step it leaks a little
 * on purpose, in remember_loss().
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digit_set.h"

enum { HIDDEN = 64, BATCH = 50 };

struct layer {
	int in, out;
	float *weights; /* out x in */
	float *bias;
};

/* What one batch needs on its way forth and back. */
struct pass {
	float *hidden, *scores;		/* BATCH x HIDDEN, BATCH x CLASSES */
	float *d_hidden, *d_scores;	/* the loss's gradient by them */
	float *d_weights1, *d_weights2; /* and by the weights */
};

/* Of each step; never read again, and never freed: the leak. */
static struct loss_note {
	struct loss_note *next;
	int step;
	float loss;
	char comment[84];
} * loss_notes;

static void *checked(void *p)
{
	if (!p) {
		fprintf(stderr, "digits: out of memory\n");
		exit(1);
	}
	return p;
}

/* A macro, so that a report names the line that wanted the memory. */
#define FLOATS(rows, columns) checked(calloc((size_t)(rows) * (size_t)(columns), sizeof(float)))

static float random_float(void)
{
	static unsigned int state = 1;

	state = state * 1664525u + 1013904223u;
	return (float)(state >> 8) / (float)(1 << 24) - 0.5f;
}

static struct layer make_layer(int in, int out)
{
	struct layer l = { in, out, FLOATS(out, in), FLOATS(out, 1) };

	for (int i = 0; i < in * out; i++)
		l.weights[i] = random_float() * 2.0f / sqrtf((float)in);
	return l;
}

/* y = x * weights' + bias, `rows` rows at once. */
static void layer_forward(const struct layer *l, int rows, const float *x, float *y)
{
	for (int i = 0; i < rows; i++)
		memcpy(y + i * l->out, l->bias, (size_t)l->out * sizeof(float));
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, l->out, l->in, 1.0f, x, l->in, l->weights, l->in,
		    1.0f, y, l->out);
}

static void relu(float *x, int count)
{
	for (int i = 0; i < count; i++)
		if (x[i] < 0)
			x[i] = 0;
}

static struct pass make_pass(void)
{
	struct pass p = {
		.hidden = FLOATS(BATCH, HIDDEN),
		.scores = FLOATS(BATCH, CLASSES),
		.d_hidden = FLOATS(BATCH, HIDDEN),
		.d_scores = FLOATS(BATCH, CLASSES),
		.d_weights1 = FLOATS(HIDDEN, PIXELS),
		.d_weights2 = FLOATS(CLASSES, HIDDEN),
	};

	return p;
}

static void free_pass(struct pass *p)
{
	free(p->hidden);
	free(p->scores);
	free(p->d_hidden);
	free(p->d_scores);
	free(p->d_weights1);
	free(p->d_weights2);
}

/* Softmax and cross entropy: turns scores into their gradient, returns the mean loss. */
static float softmax_loss(const float *scores, const int *labels, float *gradient)
{
	float loss = 0;

	for (int i = 0; i < BATCH; i++) {
		const float *s = scores + i * CLASSES;
		float *g = gradient + i * CLASSES;
		float top = s[0], sum = 0;

		for (int c = 1; c < CLASSES; c++)
			top = fmaxf(top, s[c]);
		for (int c = 0; c < CLASSES; c++)
			sum += g[c] = expf(s[c] - top);
		cblas_sscal(CLASSES, 1.0f / sum, g, 1);
		loss -= logf(g[labels[i]] + 1e-12f);
		g[labels[i]] -= 1.0f;
	}
	cblas_sscal(BATCH * CLASSES, 1.0f / BATCH, gradient, 1);
	return loss / BATCH;
}

/* weights -= rate * gradient; the bias's gradient is the sum over the batch's rows, a product with ones. */
static void layer_update(struct layer *l, const float *d_weights, const float *d_out, float rate)
{
	float ones[BATCH];

	for (int i = 0; i < BATCH; i++)
		ones[i] = 1.0f;
	cblas_saxpy(l->in * l->out, -rate, d_weights, 1, l->weights, 1);
	cblas_sgemv(CblasRowMajor, CblasTrans, BATCH, l->out, -rate, d_out, l->out, ones, 1, 1.0f, l->bias, 1);
}

static float train_step(struct layer *first, struct layer *second, const float *x, const int *labels, float rate)
{
	struct pass p = make_pass();
	float loss;

	layer_forward(first, BATCH, x, p.hidden);
	relu(p.hidden, BATCH * HIDDEN);
	layer_forward(second, BATCH, p.hidden, p.scores);
	loss = softmax_loss(p.scores, labels, p.d_scores);

	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, CLASSES, HIDDEN, BATCH, 1.0f, p.d_scores, CLASSES,
		    p.hidden, HIDDEN, 0.0f, p.d_weights2, HIDDEN);
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, BATCH, HIDDEN, CLASSES, 1.0f, p.d_scores, CLASSES,
		    second->weights, HIDDEN, 0.0f, p.d_hidden, HIDDEN);
	for (int i = 0; i < BATCH * HIDDEN; i++)
		if (p.hidden[i] <= 0)
			p.d_hidden[i] = 0;
	cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, HIDDEN, PIXELS, BATCH, 1.0f, p.d_hidden, HIDDEN, x, PIXELS,
		    0.0f, p.d_weights1, PIXELS);
	layer_update(second, p.d_weights2, p.d_scores, rate);
	layer_update(first, p.d_weights1, p.d_hidden, rate);
	free_pass(&p);
	return loss;
}

static void remember_loss(int step, float loss)
{
	struct loss_note *note = checked(malloc(sizeof(*note)));

	note->next = loss_notes;
	note->step = step;
	note->loss = loss;
	snprintf(note->comment, sizeof(note->comment), "step %d: loss %.4f", step, (double)loss);
	loss_notes = note;
}

static float train(struct layer *first, struct layer *second, const struct digits *d, int epochs)
{
	float loss = 0;
	int step = 0;

	for (int epoch = 0; epoch < epochs; epoch++) {
		for (int i = 0; i < TRAINED; i += BATCH) {
			loss = train_step(first, second, d->pixels + i * PIXELS, d->labels + i, 0.5f);
			remember_loss(step++, loss);
		}
	}
	return loss_notes ? loss : 0;
}

/* The share of right answers among images that training never saw. */
static double test(const struct layer *first, const struct layer *second, const struct digits *d)
{
	float *hidden = FLOATS(IMAGES - TRAINED, HIDDEN), *scores = FLOATS(IMAGES - TRAINED, CLASSES);
	int right = 0;

	layer_forward(first, IMAGES - TRAINED, d->pixels + TRAINED * PIXELS, hidden);
	relu(hidden, (IMAGES - TRAINED) * HIDDEN);
	layer_forward(second, IMAGES - TRAINED, hidden, scores);
	for (int i = 0; i < IMAGES - TRAINED; i++) {
		const float *s = scores + i * CLASSES;
		int best = 0;

		for (int c = 1; c < CLASSES; c++)
			best = s[c] > s[best] ? c : best;
		right += best == d->labels[TRAINED + i];
	}
	free(scores);
	free(hidden);
	return (double)right / (IMAGES - TRAINED);
}

int main(int argc, char **argv)
{
	struct digits d = load_digits(argc > 1 ? argv[1] : "tests/workloads/data/digits.csv");
	int epochs = argc > 2 ? atoi(argv[2]) : 100;
	struct layer first = make_layer(PIXELS, HIDDEN), second = make_layer(HIDDEN, CLASSES);
	float loss = train(&first, &second, &d, epochs);

	printf("digits: %d steps, loss %.4f, accuracy %.3f\n", epochs * TRAINED / BATCH, (double)loss,
	       test(&first, &second, &d));
	free(first.weights);
	free(first.bias);
	free(second.weights);
	free(second.bias);
	free(d.pixels);
	free(d.labels);
	return 0;
}
