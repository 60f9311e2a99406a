/* SPDX-License-Identifier: Apache-2.0 */
/* mlp [--batch N] [--depth N] [--width N] [--steps N]: a network of `depth` hidden layers learns the digits. */
#include <stdlib.h>

#include <tprof.h>

#include "nn.h"

static struct settings settings = { "tests/workloads/data/digits.csv", 50, 200, 2, 64, 1, 8, 8, 0.002f };
static struct linear *layers; /* depth + 1 */
static float **outputs;	      /* of each layer, batch rows; kept from step to step */
static float *gradients[2];

static void forward(const float *images, float *scores)
{
	const float *x = images;

	tprof_op_begin("forward", "phase");
	for (int i = 0; i <= settings.depth; i++) {
		float *y = i < settings.depth ? outputs[i] : scores;

		linear_forward(&layers[i], settings.batch, x, y);
		if (i < settings.depth)
			relu(y, (size_t)settings.batch * (size_t)settings.width);
		x = y;
	}
	tprof_op_end();
}

static void backward(const float *images, const float *d_scores)
{
	const float *dy = d_scores;

	tprof_op_begin("backward", "phase");
	for (int i = settings.depth; i >= 0; i--) {
		float *dx = i ? gradients[i % 2] : NULL;

		linear_backward(&layers[i], settings.batch, i ? outputs[i - 1] : images, dy, dx);
		if (i)
			relu_backward(outputs[i - 1], dx, (size_t)settings.batch * (size_t)settings.width);
		dy = dx;
	}
	tprof_op_end();
}

static float pass(const float *images, const int *labels, float *scores)
{
	float loss;

	forward(images, scores);
	if (!labels)
		return 0;
	loss = softmax_loss(scores, labels, settings.batch);
	backward(images, scores);
	return loss;
}

int main(int argc, char **argv)
{
	struct model model = { .name = "mlp", .pass = pass };
	size_t hidden;
	int status;

	read_settings(&settings, argc, argv);
	hidden = (size_t)settings.batch * (size_t)settings.width;
	layers = calloc((size_t)settings.depth + 1, sizeof(*layers));
	outputs = calloc((size_t)settings.depth, sizeof(*outputs));
	if (!layers || !outputs)
		return 1;
	for (int i = 0; i <= settings.depth; i++) {
		layers[i] = new_linear(i ? settings.width : PIXELS, i < settings.depth ? settings.width : CLASSES);
		if (i < settings.depth)
			outputs[i] = floats(hidden);
		model.test_flop += flop_forward(&layers[i], settings.batch);
		model.step_flop += flop_backward(&layers[i], settings.batch, i > 0);
	}
	model.step_flop += model.test_flop;
	gradients[0] = floats(hidden);
	gradients[1] = floats(hidden);
	status = train(&settings, &model);
	for (int i = 0; i < settings.depth; i++)
		free(outputs[i]);
	free(outputs);
	free(layers);
	free(gradients[0]);
	free(gradients[1]);
	return status;
}
