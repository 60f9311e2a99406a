// SPDX-License-Identifier: Apache-2.0
/*
 * A trainer in one file, as llm.c is one: two layers with layer normalization, GELU and softmax, forward and backward. Its
 * kernels are static functions that nothing but this file calls; each counts its calls. static_kernels STEPS prints the loss,
 * then a line "FUNCTION CALLS" for each kernel.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define KERNEL static __attribute__((noinline))
#define COUNTED(name)                                                                                                  \
	static long name##_calls;                                                                                      \
	static void name##_print(void)                                                                                 \
	{                                                                                                              \
		printf("%s %ld\n", #name, name##_calls);                                                               \
	}

COUNTED(matmul_forward)
COUNTED(matmul_backward)
COUNTED(layernorm_forward)
COUNTED(gelu_forward)
COUNTED(gelu_backward)
COUNTED(softmax_forward)
COUNTED(crossentropy_forward)
COUNTED(adam_update)
COUNTED(draw_uniform)
COUNTED(sum_squares)

enum { BATCH = 8, IN = 24, HIDDEN = 32, OUT = 10 };

/* A leaf without a frame, which uses few registers: gcc's -fipa-ra keeps its callers' values in the others. */
KERNEL float draw_uniform(unsigned long *state)
{
	draw_uniform_calls++;
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return (float)(*state >> 40) * 0x1p-24f - 0.5f;
}

/* Seven arguments: some on the stack. */
KERNEL void matmul_forward(float *out, const float *in, const float *weight, const float *bias, int rows, int inner,
			   int columns)
{
	matmul_forward_calls++;
	for (int b = 0; b < rows; b++)
		for (int o = 0; o < columns; o++) {
			float sum = bias[o];

			for (int i = 0; i < inner; i++)
				sum += in[b * inner + i] * weight[o * inner + i];
			out[b * columns + o] = sum;
		}
}

KERNEL void matmul_backward(float *din, float *dweight, float *dbias, const float *dout, const float *in,
			    const float *weight, int rows, int inner, int columns)
{
	matmul_backward_calls++;
	for (int b = 0; b < rows; b++)
		for (int o = 0; o < columns; o++) {
			float d = dout[b * columns + o];

			dbias[o] += d;
			for (int i = 0; i < inner; i++) {
				if (din)
					din[b * inner + i] += d * weight[o * inner + i];
				dweight[o * inner + i] += d * in[b * inner + i];
			}
		}
}

KERNEL float sum_squares(const float *x, int n)
{
	float sum = 0;

	sum_squares_calls++;
	for (int i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sum;
}

KERNEL void layernorm_forward(float *out, const float *in, int rows, int n)
{
	layernorm_forward_calls++;
	for (int b = 0; b < rows; b++) {
		float scale = 1.0f / sqrtf(sum_squares(in + b * n, n) / (float)n + 1e-5f);

		for (int i = 0; i < n; i++)
			out[b * n + i] = in[b * n + i] * scale;
	}
}

KERNEL void gelu_forward(float *out, const float *in, int n)
{
	gelu_forward_calls++;
	for (int i = 0; i < n; i++)
		out[i] = 0.5f * in[i] * (1.0f + tanhf(0.797885f * (in[i] + 0.044715f * in[i] * in[i] * in[i])));
}

KERNEL void gelu_backward(float *din, const float *in, const float *dout, int n)
{
	gelu_backward_calls++;
	for (int i = 0; i < n; i++) {
		float x = in[i], t = tanhf(0.797885f * (x + 0.044715f * x * x * x));

		din[i] = dout[i] *
			 (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.797885f * (1.0f + 0.134145f * x * x));
	}
}

KERNEL void softmax_forward(float *probs, const float *logits, int rows, int n)
{
	softmax_forward_calls++;
	for (int b = 0; b < rows; b++) {
		float max = logits[b * n], sum = 0;

		for (int i = 1; i < n; i++)
			max = fmaxf(max, logits[b * n + i]);
		for (int i = 0; i < n; i++)
			sum += probs[b * n + i] = expf(logits[b * n + i] - max);
		for (int i = 0; i < n; i++)
			probs[b * n + i] /= sum;
	}
}

KERNEL double crossentropy_forward(float *dlogits, const float *probs, const int *targets, int rows, int n)
{
	double loss = 0;

	crossentropy_forward_calls++;
	for (int b = 0; b < rows; b++) {
		loss -= log((double)probs[b * n + targets[b]] + 1e-9);
		for (int i = 0; i < n; i++)
			dlogits[b * n + i] = (probs[b * n + i] - (float)(i == targets[b])) / (float)rows;
	}
	return loss / rows;
}

KERNEL void adam_update(float *weight, float *gradient, float *m, float *v, int n, int step)
{
	float c1 = 1.0f - powf(0.9f, (float)step), c2 = 1.0f - powf(0.999f, (float)step);

	adam_update_calls++;
	for (int i = 0; i < n; i++) {
		m[i] = 0.9f * m[i] + 0.1f * gradient[i];
		v[i] = 0.999f * v[i] + 0.001f * gradient[i] * gradient[i];
		weight[i] -= 0.01f * m[i] / c1 / (sqrtf(v[i] / c2) + 1e-8f);
		gradient[i] = 0;
	}
}

struct layer {
	float weight[HIDDEN * HIDDEN], dweight[HIDDEN * HIDDEN], m[HIDDEN * HIDDEN], v[HIDDEN * HIDDEN];
	float bias[HIDDEN], dbias[HIDDEN], mb[HIDDEN], vb[HIDDEN];
};

static struct layer first, second;
static unsigned long state = 42;

static void fill(float *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = draw_uniform(&state) + 0.25f * draw_uniform(&state);
}

static double train_step(int step)
{
	static float in[BATCH * IN], norm[BATCH * IN], hidden[BATCH * HIDDEN], active[BATCH * HIDDEN],
		logits[BATCH * OUT], probs[BATCH * OUT], dlogits[BATCH * OUT], dactive[BATCH * HIDDEN],
		dhidden[BATCH * HIDDEN];
	int targets[BATCH];
	double loss;

	fill(in, BATCH * IN);
	for (int b = 0; b < BATCH; b++) {
		targets[b] = (int)(8 * (draw_uniform(&state) + 0.5f));
		in[b * IN + targets[b]] += 2;
	}
	layernorm_forward(norm, in, BATCH, IN);
	matmul_forward(hidden, norm, first.weight, first.bias, BATCH, IN, HIDDEN);
	gelu_forward(active, hidden, BATCH * HIDDEN);
	matmul_forward(logits, active, second.weight, second.bias, BATCH, HIDDEN, OUT);
	softmax_forward(probs, logits, BATCH, OUT);
	loss = crossentropy_forward(dlogits, probs, targets, BATCH, OUT);
	for (int i = 0; i < BATCH * HIDDEN; i++)
		dactive[i] = 0;
	matmul_backward(dactive, second.dweight, second.dbias, dlogits, active, second.weight, BATCH, HIDDEN, OUT);
	gelu_backward(dhidden, hidden, dactive, BATCH * HIDDEN);
	matmul_backward(NULL, first.dweight, first.dbias, dhidden, norm, first.weight, BATCH, IN, HIDDEN);
	adam_update(first.weight, first.dweight, first.m, first.v, IN * HIDDEN, step);
	adam_update(first.bias, first.dbias, first.mb, first.vb, HIDDEN, step);
	adam_update(second.weight, second.dweight, second.m, second.v, HIDDEN * OUT, step);
	adam_update(second.bias, second.dbias, second.mb, second.vb, OUT, step);
	return loss;
}

int main(int count, char **arguments)
{
	int steps = count > 1 ? atoi(arguments[1]) : 100;
	double loss = 0;

	fill(first.weight, IN * HIDDEN);
	fill(second.weight, HIDDEN * OUT);
	for (int step = 1; step <= steps; step++)
		loss = train_step(step);
	printf("loss %.9g\n", loss);
	matmul_forward_print();
	matmul_backward_print();
	layernorm_forward_print();
	gelu_forward_print();
	gelu_backward_print();
	softmax_forward_print();
	crossentropy_forward_print();
	adam_update_print();
	draw_uniform_print();
	sum_squares_print();
	return 0;
}
