/* SPDX-License-Identifier: Apache-2.0 */
#include "nn.h"

#include <cblas.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tprof.h>

static struct parameter *parameters;
static int updates;

/* ---- arguments ---- */

static int number(const char *program, const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < 1 || value > 1 << 20) {
		fprintf(stderr, "%s: %s: a number from 1 on is wanted\n", program, text);
		exit(2);
	}
	return (int)value;
}

void read_settings(struct settings *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "data", 1, NULL, 'd' },  { "batch", 1, NULL, 'b' },  { "steps", 1, NULL, 's' },
		{ "depth", 1, NULL, 'l' }, { "width", 1, NULL, 'w' },  { "heads", 1, NULL, 'h' },
		{ "side", 1, NULL, 'i' },  { "length", 1, NULL, 't' }, { "rate", 1, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	int *numbers[256] = { ['b'] = &s->batch, ['s'] = &s->steps, ['l'] = &s->depth, ['w'] = &s->width,
			      ['h'] = &s->heads, ['i'] = &s->side,  ['t'] = &s->length };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == '?')
			exit(2);
		else if (option == 'd')
			s->data = optarg;
		else if (option == 'r')
			s->rate = strtof(optarg, NULL);
		else
			*numbers[option] = number(argv[0], optarg);
	}
	if (s->side % SIDE != 0 || s->width % s->heads != 0) {
		fprintf(stderr, "%s: --side must be a multiple of %d, --width one of --heads\n", argv[0], SIDE);
		exit(2);
	}
}

float *floats(size_t count)
{
	float *p = calloc(count, sizeof(float));

	if (!p) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return p;
}

float random_float(void)
{
	static uint32_t state = 1;

	state = state * 1664525u + 1013904223u;
	return (float)(state >> 8) / (float)(1 << 23) - 1.0f;
}

/* ---- parameters ---- */

struct parameter *new_parameter(size_t count, float scale, int constant)
{
	struct parameter *p = calloc(1, sizeof(*p));

	if (!p)
		exit(1);
	*p = (struct parameter){ floats(count), floats(count), floats(count), floats(count), count, parameters };
	for (size_t i = 0; i < count; i++)
		p->value[i] = constant ? scale : scale * random_float();
	parameters = p;
	return p;
}

uint64_t parameter_count(void)
{
	uint64_t count = 0;

	for (const struct parameter *p = parameters; p; p = p->next)
		count += p->count;
	return count;
}

void update_parameters(float rate)
{
	const float b1 = 0.9f, b2 = 0.999f;
	float c1, c2;

	updates++;
	c1 = 1 - powf(b1, (float)updates);
	c2 = 1 - powf(b2, (float)updates);
	for (const struct parameter *p = parameters; p; p = p->next) {
		for (size_t i = 0; i < p->count; i++) {
			float g = p->gradient[i];

			p->mean[i] = b1 * p->mean[i] + (1 - b1) * g;
			p->square[i] = b2 * p->square[i] + (1 - b2) * g * g;
			p->value[i] -= rate * (p->mean[i] / c1) / (sqrtf(p->square[i] / c2) + 1e-8f);
			p->gradient[i] = 0;
		}
	}
}

void free_parameters(void)
{
	while (parameters) {
		struct parameter *p = parameters;

		parameters = p->next;
		free(p->value);
		free(p->gradient);
		free(p->mean);
		free(p->square);
		free(p);
	}
}

/* ---- layers ---- */

void product(int a_t, int b_t, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
	     float beta, float *c, int ldc)
{
	cblas_sgemm(CblasRowMajor, a_t ? CblasTrans : CblasNoTrans, b_t ? CblasTrans : CblasNoTrans, m, n, k, alpha, a,
		    lda, b, ldb, beta, c, ldc);
}

uint64_t flop_of_product(int m, int n, int k)
{
	return 2 * (uint64_t)m * (uint64_t)n * (uint64_t)k;
}

struct linear new_linear(int in, int out)
{
	return (struct linear){ in, out, new_parameter((size_t)in * (size_t)out, sqrtf(3.0f / (float)in), 0),
				new_parameter((size_t)out, 0, 1) };
}

void linear_forward(const struct linear *l, int rows, const float *x, float *y)
{
	for (int i = 0; i < rows; i++)
		memcpy(y + (size_t)i * (size_t)l->out, l->bias->value, (size_t)l->out * sizeof(float));
	product(0, 1, rows, l->out, l->in, 1, x, l->in, l->weights->value, l->in, 1, y, l->out);
}

void linear_backward(const struct linear *l, int rows, const float *x, const float *dy, float *dx)
{
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < l->out; j++)
			l->bias->gradient[j] += dy[(size_t)i * (size_t)l->out + (size_t)j];
	product(1, 0, l->out, l->in, rows, 1, dy, l->out, x, l->in, 1, l->weights->gradient, l->in);
	if (dx)
		product(0, 0, rows, l->in, l->out, 1, dy, l->out, l->weights->value, l->in, 0, dx, l->in);
}

uint64_t flop_forward(const struct linear *l, int rows)
{
	return flop_of_product(rows, l->out, l->in);
}

uint64_t flop_backward(const struct linear *l, int rows, int inner)
{
	return (inner ? 2 : 1) * flop_of_product(rows, l->out, l->in);
}

void relu(float *x, size_t count)
{
	for (size_t i = 0; i < count; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
}

void relu_backward(const float *y, float *dy, size_t count)
{
	for (size_t i = 0; i < count; i++)
		dy[i] = y[i] > 0 ? dy[i] : 0;
}

float softmax_loss(float *scores, const int *labels, int rows)
{
	float loss = 0;

	for (int i = 0; i < rows; i++) {
		float *s = scores + (size_t)i * CLASSES, top = s[0], sum = 0;

		for (int c = 1; c < CLASSES; c++)
			top = fmaxf(top, s[c]);
		for (int c = 0; c < CLASSES; c++)
			sum += s[c] = expf(s[c] - top);
		loss -= logf(s[labels[i]] / sum + 1e-12f);
		for (int c = 0; c < CLASSES; c++)
			s[c] = (s[c] / sum - (float)(c == labels[i])) / (float)rows;
	}
	return loss / (float)rows;
}

/* ---- training ---- */

/* `count` images from number `first` on, of a part of the set that is gone through again and again. */
static void gather(const struct digits *d, int from, int of, size_t first, int count, float *images, int *labels)
{
	for (int i = 0; i < count; i++) {
		size_t at = (size_t)from + (first + (size_t)i) % (size_t)of;

		memcpy(images + (size_t)i * PIXELS, d->pixels + at * PIXELS, PIXELS * sizeof(float));
		labels[i] = d->labels[at];
	}
}

static double share_right(const float *scores, const int *labels, int rows)
{
	int right = 0;

	for (int i = 0; i < rows; i++) {
		int best = 0;

		for (int c = 1; c < CLASSES; c++)
			best = scores[(size_t)i * CLASSES + (size_t)c] > scores[(size_t)i * CLASSES + (size_t)best]
				       ? c
				       : best;
		right += best == labels[i];
	}
	return (double)right / rows;
}

int train(const struct settings *s, const struct model *model)
{
	struct digits d = load_digits(s->data);
	float *images = floats((size_t)s->batch * PIXELS), *scores = floats((size_t)s->batch * CLASSES);
	int *labels = calloc((size_t)s->batch, sizeof(int));
	float first = 0, loss = 0;

	if (!labels)
		return 1;
	tprof_value("parameters", parameter_count());
	for (int step = 0; step < s->steps; step++) {
		gather(&d, 0, TRAINED, (size_t)step * (size_t)s->batch, s->batch, images, labels);
		loss = model->pass(images, labels, scores);
		first = step ? first : loss;
		tprof_op_begin("optimizer", "phase");
		update_parameters(s->rate);
		tprof_op_end();
		tprof_step((uint64_t)s->batch);
	}
	gather(&d, TRAINED, IMAGES - TRAINED, 0, s->batch, images, labels);
	model->pass(images, NULL, scores);
	printf("%s: %d steps, loss %.3f to %.3f, accuracy %.3f, %" PRIu64 " parameters, %" PRIu64 " flop\n",
	       model->name, s->steps, (double)first, (double)loss, share_right(scores, labels, s->batch),
	       parameter_count(), (uint64_t)s->steps * model->step_flop + model->test_flop);
	free(images);
	free(scores);
	free(labels);
	free(d.pixels);
	free(d.labels);
	free_parameters();
	return 0;
}
