/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnn [--batch N] [--depth N] [--width N] [--side N] [--steps N]: `depth` convolutions of 3 x 3 with `width` channels and
 * a dense layer learn the digits, as images of side x side. Convolution is a product with the image's patches (im2col:
 * Chellapilla, Puri and Simard 2006). An image is side x side x channels.
 */
#include <stdlib.h>
#include <string.h>

#include <tprof.h>

#include "nn.h"

enum { TAPS = 9 };

static struct settings settings = { "tests/workloads/data/digits.csv", 32, 100, 2, 8, 1, 8, 8, 0.002f };
static struct linear *convolutions, dense;
static float **outputs; /* of each convolution */
static float *input, *patches, *gradients[2];

static int pixels(void)
{
	return settings.batch * settings.side * settings.side;
}

static int channels_into(int layer)
{
	return layer ? settings.width : 1;
}

/* Moves between an image and its patches: a row of TAPS x channels for each pixel. */
static void for_patches(float *image, float *rows, int channels, void (*move)(float *at, float *patch, int channels))
{
	int side = settings.side;

	for (int at = 0; at < pixels(); at++) {
		int y = at / side % side, x = at % side;

		for (int tap = 0; tap < TAPS; tap++) {
			int dy = tap / 3 - 1, dx = tap % 3 - 1;
			int inside = y + dy >= 0 && y + dy < side && x + dx >= 0 && x + dx < side;
			long from = at + dy * side + dx;

			move(inside ? image + from * channels : NULL, rows + ((long)at * TAPS + tap) * channels,
			     channels);
		}
	}
}

static void gather(float *at, float *patch, int channels)
{
	if (at)
		memcpy(patch, at, (size_t)channels * sizeof(float));
	else
		memset(patch, 0, (size_t)channels * sizeof(float));
}

static void scatter(float *at, float *patch, int channels)
{
	for (int c = 0; at && c < channels; c++)
		at[c] += patch[c];
}

static void forward(float *scores)
{
	float *x = input;

	tprof_op_begin("forward", "phase");
	for (int i = 0; i < settings.depth; i++) {
		tprof_op_begin("convolution", "layer");
		for_patches(x, patches, channels_into(i), gather);
		linear_forward(&convolutions[i], pixels(), patches, outputs[i]);
		relu(outputs[i], (size_t)pixels() * (size_t)settings.width);
		tprof_op_end();
		x = outputs[i];
	}
	linear_forward(&dense, settings.batch, x, scores);
	tprof_op_end();
}

static void backward(const float *d_scores)
{
	size_t count = (size_t)pixels() * (size_t)settings.width;
	float *dy = gradients[0], *dx = gradients[1];

	tprof_op_begin("backward", "phase");
	linear_backward(&dense, settings.batch, outputs[settings.depth - 1], d_scores, dy);
	for (int i = settings.depth - 1; i >= 0; i--) {
		float *swap = dy;

		tprof_op_begin("convolution backward", "layer");
		relu_backward(outputs[i], dy, count);
		for_patches(i ? outputs[i - 1] : input, patches, channels_into(i), gather);
		linear_backward(&convolutions[i], pixels(), patches, dy, NULL);
		if (i) {
			/* The patches' gradient, as linear_backward() would give it, in their own place. */
			product(0, 0, pixels(), convolutions[i].in, settings.width, 1, dy, settings.width,
				convolutions[i].weights->value, convolutions[i].in, 0, patches, convolutions[i].in);
			memset(dx, 0, count * sizeof(float));
			for_patches(dx, patches, settings.width, scatter);
		}
		tprof_op_end();
		dy = dx;
		dx = swap;
	}
	tprof_op_end();
}

/* The image, larger. */
static void take_images(const float *images)
{
	int side = settings.side, scale = side / SIDE;

	for (int at = 0; at < pixels(); at++) {
		int y = at / side % side, x = at % side;

		input[at] = images[at / (side * side) * PIXELS + y / scale * SIDE + x / scale];
	}
}

static float pass(const float *images, const int *labels, float *scores)
{
	float loss;

	take_images(images);
	forward(scores);
	if (!labels)
		return 0;
	loss = softmax_loss(scores, labels, settings.batch);
	backward(scores);
	return loss;
}

static void make_model(struct model *model)
{
	size_t count = (size_t)pixels() * (size_t)settings.width;

	for (int i = 0; i < settings.depth; i++) {
		convolutions[i] = new_linear(TAPS * channels_into(i), settings.width);
		outputs[i] = floats(count);
		model->test_flop += flop_forward(&convolutions[i], pixels());
		model->step_flop += flop_backward(&convolutions[i], pixels(), i > 0);
	}
	dense = new_linear(settings.side * settings.side * settings.width, CLASSES);
	model->test_flop += flop_forward(&dense, settings.batch);
	model->step_flop += flop_backward(&dense, settings.batch, 1) + model->test_flop;
	input = floats((size_t)pixels());
	patches = floats(count * TAPS);
	gradients[0] = floats(count);
	gradients[1] = floats(count);
}

int main(int argc, char **argv)
{
	struct model model = { .name = "cnn", .pass = pass };
	int status;

	read_settings(&settings, argc, argv);
	convolutions = calloc((size_t)settings.depth, sizeof(*convolutions));
	outputs = calloc((size_t)settings.depth, sizeof(*outputs));
	if (!convolutions || !outputs)
		return 1;
	make_model(&model);
	status = train(&settings, &model);
	for (int i = 0; i < settings.depth; i++)
		free(outputs[i]);
	free(outputs);
	free(convolutions);
	free(input);
	free(patches);
	free(gradients[0]);
	free(gradients[1]);
	return status;
}
